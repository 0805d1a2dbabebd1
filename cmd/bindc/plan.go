package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/facts"
	"bindc/internal/cli"
	"bindc/internal/fsx"
	"bindc/internal/lookup"
	"bindc/internal/report"
	"bindc/internal/report/affected"
	"bindc/internal/report/decision"
	"bindc/internal/snapfile"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// errDiffers means that plan has printed changes.
var errDiffers = &cli.Answer{Reason: "something changes", Status: cli.ExitNo}

// errIncomplete means that some nodes were not compared, for reasons that were printed.
var errIncomplete = &cli.Answer{Reason: "some nodes are missing", Status: cli.ExitError}

// errNoPlan means that one side does not compile. Its diagnostics were printed.
var errNoPlan = &cli.Answer{Reason: "one side has errors", Status: cli.ExitError}

var planFormats = append(slices.Clone(cli.Forms), "markdown")

// planFlags holds the flags of 'bindc plan', which 'bindc explore' shares.
type planFlags struct {
	flags
	site     string
	factsDir string
	output   string // value of --format
	everyKey bool   // show each key separately
	style    report.Style
}

func (g *bounds) planCommand() *cobra.Command {
	f := planFlags{flags: flags{bounds: g, format: "text", allowEmpty: true, allHint: seeCheck}, output: "text"}
	cmd := &cobra.Command{
		Use:   "plan [REV | OLD..NEW | COMMIT^! | OLD NEW]",
		Short: "Preview which keys and nodes a change of the data affects",
		Long: "plan compiles two states of a site and prints what changes from the first to the\n" +
			"second: for each key, the conditions whose answer differs, with both values and\n" +
			"their positions. With --facts-dir, it also prints the nodes whose values change.\n\n" +
			"  bindc plan              from the last commit to the working tree\n" +
			"  bindc plan REV          from REV, a branch, tag or commit, to the working tree\n" +
			"  bindc plan OLD..NEW     from one commit to another; an omitted one is HEAD\n" +
			"  bindc plan OLD...NEW    from the common ancestor to NEW, as in a merge request\n" +
			"  bindc plan COMMIT^!     what one commit changes\n" +
			"  bindc plan OLD NEW      commits, directories of sites, or snapshots\n\n" +
			"plan reads commits with git. It does not change the working tree. Files that git\n" +
			"ignores, such as modules installed by r10k, come from the working tree for both\n" +
			"states.\n\n" +
			"Exit status: 0 if nothing changes, 1 if something does, 2 on an error, or if one\n" +
			"side does not compile.",
		Example: "  bindc plan --facts-dir facts\n  bindc plan main...my-branch --format markdown",
		Args:    cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, args)
		},
	}
	f.addSite(cmd)
	f.addBuild(cmd)
	cmd.Flags().StringVar(&f.site, "site", ".", "`DIR` of the site in its repository")
	cmd.Flags().StringVar(&f.factsDir, "facts-dir", "", "`DIR` with one facts file per node "+
		"(default $BINDQ_FACTS_DIR)")
	cli.AddFormat(cmd, &f.output, planFormats)
	cmd.Flags().BoolVar(&f.everyKey, "all", false, "list every key, even if a whole level or file is added or removed")
	cmd.Flags().BoolVar(&f.style.Sensitive, "show-sensitive", false, "show sensitive values")
	return cmd
}

func (f *planFlags) run(cmd *cobra.Command, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	f.factsDir = cmp.Or(f.factsDir, os.Getenv("BINDQ_FACTS_DIR"))
	f.signals.handle()
	temporary, remove, err := fsx.Scratch("bindc-plan-")
	if err != nil {
		return err
	}
	defer remove()
	f.signals.last = remove
	sides, err := f.sides(args)
	if err != nil {
		return err
	}
	notes := map[string]bool{}
	for i := range sides {
		if err := f.prepare(cmd, &sides[i], filepath.Join(temporary, []string{"old", "new"}[i]), notes); err != nil {
			return err
		}
	}
	return f.compare(cmd, sides[0].snapshot, sides[1].snapshot)
}

