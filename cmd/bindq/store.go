package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"bindc/internal/diag"
	"bindc/internal/replace"
	"bindc/ship"
)

// errStale says that status has found something older than it may be.
var errStale = errors.New("stale")

func activateCommand() *cobra.Command {
	var store storeFlag
	var g gates
	cmd := &cobra.Command{
		Use:   "activate NAME DIGEST|REVISION",
		Short: "Have a snapshot of the store answer",
		Long: "activate switches NAME to a snapshot that the store has, if it passes the checks\n" +
			"of pull, and ends what a rollback began. It needs no network.\n\n" +
			"Exit status: 0 it answers, 1 it is refused, 2 an error.",
		Example: "  bindq activate production 3f1c0ab94e52",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			checks, err := g.checks()
			if err != nil {
				return err
			}
			s, err := store.change(args[0])
			if err != nil {
				return err
			}
			s.Checks, s.SignedAs = checks, g.signedAs
			d, err := s.Store.Find(args[0], args[1])
			if err == nil {
				err = s.Activate(d)
			}
			if err != nil {
				return &elsewhere{err}
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s answers now\n", args[0], d.Short())
			return nil
		},
	}
	store.add(cmd)
	g.add(cmd)
	return cmd
}

func (s *storeFlag) change(name string) (*ship.Switch, error) {
	if err := ship.CheckName(name); err != nil {
		return nil, err
	}
	st, err := s.find()
	return &ship.Switch{Store: st, Name: name, Checks: ship.Checks{Inspect: inspect}, By: byWhom(), Now: time.Now}, err
}

func rollbackCommand() *cobra.Command {
	var store storeFlag
	var to string
	cmd := &cobra.Command{
		Use:   "rollback NAME",
		Short: "Go back to the snapshot that answered before",
		Long: "rollback switches NAME back to the last snapshot that answered for more than a\n" +
			"minute; another rollback goes further back. NAME stays there: what follow\n" +
			"finds is stored and does not answer until 'bindq follow --resume NAME', or\n" +
			"'bindq activate'. It needs no network, and asks no gates.\n\n" +
			"Exit status: 0 it answers, 1 it is refused, 2 an error.",
		Example: "  bindq rollback production",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := store.change(args[0])
			if err != nil {
				return err
			}
			var d ship.Digest
			if to != "" {
				if d, err = s.Store.Find(args[0], to); err != nil {
					return err
				}
			}
			if d, err = s.Back(d); err != nil {
				return &elsewhere{err}
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s answers again, until 'bindq follow --resume %s'\n", args[0],
				d.Short(), args[0])
			return nil
		},
	}
	store.add(cmd)
	cmd.Flags().StringVar(&to, "to", "", "`DIGEST` or revision to go back to")
	return cmd
}

func gcCommand() *cobra.Command {
	var store storeFlag
	var keep int
	var younger time.Duration
	var dry bool
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Remove snapshots that nobody needs any more",
		Long: "gc removes from the store what no name leads to, what is not among the last\n" +
			"that answered for one, and what has been there for long. Programs that have\n" +
			"a removed file open keep it.\n\nExit status: 0, or 2 an error.",
		Example: "  bindq gc --keep 5 --younger 168h",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, err := store.find()
			if err != nil {
				return err
			}
			gone, err := st.Collect(ship.Keep{Last: keep, Younger: younger}, time.Now(), dry)
			for _, d := range gone {
				fmt.Fprintln(cmd.OutOrStdout(), d)
			}
			return err
		},
	}
	store.add(cmd)
	cmd.Flags().IntVar(&keep, "keep", 5, "`N` snapshots that answered last, per name, stay")
	cmd.Flags().DurationVar(&younger, "younger", 7*24*time.Hour, "what is in the store for less `TIME` stays")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be removed")
	return cmd
}

