package main

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/facts"
	"bindc/internal/cli"
	"bindc/internal/lookup"
	"bindc/internal/report"
	"bindc/internal/report/affected"
	"bindc/internal/report/decision"
	"bindc/internal/snapfile"
	"bindc/snapshot"
)

type diffFlags struct {
	source
	format    string
	all       bool
	manifests []string
	style     report.Style
	changed   []string // values of --if, which replace facts of the nodes
}

var diffFormats = append(slices.Clone(cli.Forms), "markdown")

func (g *globals) diffCommand() *cobra.Command {
	f := diffFlags{source: source{globals: g}}
	cmd := &cobra.Command{
		Use:   "diff [OLD] NEW | diff [FILE] --if NAME=TEXT",
		Short: "Show the changes from one snapshot to another, by node",
		Long: "diff compares all decision tables of two snapshots: for each key, the\n" +
			"conditions whose answer differs, with both values and positions. The first\n" +
			"condition of a key that holds for a node decides. With --facts-dir, diff also\n" +
			"looks up the keys that may differ for each node, and groups nodes by changes.\n" +
			"OLD defaults to the snapshot of -s or BINDQ_SNAPSHOT.\n\n" +
			"Keys that all change because a level or a file is added or removed share one\n" +
			"entry; --all, --format json and --format yaml list each of them.\n\n" +
			"--manifests lists the manifests that still use a removed key, through lookup(),\n" +
			"hiera() or a class parameter.\n\n" +
			"With --if, diff reads one snapshot and shows what would change for each node of\n" +
			"--facts-dir if a fact had another value: --if role=db.\n\n" +
			"Without --identity, encrypted values count as changed, because they differ in\n" +
			"every file.\n\n" +
			"Exit status: 0 if nothing changes, 1 if something does, 2 on an error.",
		Example: "  bindq diff old.snap site.snap --facts-dir facts --format markdown",
		Args:    f.checkArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(f.changed) > 0 {
				path, err := f.pathOrArgument(args)
				if err != nil {
					return err
				}
				return f.ifChanged(cmd, path)
			}
			before, err := f.pathOrArgument(args[:len(args)-1])
			if err != nil {
				return err
			}
			return f.run(cmd, before, args[len(args)-1])
		},
	}
	f.addFactsDir(cmd)
	f.format = "text"
	cli.AddFormat(cmd, &f.format, diffFormats)
	cmd.Flags().StringArrayVar(&f.manifests, "manifests", nil,
		"search the manifests in `DIR`, such as a control repository, for removed keys (repeatable)")
	cmd.Flags().StringArrayVar(&f.changed, "if", nil,
		"show what changes if a fact is `NAME=TEXT` or NAME:=JSON, as for --fact (repeatable)")
	cmd.Flags().BoolVar(&f.all, "all", false, "list every key, even if a whole level or file is added or removed")
	cmd.Flags().BoolVar(&f.style.Sensitive, "show-sensitive", false, "show sensitive values")
	f.addStrict(cmd)
	cmd.MarkFlagsMutuallyExclusive("if", "manifests")
	cmd.MarkFlagsMutuallyExclusive("if", "all")
	return cmd
}

func (f *diffFlags) run(cmd *cobra.Command, before, after string) error {
	f.style.Form = styleOf(false, f.format).Form
	return f.signers.Use(before, func(a *snapshot.Snapshot) error {
		return f.signers.Use(after, func(b *snapshot.Snapshot) error {
			d, err := f.difference(cmd, before, a, b)
			if err != nil {
				return err
			}
			changes, err := f.style.Diff(a, b, d)
			if err != nil {
				return err
			}
			if err := f.findUses(cmd, changes); err != nil {
				return err
			}
			if f.all && !f.isReport() {
				changes.Causes = nil // without causes, the report shows each key
			}
			dir := f.dirOfFacts()
			if dir == "" {
				f.sayUncertain(cmd, d)
				return f.print(cmd.OutOrStdout(), changes)
			}
			fleet, err := f.readFleet(cmd, dir)
			if err != nil {
				return err
			}
			return f.nodes(cmd, fleet, [2]string{before, after}, d, func(groups []report.Group) error {
				changes.Nodes, changes.Fleet = groups, len(fleet.nodes)
				return fleet.outcome(f.print(cmd.OutOrStdout(), changes))
			})
		})
	})
}