// prepare sets s.snapshot: unless s is already a snapshot, it builds one in dir. notes holds the notes that were
// already printed.
func (f *planFlags) prepare(cmd *cobra.Command, s *side, dir string, notes map[string]bool) error {
	if s.snapshot != "" {
		return nil
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	site, found, err := s.checkOut(filepath.Join(dir, "tree"))
	if err != nil {
		return err
	}
	for _, text := range found {
		if !notes[text] {
			fmt.Fprintln(cmd.ErrOrStderr(), "bindc: note:", diag.Visible(text))
		}
		notes[text] = true
	}
	options := f.options()
	if f.cache != "" && s.repository != nil {
		// The cache identifies files by digest, so the site's cache also works for the site's revisions. It is only
		// read.
		if options.Cache, err = f.openCache(f.site); err != nil {
			return err
		}
	}
	c, err := f.compile(cmd, site, "", options)
	if err != nil {
		return err
	}
	if c.diags.Failed() {
		return f.refuse(cmd, c, s)
	}
	s.snapshot = filepath.Join(dir, "site.bsnap")
	_, err = snapshot.Write(s.snapshot, c.content)
	return err
}

// refuse prints the errors of a side that does not compile. Each position includes the revision, as in REV:PATH.
func (f *planFlags) refuse(cmd *cobra.Command, c *compilation, s *side) error {
	var list []diag.Diagnostic
	for _, d := range c.diags.Sorted() {
		if d.Severity != diag.Error {
			continue
		}
		d.Pos.File = s.displayName(d.Pos.File)
		d.Notes = slices.Clone(d.Notes)
		for i := range d.Notes {
			d.Notes[i].Pos.File = s.displayName(d.Notes[i].Pos.File)
		}
		list = append(list, d)
	}
	if err := f.report(cmd, list, len(c.site.Inputs)); err != nil && !errors.Is(err, errRefused) {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "bindc: %s does not compile, so there is nothing to compare\n", diag.Visible(s.name))
	return errNoPlan
}

// compare prints the changes between the snapshots at the paths before and after.
func (f *planFlags) compare(cmd *cobra.Command, before, after string) error {
	f.style.Form = report.FormOf(f.output)
	return snapfile.Use(before, func(a *snapshot.Snapshot) error {
		return snapfile.Use(after, func(b *snapshot.Snapshot) error {
			d, err := f.difference(cmd, a, b)
			if err != nil {
				return err
			}
			changes, err := f.style.Diff(a, b, d)
			if err != nil {
				return err
			}
			whole := true
			if f.factsDir != "" {
				if whole, err = f.addNodes(cmd, before, after, d, changes); err != nil {
					return err
				}
			}
			if f.everyKey && f.style.Form == report.People {
				changes.Causes = nil // without causes, the report shows every key
			}
			if err := f.print(cmd.OutOrStdout(), changes); whole || !errors.As(err, new(*cli.Answer)) && err != nil {
				return err
			}
			return errIncomplete
		})
	})
}

func (f *planFlags) difference(cmd *cobra.Command, before, after *snapshot.Snapshot) (*decision.Difference, error) {
	a, err := decision.NewTables(before, true, nil)
	if err != nil {
		return nil, err
	}
	b, err := decision.NewTables(after, true, nil)
	if err != nil {
		return nil, err
	}
	progress := cli.NewProgress(cmd.ErrOrStderr())
	defer progress.End()
	progress.Begin("comparing keys", max(len(before.AllKeys()), len(after.AllKeys())))
	return decision.Diff(a, b, progress.Done)
}

// addNodes adds the nodes of --facts-dir for which something changes. It prints the errors of single nodes; whole is
// false if there are any.
func (f *planFlags) addNodes(cmd *cobra.Command, before, after string, d *decision.Difference,
	changes *report.Diff) (whole bool, err error) {
	if text := facts.Unread(f.factsDir); text != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), "bindc: note:", diag.Visible(text))
	}
	nodes, unread, err := facts.ReadGood(f.factsDir)
	if err != nil {
		return false, err
	}
	a, err := bindings.Open(before, bindings.Options{})
	if err != nil {
		return false, err
	}
	defer a.Close()
	b, err := bindings.Open(after, bindings.Options{})
	if err != nil {
		return false, err
	}
	defer b.Close()
	progress := cli.NewProgress(cmd.ErrOrStderr())
	progress.Begin("looking up keys for nodes", len(nodes))
	c := affected.Comparison{Old: (*lookup.Snapshot)(a), New: (*lookup.Snapshot)(b), OldPath: before, NewPath: after,
		Nodes: nodes, Style: f.style, Done: progress.Done}
	groups, wrong := c.Groups(d)
	progress.End()
	changes.Nodes, changes.Fleet, whole = groups, len(nodes), true
	for _, err := range append(unread, wrong...) {
		if err != nil {
			whole = false
			fmt.Fprintln(cmd.ErrOrStderr(), "bindc:", message(err))
		}
	}
	return whole, nil
}

// print prints the changes. It returns errDiffers if something changes.
func (f *planFlags) print(w io.Writer, d *report.Diff) (err error) {
	switch f.output {
	case "json", "yaml":
		err = report.Write(w, f.output == "yaml", d)
	case "markdown":
		err = report.Print(w, report.Screen{}, func(p *report.Page) { p.Markdown(d) })
	default:
		err = report.Print(w, report.ScreenOf(w), func(p *report.Page) { p.Diff(d) })
	}
	if err == nil && (len(d.Keys) > 0 || len(d.Nodes) > 0) {
		err = errDiffers
	}
	return err
}
