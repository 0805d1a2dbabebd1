package main

import (
	"cmp"
	"encoding/hex"
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
	"bindc/internal/cli"
	"bindc/internal/fsx"
	"bindc/internal/report"
	"bindc/internal/snapfile"
	"bindc/ship"
	"bindc/snapshot"
)

// errStale makes status exit with 1 after it has printed what failed.
var errStale = &cli.Answer{Reason: "stale", Status: cli.ExitNo}

type statusFlags struct {
	store    *storeFlag
	format   string
	history  bool
	whole    bool
	maxAge   time.Duration
	textfile string
}

func (store *storeFlag) statusCommand() *cobra.Command {
	f := statusFlags{store: store, format: "text"}
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
		Example: "  bindsync status --max-age 1h",
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	cli.AddFormat(cmd, &f.format, cli.Forms)
	cmd.Flags().DurationVar(&f.maxAge, "max-age", 0,
		"exit with status 1 if the last good poll of a name is older than `TIME`, such as 1h")
	cmd.Flags().BoolVar(&f.whole, "verify", false, "read each active file and compare it with its digest")
	cmd.Flags().BoolVar(&f.history, "history", false, "print the events of each name, oldest first")
	cmd.Flags().StringVar(&f.textfile, "textfile", "",
		"write metrics to `FILE`, for the textfile collector of Prometheus")
	for _, other := range []string{"max-age", "verify", "textfile"} {
		cmd.MarkFlagsMutuallyExclusive("history", other)
	}
	return cmd
}

func (f *statusFlags) run(cmd *cobra.Command, args []string) error {
	st, _, err := f.store.find(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	names, err := f.names(cmd, st, args)
	if err != nil {
		return err
	}
	all, err := statuses(st, names, f.whole)
	if err != nil {
		return err
	}
	if f.history {
		st.Notice = func(string) {} // the problems below contain what it would say
		err := f.printHistory(cmd.OutOrStdout(), st, names)
		for _, s := range all {
			if s.Problem != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "bindsync: %s: %s\n", diag.Visible(s.Name), diag.Visible(s.Problem))
				err = cmp.Or(err, error(errStale))
			}
		}
		return err
	}
	if f.textfile != "" {
		if err := writeTextfile(f.textfile, all); err != nil {
			return err
		}
	}
	if err := f.print(cmd.OutOrStdout(), all); err != nil {
		return err
	}
	fails := func(s ship.Status) bool { return isFailing(&s, f.maxAge) }
	if len(all) == 0 || slices.ContainsFunc(all, fails) {
		return errStale
	}
	if f.maxAge == 0 {
		sayUnpolled(cmd.ErrOrStderr(), all)
	}
	return nil
}

// sayUnpolled prints notes about sources whose last poll failed. Without --max-age, a failed poll does not change the
// exit status.
func sayUnpolled(errs io.Writer, all []ship.Status) {
	for _, s := range all {
		if s.Checked.Error != "" {
			fmt.Fprintf(errs, "bindsync: note: %s: the last poll failed; with --max-age TIME, status exits "+
				"with 1 once that lasts for TIME\n",
				diag.Visible(s.Name))
		}
	}
}

// names returns the name in args, or all names of the store. It prints notes about snapshots that are not in the store.
// If the store does not have the name in args, names prints a note or, with --history, returns an error.
func (f *statusFlags) names(cmd *cobra.Command, st *ship.Store, args []string) ([]string, error) {
	if len(args) == 0 {
		foreign, err := st.Foreign()
		if err != nil {
			return nil, err
		}
		for _, path := range foreign {
			fmt.Fprintf(cmd.ErrOrStderr(), "bindsync: note: %s is not a link into the store: bindsync never updates it, "+
				"but other programs answer from it\n", diag.Visible(path))
		}
		return st.Names()
	}
	if err := st.Unknown(args[0]); err != nil {
		if f.history {
			return nil, &cli.External{Err: err}
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "bindsync: "+message(&cli.External{Err: err}))
	}
	return args, nil
}

// isFailing reports whether a name needs attention. A source that does not answer counts only after maxAge, because
// the active snapshot stays usable without it.
func isFailing(s *ship.Status, maxAge time.Duration) bool {
	tooOld := maxAge > 0 && (s.Age < 0 || time.Duration(s.Age)*time.Second > maxAge)
	failed := s.Checked.Error != "" && s.Checked.Reason != ship.Network
	return s.Active == "" || s.Problem != "" || s.Damaged != "" || s.Refused != nil || failed || tooOld
}

// statuses returns the status of each name. It opens the active snapshots. If whole is set, it also reads all of them
// and compares their digests.
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

// damageNow describes the damage of the active file at path, or returns "". Unless it reads the whole file, it also
// returns the damage that the last pull found. Without permission to read the file, it only checks that the file is not
// empty.
func damageNow(s *ship.Status, path string, whole bool) string {
	err := snapfile.Use(path, func(f *snapshot.Snapshot) error {
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
			"otherwise run 'bindsync rollback %s' or activate another one", err, s.Name)
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

// print prints the status of all names. As JSON or YAML, it is an array.
func (f *statusFlags) print(w io.Writer, all []ship.Status) error {
	if f.format != "text" {
		return report.Write(w, f.format == "yaml", append([]ship.Status{}, all...))
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
			fmt.Fprintf(t, "  pinned\tby hand, until 'bindsync follow --resume %s'; new releases are only "+
				"stored\n", s.Name)
		}
	}
	return t.Flush()
}

type event struct {
	Name string `json:"name"`
	ship.Event
}

// printHistory prints the events of names, oldest first. As JSON or YAML, they are an array.
func (f *statusFlags) printHistory(w io.Writer, st *ship.Store, names []string) error {
	events := []event{}
	for _, name := range names {
		if err := ship.CheckName(name); err != nil {
			return err
		}
		all, err := st.History(name)
		if err != nil {
			return err
		}
		for _, e := range all {
			events = append(events, event{name, e})
		}
	}
	if f.format != "text" {
		return report.Write(w, f.format == "yaml", events)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range events {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", timeText(e.Time), diag.Visible(e.Name), diag.Visible(e.Action),
			e.Digest.Short(), diag.Visible(e.Revision), diag.Visible(cmp.Or(e.By, e.Note)), diag.Visible(e.Result))
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
