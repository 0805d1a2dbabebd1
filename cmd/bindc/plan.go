package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/facts"
	"bindc/internal/cli"
	"bindc/internal/compare"
	"bindc/internal/fsx"
	"bindc/internal/lookup"
	"bindc/internal/report"
	"bindc/internal/report/decision"
	"bindc/internal/snapfile"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// Answers of plan that are printed already.
var (
	errChanges = &cli.Answer{Reason: "something changes", Status: cli.ExitNo}
	errNoPlan  = &cli.Answer{Reason: "one side does not build", Status: cli.ExitError}
)

// planning is the verb plan: its flags, and the directory for what it builds.
type planning struct {
	flags
	site     string
	factsDir string
	answer   string // --format
	style    report.Style

	cmd *cobra.Command
	tmp string
	git repository
}

var planFormats = append(slices.Clone(cli.Forms), "markdown")

func (b *bounds) planCommand() *cobra.Command {
	p := &planning{flags: flags{bounds: b}}
	cmd := &cobra.Command{
		Use:   "plan [OLD [NEW]]",
		Short: "Say what a commit changes for whom",
		Long: "plan builds two versions of a site and prints what changes from OLD to NEW, as\n" +
			"'bindq diff' does. The first line counts the keys and, with --facts-dir, the\n" +
			"nodes. Each side is a git revision, the directory of a site or a snapshot. The\n" +
			"work tree is not touched.\n\n" +
			"  plan            HEAD and the work tree: what is not committed\n" +
			"  plan OLD        OLD and the work tree\n" +
			"  plan OLD..NEW   two revisions; without NEW it is HEAD\n" +
			"  plan OLD...NEW  from where NEW left OLD: what a merge request changes\n" +
			"  plan OLD NEW    revisions, directories or snapshots\n\n" +
			"--site is the directory of the site in the work tree. Both sides use the\n" +
			"submodules and the ignored modules of the work tree; a note names them.\n\n" +
			"Exit status: 0 nothing changes, 1 something does, 2 an error.",
		Example: "  bindc plan main... --site site --facts-dir facts\n" +
			"  bindc plan HEAD~3.. --format markdown",
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			p.cmd = cmd
			return p.run(args)
		},
	}
	p.addSite(cmd)
	cmd.Flags().StringVar(&p.site, "site", ".", "`DIR` of the site in the work tree")
	cmd.Flags().StringVar(&p.factsDir, "facts-dir", "", "`DIR` with one file of facts per node (default $BINDQ_FACTS_DIR)")
	p.answer = "text"
	cli.AddFormat(cmd, &p.answer, planFormats)
	cmd.Flags().BoolVar(&p.all, "all", false, "show each key, and all errors")
	cmd.Flags().BoolVar(&p.style.Sensitive, "show-sensitive", false, "show sensitive values")
	return cmd
}

func (p *planning) run(args []string) error {
	if err := p.check(); err != nil {
		return err
	}
	p.signals.handle()
	tmp, remove, err := fsx.Scratch("bindc-plan-")
	if err != nil {
		return err
	}
	defer remove()
	p.tmp, p.signals.last = tmp, remove
	sides, err := p.sides(args)
	if err != nil {
		return err
	}
	var nodes *fleetFacts
	if dir := cmp.Or(p.factsDir, os.Getenv("BINDQ_FACTS_DIR")); dir != "" {
		if nodes, err = readFacts(p.cmd, dir); err != nil {
			return err
		}
	}
	paths, err := p.build(sides)
	if err != nil {
		return err
	}
	return p.compare(paths, nodes)
}

// fleetFacts has the nodes that plan looks up.
type fleetFacts struct {
	nodes  []facts.Node
	failed bool // a node is reported and left out
}

// readFacts reads the facts of all nodes. It reports files that cannot be used.
func readFacts(cmd *cobra.Command, dir string) (*fleetFacts, error) {
	if text := facts.Unread(dir); text != "" {
		note(cmd, text)
	}
	nodes, wrong, err := facts.ReadGood(dir)
	if err == nil && len(nodes) == 0 {
		err = facts.Join(wrong)
	}
	f := &fleetFacts{nodes: nodes}
	f.report(cmd, wrong)
	return f, err
}

// report reports the errors of nodes.
func (f *fleetFacts) report(cmd *cobra.Command, wrong []error) {
	for _, err := range wrong {
		if err != nil {
			f.failed = true
			fmt.Fprintln(cmd.ErrOrStderr(), "bindc:", message(err))
		}
	}
}

// outcome returns the error of a plan that is printed.
func (f *fleetFacts) outcome(d *report.Diff) error {
	switch {
	case f != nil && f.failed:
		return &cli.Answer{Reason: "some nodes could not be compared", Status: cli.ExitError}
	case len(d.Keys) > 0 || len(d.Nodes) > 0:
		return errChanges
	}
	return nil
}