// checkArgs checks the number of arguments: one or two snapshots, or at most one with --if.
func (f *diffFlags) checkArgs(cmd *cobra.Command, args []string) error {
	if len(f.changed) > 0 {
		return cobra.MaximumNArgs(1)(cmd, args)
	}
	return cobra.RangeArgs(1, 2)(cmd, args)
}

// ifChanged implements --if: it compares each node's answers with its answers after the facts are changed.
func (f *diffFlags) ifChanged(cmd *cobra.Command, path string) error {
	f.style.Form = styleOf(false, f.format).Form
	dir := f.dirOfFacts()
	if dir == "" {
		return errors.New("diff --if: expected --facts-dir DIR, the facts that the nodes have")
	}
	fleet, err := f.readFleet(cmd, dir)
	if err != nil {
		return err
	}
	return f.ask(path, func(snap *lookup.Snapshot) error {
		if err := f.noteUnusedChanges(cmd, snap); err != nil {
			return err
		}
		progress := cli.NewProgress(cmd.ErrOrStderr())
		progress.Begin("looking up keys for nodes", len(fleet.nodes))
		c := affected.Comparison{Old: snap, New: snap, OldPath: path, NewPath: path, Nodes: fleet.nodes, Style: f.style,
			Change: f.withChanges, Check: f.refuseDoubts, Done: progress.Done}
		groups, wrong := c.AllGroups()
		progress.End()
		if err := fleet.reportEach(wrong); err != nil {
			return err
		}
		changes := &report.Diff{Keys: []report.Key{}, Nodes: groups, Fleet: len(fleet.nodes), If: f.changed}
		return fleet.outcome(f.print(cmd.OutOrStdout(), changes))
	})
}

// noteUnusedChanges prints a note for each name in --if that the snapshot does not use.
func (f *diffFlags) noteUnusedChanges(cmd *cobra.Command, snap *lookup.Snapshot) error {
	used, _, _, err := snap.Needs()
	if err != nil {
		return err
	}
	reads, err := snap.Reads()
	if err != nil {
		return err
	}
	if slices.Contains(reads, "environment") { // --if can change it, although it is not a fact
		used = append(used, "environment")
	}
	reads = withSources(reads)
	for _, text := range f.changed {
		path := text[:strings.IndexAny(text+"=", ":=")]
		name, _, inside := strings.Cut(path, ".")
		switch {
		case !slices.Contains(used, name):
			noteUnused(cmd, name, "name", used)
		case inside && !isRead(path, reads):
			noteUnused(cmd, path, "path", reads)
		}
	}
	return nil
}

func noteUnused(cmd *cobra.Command, name, what string, used []string) {
	message := "--if " + name + ": nothing in the snapshot uses that " + what
	if near := diag.DidYouMean(name, used); near != "" {
		message += "; " + near
	}
	note(cmd, message)
}

// isRead reports whether one of the paths of variables in reads is path, is inside it, or contains it.
func isRead(path string, reads []string) bool {
	return slices.ContainsFunc(reads, func(read string) bool {
		return read == "facts" || strings.HasPrefix(read+".", path+".") || strings.HasPrefix(path+".", read+".")
	})
}

// withSources adds to paths of variables the facts that they are derived from if a node does not have them. It removes
// the prefix 'facts.'.
func withSources(reads []string) (all []string) {
	for _, read := range reads {
		all = append(all, strings.TrimPrefix(read, "facts."))
		if strings.HasPrefix(read+".", "trusted.") {
			all = append(all, "clientcert")
		}
	}
	for i := 0; i < len(all); i++ {
		for _, source := range lookup.SourcesOf(all[i]) {
			if !slices.Contains(all, source) {
				all = append(all, source)
			}
		}
	}
	return all
}

func (f *diffFlags) withChanges(n facts.Node) (changed facts.Node, err error) {
	return n.With("--if", f.changed)
}