func statusCommand() *cobra.Command {
	var store storeFlag
	var asJSON bool
	var maxAge time.Duration
	var textfile string
	var history bool
	cmd := &cobra.Command{
		Use:   "status [NAME]",
		Short: "Say what answers, since when, and what failed",
		Long: "status says how each name of the store stands. The age of a name is the time\n" +
			"since its source was last seen to have what answers, or something newer that\n" +
			"is held back.\n\nExit status: 0, 1 something does not answer, or is older than --max-age,\n" +
			"2 an error.",
		Example: "  bindq status --max-age 1h",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := store.find()
			if err != nil {
				return err
			}
			names := args
			if len(names) == 0 {
				if names, err = st.Names(); err != nil {
					return err
				}
			}
			all, err := statuses(st, names)
			if err != nil {
				return err
			}
			if history {
				return printHistory(cmd.OutOrStdout(), st, names)
			}
			if textfile != "" {
				if err := writeTextfile(textfile, all); err != nil {
					return err
				}
			}
			if err := printStatus(cmd.OutOrStdout(), all, asJSON); err != nil {
				return err
			}
			if len(all) == 0 {
				return errStale
			}
			for _, s := range all {
				if s.Active == "" || maxAge > 0 && (s.Age < 0 || time.Duration(s.Age)*time.Second > maxAge) {
					return errStale
				}
			}
			return nil
		},
	}
	store.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	cmd.Flags().DurationVar(&maxAge, "max-age", 0,
		"`TIME` after which a name whose source was not seen is stale, as 1h")
	cmd.Flags().BoolVar(&history, "history", false, "print what happened to each name, oldest first")
	cmd.Flags().StringVar(&textfile, "textfile", "",
		"write metrics to `FILE`, for the textfile collector of Prometheus")
	return cmd
}

func statuses(st *ship.Store, names []string) (all []ship.Status, err error) {
	for _, name := range names {
		if err := ship.CheckName(name); err != nil {
			return nil, err
		}
		s, err := st.Status(name, time.Now())
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func writeTextfile(path string, all []ship.Status) error {
	return replace.File(path, replace.Options{Limit: 0o644}, func(f *os.File) error {
		return ship.WriteMetrics(f,
			all)
	})
}

func printStatus(w io.Writer, all []ship.Status, asJSON bool) error {
	if asJSON {
		if all == nil {
			all = []ship.Status{}
		}
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(all)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, s := range all {
		if i > 0 {
			fmt.Fprintln(t)
		}
		fmt.Fprintf(t, "%s\t%s\n", diag.Visible(s.Name), answers(s))
		fmt.Fprintf(t, "  source\t%s\n", orNone(diag.Visible(s.Source)))
		for _, step := range []struct {
			name string
			ship.Step
		}{{"checked", s.Checked}, {"downloaded", s.Downloaded}, {"activated", s.Activated}} {
			fmt.Fprintf(t, "  %s\t%s\n", step.name, stepText(step.Step))
		}
		if s.Pinned {
			fmt.Fprintf(t, "  pinned\tafter a rollback, until 'bindq follow --resume %s'\n", s.Name)
		}
	}
	return t.Flush()
}

func printHistory(w io.Writer, st *ship.Store, names []string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, name := range names {
		if err := ship.CheckName(name); err != nil {
			return err
		}
		all, err := st.History(name)
		if err != nil {
			return err
		}
		for _, e := range all {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", timeText(e.Time), diag.Visible(name), diag.Visible(e.Action),
				e.Digest.Short(), diag.Visible(e.Revision), diag.Visible(e.By), diag.Visible(e.Result))
		}
	}
	return t.Flush()
}

func answers(s ship.Status) string {
	if s.Active == "" {
		return "nothing answers"
	}
	text := s.Active.Short()
	if s.Revision != "" {
		text += ", revision " + diag.Visible(s.Revision)
	}
	return text + ", since " + orNone(timeText(s.Since))
}

func stepText(s ship.Step) string {
	text := orNone(timeText(s.OK))
	if s.Error != "" {
		text += ", failed " + timeText(s.At) + ": " + diag.Visible(s.Error)
	}
	return text
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

func orNone(text string) string {
	if text == "" {
		return "never"
	}
	return text
}