// compare compares two snapshots and prints what changes. It does all inside the guards of both files, because the
// report has texts of them.
func (p *planning) compare(paths [2]string, fleet *fleetFacts) error {
	p.style.Form = report.People
	if p.isReport() {
		p.style.Form = map[string]report.Form{"json": report.JSON, "yaml": report.YAML}[p.answer]
	}
	return snapfile.Use(paths[0], func(a *snapshot.Snapshot) error {
		return snapfile.Use(paths[1], func(b *snapshot.Snapshot) error {
			d, err := p.difference(a, b)
			if err != nil {
				return err
			}
			changes, err := p.style.Diff(a, b, d)
			if err != nil {
				return err
			}
			if p.all && !p.isReport() {
				changes.Causes = nil // so each key is shown
			}
			if fleet == nil {
				p.sayUncertain(d)
				return p.finish(changes, nil)
			}
			return p.groups(paths, fleet, d, func(groups []report.Group) error {
				changes.Fleet, changes.Nodes = len(fleet.nodes), groups
				return p.finish(changes, fleet)
			})
		})
	})
}

// finish prints the report and returns the error for the exit status.
func (p *planning) finish(changes *report.Diff, fleet *fleetFacts) error {
	if err := p.print(p.cmd.OutOrStdout(), changes); err != nil {
		return err
	}
	return fleet.outcome(changes)
}

// isReport reports whether the answer is for programs.
func (p *planning) isReport() bool { return p.answer == "json" || p.answer == "yaml" }

// difference compares all decision tables.
func (p *planning) difference(before, after *snapshot.Snapshot) (*decision.Difference, error) {
	progress := cli.NewProgress(p.cmd.ErrOrStderr())
	defer progress.End()
	progress.Begin("comparing keys", max(len(before.AllKeys()), len(after.AllKeys())))
	a, err := decision.NewBook(before, true, nil)
	if err != nil {
		return nil, err
	}
	b, err := decision.NewBook(after, true, nil)
	if err != nil {
		return nil, err
	}
	return decision.Diff(a, b, progress.Done)
}

// sayUncertain notes what depends on facts.
func (p *planning) sayUncertain(d *decision.Difference) {
	for _, name := range d.Categories {
		note(p.cmd, "the category '"+name+"' differs; use --facts-dir to see which nodes that affects")
	}
	if n := len(d.Free); n > 0 {
		note(p.cmd, diag.Count(n, "key")+", such as "+d.Free[0]+", can change for some nodes; use --facts-dir to see which")
	}
}

// groups calls do with what changes for the nodes of the fleet.
func (p *planning) groups(paths [2]string, fleet *fleetFacts, d *decision.Difference,
	do func([]report.Group) error) error {
	c := compare.Comparison{Style: p.style}
	for i, side := range []*compare.Side{&c.Old, &c.New} {
		snap, err := bindings.Open(paths[i], bindings.Options{StrictVariables: p.strictVars})
		if err != nil {
			return err
		}
		defer snap.Close()
		*side = compare.Side{Path: paths[i], Snap: (*lookup.Snapshot)(snap)}
	}
	progress := cli.NewProgress(p.cmd.ErrOrStderr())
	progress.Begin("looking up for nodes", len(fleet.nodes))
	c.Done = progress.Done
	effects, wrong := c.Effects(fleet.nodes, d)
	progress.End()
	fleet.report(p.cmd, wrong)
	return do(compare.Groups(fleet.nodes, effects, wrong))
}

func (p *planning) print(w io.Writer, d *report.Diff) error {
	switch {
	case p.isReport():
		return report.Write(w, p.answer == "yaml", d)
	case p.answer == "markdown":
		return report.Print(w, report.Screen{}, func(page *report.Page) { page.Markdown(d) })
	}
	return report.Print(w, screenOf(w), func(page *report.Page) {
		page.Summary(d)
		page.Diff(d)
	})
}

// screenOf describes what shows a page that is written to w.
func screenOf(w io.Writer) report.Screen {
	f, ok := w.(*os.File)
	return report.Screen{Color: ok && cli.Color(f), Width: cli.Width(w)}
}

// note prints a remark that is not part of the answer.
func note(cmd *cobra.Command, text string) {
	fmt.Fprintln(cmd.ErrOrStderr(), "bindc: note:", diag.Visible(text))
}

// inDir runs do in a directory.
func inDir(dir string, do func() error) error {
	before, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := os.Chdir(dir); err != nil {
		return err
	}
	defer os.Chdir(before)
	return do()
}

// snapshotPath is where the snapshot of a side is written.
func (p *planning) snapshotPath(name string) string { return filepath.Join(p.tmp, name+".bsnap") }