// difference compares two snapshots. path is the file of before. Errors about before mention path; errors about after
// mention no file.
func (f *diffFlags) difference(cmd *cobra.Command, path string, before, after *snapshot.Snapshot) (
	*decision.Difference, error) {
	progress := cli.NewProgress(cmd.ErrOrStderr())
	defer progress.End()
	progress.Begin("comparing keys", max(len(before.AllKeys()), len(after.AllKeys())))
	a, err := f.tables(before, true)
	if err != nil {
		return nil, snapfile.InFile(path, err)
	}
	b, err := f.tables(after, true)
	if err != nil {
		return nil, err
	}
	d, err := decision.Diff(a, b, progress.Done)
	if err != nil && snapfile.Verify(before) != nil {
		err = snapfile.InFile(path, err)
	}
	return d, err
}

// sayUncertain prints notes about differences that only the facts of nodes can decide.
func (f *diffFlags) sayUncertain(cmd *cobra.Command, d *decision.Difference) {
	for _, name := range d.Categories {
		note(cmd, "different in the two snapshots: "+name+"; --facts-dir shows for which nodes its conditions hold")
	}
	if n := len(d.Dynamic); n > 0 {
		note(cmd, diag.Count(n, "key")+" whose value looks up keys that facts name, such as "+d.Dynamic[0]+
			": only --facts-dir shows whether it changes")
	}
}

// nodes looks up the keys that may differ for each node of the fleet, and calls do with the differences.
func (f *diffFlags) nodes(cmd *cobra.Command, fleet *fleet, paths [2]string, d *decision.Difference,
	do func([]report.Group) error) error {
	return f.ask(paths[0], func(a *lookup.Snapshot) error {
		return f.ask(paths[1], func(b *lookup.Snapshot) error {
			groups, err := f.groups(cmd, paths, a, b, fleet, d)
			if err != nil {
				return err
			}
			return do(groups)
		})
	})
}

// groups returns the changes for the nodes of the fleet. Errors name the files of a and b by paths.
func (f *diffFlags) groups(cmd *cobra.Command, paths [2]string, a, b *lookup.Snapshot, fleet *fleet,
	d *decision.Difference) ([]report.Group, error) {
	progress := cli.NewProgress(cmd.ErrOrStderr())
	progress.Begin("looking up keys for nodes", len(fleet.nodes))
	c := affected.Comparison{Old: a, New: b, OldPath: paths[0], NewPath: paths[1], Nodes: fleet.nodes, Style: f.style,
		Check: f.refuseDoubts, Done: progress.Done}
	groups, wrong := c.Groups(d)
	progress.End()
	return groups, fleet.reportEach(wrong)
}

// With --strict, refuseDoubts returns an error if the facts of n or the lookups of keys look wrong. old and now are
// requests for n.
func (f *diffFlags) refuseDoubts(n facts.Node, keys []string, old, now *lookup.Request) error {
	if !f.strict {
		return nil
	}
	var doubts []string
	if text := n.Contradiction(); text != "" {
		doubts = append(doubts, text)
	}
	for _, r := range []*lookup.Request{old, now} {
		more, err := doubtsOf(r, keys, nil)
		if err != nil {
			return err
		}
		doubts = append(doubts, more...)
	}
	if len(doubts) == 0 {
		return nil
	}
	slices.Sort(doubts)
	return strictError(ofNode(n, slices.Compact(doubts)))
}

// isReport reports whether the output format is for programs, which get all details.
func (f *diffFlags) isReport() bool { return f.format == "json" || f.format == "yaml" }

// print prints the differences. It returns errDiffers if there are differences.
func (f *diffFlags) print(w io.Writer, d *report.Diff) (err error) {
	switch f.format {
	case "json", "yaml":
		err = printReport(w, f.format, d)
	case "markdown":
		err = report.Print(w, report.Screen{}, func(p *report.Page) { p.Markdown(d) })
	default:
		err = onPage(w, func(p *report.Page) { p.Diff(d) })
	}
	if err == nil && (len(d.Keys) > 0 || len(d.Nodes) > 0) {
		err = errDiffers
	}
	return err
}
