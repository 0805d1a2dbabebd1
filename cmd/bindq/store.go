package main

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/fsx"
	"bindc/ship"
	"bindc/snapshot"
)

// errStale makes status exit with 1 after it has printed what failed.
var errStale = errors.New("stale")

func activateCommand() *cobra.Command {
	var store storeFlag
	var g gates
	var isNew bool
	cmd := &cobra.Command{
		Use:   "activate NAME DIGEST|REVISION",
		Short: "Activate a snapshot of the store",
		Long: "activate switches NAME to a snapshot in the store, if it passes the checks of\n" +
			"pull. If the source had another snapshot when it was last polled, NAME is\n" +
			"pinned until 'bindq follow --resume NAME', as after a rollback; otherwise\n" +
			"activate ends a pin. The configuration of follow has the signers and gates for\n" +
			"NAME; flags override them. activate needs no network. It refuses a NAME that is\n" +
			"new but similar to a name in the store; --new allows it.\n\n" +
			"Exit status: 0 activated, 1 the snapshot is refused, 2 an error.",
		Example: "  bindq activate production 3f1c0ab94e52",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, p, err := store.change(args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if near := misspelt(s.Store, p, args[0]); near != "" && !isNew {
				return &elsewhere{fmt.Errorf("nothing has answered for '%s'; %s --new makes another name", args[0], near)}
			}
			g.obey(p.of(args[0]), cmd.Flags())
			checks, err := g.checks()
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
			until := ""
			if s.Pinned {
				until = "; its source has another, so the name is pinned until 'bindq follow --resume " + args[0] + "'"
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s answers now%s\n", args[0], d.Short(), until)
			return nil
		},
	}
	store.add(cmd)
	g.add(cmd)
	cmd.Flags().BoolVar(&isNew, "new", false, "create NAME although the store has a similar name")
	return cmd
}

// misspelt returns a suggestion if neither the store nor the configuration has name, but the store has a similar one.
func misspelt(st *ship.Store, p *policy, name string) string {
	names, _ := st.Names() // if they cannot be listed, there is no suggestion
	if _, followed := p.names[name]; followed || slices.Contains(names, name) {
		return ""
	}
	return diag.DidYouMean(name, names)
}

func (s *storeFlag) change(name string, errs io.Writer) (*ship.Switch, *policy, error) {
	if err := ship.CheckName(name); err != nil {
		return nil, nil, err
	}
	st, p, err := s.find(errs)
	change := &ship.Switch{Store: st, Name: name, Checks: ship.Checks{Inspect: inspect}, By: byWhom(), Now: time.Now}
	return change, p, err
}

func rollbackCommand() *cobra.Command {
	var store storeFlag
	var to string
	cmd := &cobra.Command{
		Use:   "rollback NAME",
		Short: "Go back to an earlier snapshot and pin it",
		Long: "rollback switches NAME back to the last snapshot that was active for more than a\n" +
			"minute; another rollback goes further back. It pins NAME: follow stores new\n" +
			"releases but does not activate them until 'bindq follow --resume NAME', or\n" +
			"'bindq activate' of the snapshot in the source. It needs no network and runs no\n" +
			"gates.\n\n" +
			"Exit status: 0 switched, 1 the snapshot is refused, 2 an error.",
		Example: "  bindq rollback production",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, _, err := store.change(args[0], cmd.ErrOrStderr())
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

func resetCommand() *cobra.Command {
	var store storeFlag
	cmd := &cobra.Command{
		Use:   "reset NAME",
		Short: "Forget a release that was signed in the future",
		Long: "A release that was signed before one that has been active is refused. After a\n" +
			"release signed by a clock that was ahead, every later release would be refused.\n" +
			"reset makes NAME forget signing times in the future: a release now has to be as\n" +
			"new as the latest one signed in the past. This is rarely needed, because pull\n" +
			"and follow refuse a release that is signed more than 5 minutes ahead.\n\n" +
			"Exit status: 0, or 2 an error.",
		Example: "  bindq reset production",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, _, err := store.change(args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			newest, err := s.Reset()
			if err != nil {
				return &elsewhere{err}
			}
			than := "at any time"
			if !newest.IsZero() {
				than = "at " + newest.UTC().Format(time.RFC3339) + " or later"
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: accepts releases that were signed %s\n", args[0], than)
			return nil
		},
	}
	store.add(cmd)
	return cmd
}

// Defaults of gc.
const (
	defaultKeep    = 5
	defaultYounger = 7 * 24 * time.Hour
)

func gcCommand() *cobra.Command {
	var store storeFlag
	var keep int
	var younger time.Duration
	var dry bool
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Remove snapshots that no name needs any more",
		Long: "gc removes old snapshots from the store. It keeps the active snapshot of each\n" +
			"name, the last ones that were active before (--keep), and new ones (--younger).\n" +
			"Programs that have a removed file open can still read it.\n\n" +
			"Exit status: 0, or 2 an error.",
		Example: "  bindq gc --keep 5 --younger 168h",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, p, err := store.find(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("keep") {
				p.keep.Last = keep
			}
			if cmd.Flags().Changed("younger") {
				p.keep.Younger = younger
			}
			gone, err := st.Collect(p.keep, time.Now(), dry)
			for _, d := range gone {
				fmt.Fprintln(cmd.OutOrStdout(), d)
			}
			return err
		},
	}
	store.add(cmd)
	cmd.Flags().IntVar(&keep, "keep", defaultKeep, "keep the last `N` active snapshots of each name")
	cmd.Flags().DurationVar(&younger, "younger", defaultYounger, "keep snapshots in the store for less than `TIME`")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only print what would be removed")
	return cmd
}

func statusCommand() *cobra.Command {
	var store storeFlag
	var asJSON bool
	var maxAge time.Duration
	var textfile string
	var history, whole bool
	cmd := &cobra.Command{
		Use:   "status [NAME]",
		Short: "Print the active snapshots and what failed",
		Long: "status prints the state of each name in the store. The age of a name is the time\n" +
			"since the last good poll: the source had the active snapshot, or a newer one\n" +
			"that a pin holds back. A failure has a reason: network (the source), content,\n" +
			"signature or gate (a release is refused), or disk (this machine). status opens\n" +
			"each active file and notices if it is missing or has the wrong size; --verify\n" +
			"also compares it with its digest.\n\n" +
			"Exit status: 0; 1 a name has no active snapshot, is damaged, or is older than\n" +
			"--max-age, a release is refused, or the disk fails; 2 an error.",
		Example: "  bindq status --max-age 1h",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, _, err := store.find(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			names := args
			if len(names) == 0 {
				if names, err = st.Names(); err != nil {
					return err
				}
			} else if err := st.Unknown(args[0]); err != nil {
				if history {
					return &elsewhere{err}
				}
				fmt.Fprintln(cmd.ErrOrStderr(), "bindq: "+message(&elsewhere{err}))
			}
			all, err := statuses(st, names, whole)
			if err != nil {
				return err
			}
			if history {
				for _, s := range all {
					if s.Problem != "" {
						fmt.Fprintf(cmd.ErrOrStderr(), "bindq: %s: %s\n", diag.Visible(s.Name), diag.Visible(s.Problem))
					}
				}
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
			if slices.ContainsFunc(all, func(s ship.Status) bool { return isFailing(&s, maxAge) }) {
				return errStale
			}
			return nil
		},
	}
	store.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	cmd.Flags().DurationVar(&maxAge, "max-age", 0,
		"exit with 1 if the last good poll of a name is longer ago than `TIME`, such as 1h")
	cmd.Flags().BoolVar(&whole, "verify", false, "read each active file and compare it with its digest")
	cmd.Flags().BoolVar(&history, "history", false, "print the events of each name, oldest first")
	cmd.Flags().StringVar(&textfile, "textfile", "",
		"write metrics to `FILE`, for the textfile collector of Prometheus")
	return cmd
}

// isFailing reports whether a name needs attention. A source that does not answer counts only after maxAge, because
// the active snapshot stays usable without it.
func isFailing(s *ship.Status, maxAge time.Duration) bool {
	tooOld := maxAge > 0 && (s.Age < 0 || time.Duration(s.Age)*time.Second > maxAge)
	failed := s.Checked.Error != "" && s.Checked.Reason != ship.Network
	return s.Active == "" || s.Problem != "" || s.Damaged != "" || failed || tooOld
}

// statuses returns the status of each name. It opens the active files; if whole is set, it reads all of each.
func statuses(st *ship.Store, names []string, whole bool) (all []ship.Status, err error) {
	for _, name := range names {
		if err := ship.CheckName(name); err != nil {
			return nil, err
		}
		s := st.Status(name, time.Now())
		if s.Active != "" {
			s.Damaged = damageNow(&s, st.Path(s.Active), whole)
		}
		all = append(all, s)
	}
	return all, nil
}

// damageNow describes the damage of the active file at path, or returns "". If it did not read the whole file, it
// returns the damage that the last pull found. Without permission to read the file, it only checks the size for zero.
func damageNow(s *ship.Status, path string, whole bool) string {
	err := (&trust{}).report(path, func(f *snapshot.Snapshot) error {
		sum := f.Sum()
		if whole && hex.EncodeToString(sum[:]) != string(s.Active) {
			return fmt.Errorf("%s does not have the SHA-256 %s", path, s.Active)
		}
		return nil
	})
	if errors.Is(err, fs.ErrPermission) && !whole {
		err = nil
		if info, failed := os.Stat(path); failed == nil && info.Size() == 0 {
			err = fmt.Errorf("%s is empty", path)
		}
	}
	switch {
	case err != nil:
		return fmt.Sprintf("the active snapshot is unusable: %v; a pull replaces it if the source has it; "+
			"otherwise run 'bindq rollback %s' or activate another one", err, s.Name)
	case whole:
		return ""
	}
	return s.Damaged
}

func writeTextfile(path string, all []ship.Status) error {
	return fsx.Replace(path, fsx.ReplaceOptions{Limit: 0o644}, func(f *os.File) error {
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
		if s.Note != "" {
			fmt.Fprintf(t, "  note\t%s\n", diag.Visible(s.Note))
		}
		for _, step := range []struct {
			name string
			ship.Step
		}{{"checked", s.Checked}, {"downloaded", s.Downloaded}, {"activated", s.Activated}} {
			fmt.Fprintf(t, "  %s\t%s\n", step.name, stepText(step.Step))
		}
		for _, problem := range []string{s.Problem, s.Damaged} {
			if problem != "" {
				fmt.Fprintf(t, "  problem\t%s\n", diag.Visible(problem))
			}
		}
		if s.Refused != nil && s.Refused.Digest != "" {
			fmt.Fprintf(t, "  refused\t%s, the release in the source\n", s.Refused.Digest.Short())
		}
		if s.Pinned {
			fmt.Fprintf(t, "  pinned\tby hand, until 'bindq follow --resume %s'; new releases are only stored\n", s.Name)
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
				e.Digest.Short(), diag.Visible(e.Revision), diag.Visible(cmp.Or(e.By, e.Note)), diag.Visible(e.Result))
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
		text += ", failed " + timeText(s.At) + " (" + string(cmp.Or(s.Reason, "?")) + "): " + diag.Visible(s.Error)
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
