package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/facts"
	"bindc/internal/cli"
	"bindc/internal/lookup"
	"bindc/internal/report"
	"bindc/internal/report/decision"
	"bindc/internal/snapfile"
	"bindc/snapshot"
)

// diffFlags are the flags of bindq diff.
type diffFlags struct {
	source
	format    string
	all       bool
	manifests []string
	style     report.Style
}

var diffFormats = []string{"text", "json", "markdown"}

func diffCommand() *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:   "diff [OLD] NEW",
		Short: "Say what changes for whom from one snapshot to another",
		Long: "diff compares all decision tables of two snapshots: per key the conditions\n" +
			"whose answer differs, with both values and places. Of the conditions of a key\n" +
			"the first that holds for a node counts for it. With --facts-dir it also looks\n" +
			"up for each node what may differ, and groups the nodes by what changes.\n" +
			"Without OLD it is the snapshot of -s or BINDQ_SNAPSHOT.\n\n" +
			"Keys that all change because a level or a file is added or removed are one\n" +
			"entry; --all and --format json have each of them.\n\n" +
			"With --manifests it names the manifests that still ask for a key that is gone,\n" +
			"by lookup(), hiera() or a parameter of a class.\n\n" +
			"Without --identity encrypted values count as changed: they differ in every file.\n\n" +
			"Exit status: 0 nothing changes, 1 something does, 2 an error.",
		Example: "  bindq diff old.bsnap site.bsnap --facts-dir facts --format markdown",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			before, err := f.only(args[:len(args)-1])
			if err != nil {
				return err
			}
			return f.run(cmd, before, args[len(args)-1])
		},
	}
	f.addSnapshot(cmd)
	f.addIdentity(cmd)
	cmd.Flags().StringVar(&f.factsDir, "facts-dir", "", "`DIR` of a file of facts per node, NAME.json or NAME.yaml")
	cmd.Flags().StringVar(&f.format, "format", "text", "`FORM` of the answer: "+strings.Join(diffFormats, ", "))
	cli.Words(cmd, "format", diffFormats)
	cmd.Flags().StringArrayVar(&f.manifests, "manifests", nil,
		"control repository or other `DIR` of manifests that may ask for keys that are gone (repeatable)")
	cmd.Flags().BoolVar(&f.all, "all", false, "show each key, also of a level or file that is added or removed")
	cmd.Flags().BoolVar(&f.style.Sensitive, "show-sensitive", false, "show sensitive values")
	f.addStrict(cmd)
	return cmd
}

func (f *diffFlags) run(cmd *cobra.Command, before, after string) error {
	if !slices.Contains(diffFormats, f.format) {
		return fmt.Errorf("--format: expected one of %s, found '%s'", strings.Join(diffFormats, ", "), f.format)
	}
	if f.format != "json" {
		f.style.Form = report.People
	}
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
			if f.all && f.format != "json" {
				changes.Causes = nil // so each key is shown
			}
			if f.factsDir == "" {
				f.sayUncertain(cmd, d)
				return f.print(cmd.OutOrStdout(), changes)
			}
			return f.nodes(cmd, before, after, d, func(groups []report.Group, fleet int) error {
				changes.Nodes, changes.Fleet = groups, fleet
				return f.print(cmd.OutOrStdout(), changes)
			})
		})
	})
}

// difference compares two files. The caller names the file of an error that does not name it: after.
func (f *diffFlags) difference(cmd *cobra.Command, path string, before, after *snapshot.Snapshot) (
	*decision.Difference, error) {
	progress := cli.NewProgress(cmd.ErrOrStderr())
	defer progress.End()
	progress.Begin("comparing keys", 0)
	a, err := f.book(before, true)
	if err != nil {
		return nil, snapfile.InFile(path, err)
	}
	b, err := f.book(after, true)
	if err != nil {
		return nil, err
	}
	d, err := decision.Diff(a, b, progress.Done)
	if err != nil && snapfile.Verify(before) != nil {
		err = snapfile.InFile(path, err)
	}
	return d, err
}

// sayUncertain tells what only facts decide.
func (f *diffFlags) sayUncertain(cmd *cobra.Command, d *decision.Difference) {
	for _, name := range d.Categories {
		note(cmd, "not the same in both: "+name+"; for whom conditions on it hold only --facts-dir tells")
	}
	if n := len(d.Free); n > 0 {
		note(cmd, diag.Count(n, "key")+" as "+d.Free[0]+" whose value looks up what facts name: only --facts-dir tells")
	}
}

// nodes looks up for each node of the fleet what may differ for it, and hands on what does.
func (f *diffFlags) nodes(cmd *cobra.Command, before, after string, d *decision.Difference,
	do func(groups []report.Group, fleet int) error) error {
	fleet, err := readFleet(cmd, f.factsDir)
	if err != nil {
		return err
	}
	return f.ask(before, func(a *lookup.Snapshot) error {
		return f.ask(after, func(b *lookup.Snapshot) error {
			groups, err := f.groups(cmd, [2]string{before, after}, a, b, fleet, d)
			if err != nil {
				return err
			}
			return do(groups, len(fleet))
		})
	})
}

// groups returns the changes for the nodes of the fleet. paths names the files of a and b in errors.
func (f *diffFlags) groups(cmd *cobra.Command, paths [2]string, a, b *lookup.Snapshot, fleet []facts.Node,
	d *decision.Difference) ([]report.Group, error) {
	keys := slices.Clone(d.Free)
	for _, k := range d.Keys {
		keys = append(keys, k.Key)
	}
	if len(d.Categories) > 0 {
		keys = append(sortedKeys(a, ""), sortedKeys(b, "")...)
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	effects, wrong := make([]report.Effect, len(fleet)), make([]error, len(fleet))
	progress := cli.NewProgress(cmd.ErrOrStderr())
	progress.Begin("looking up for nodes", len(fleet))
	inParallel(len(fleet), func(i int) {
		defer progress.Done()
		wrong[i] = snapfile.InFile(paths[0], a.Protect(func() error {
			old, err := requestOf(a, fleet[i])
			if err != nil {
				return snapfile.InFile(paths[0], err)
			}
			return snapfile.InFile(paths[1], b.Protect(func() (err error) {
				effects[i], err = f.effect(old, b, fleet[i], keys)
				return err
			}))
		}))
	})
	progress.End()
	if err := ofNodes(wrong); err != nil {
		return nil, err
	}
	names := make([]string, len(fleet))
	for i, n := range fleet {
		names[i] = n.Name
	}
	return report.Grouped(names, effects), nil
}

// inParallel does n things, as many at a time as there are processors.
func inParallel(n int, do func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// effect returns the keys that change for a node, from its old request to that of b.
func (f *diffFlags) effect(old *lookup.Request, b *lookup.Snapshot, n facts.Node, keys []string) (
	report.Effect, error) {
	now, err := requestOf(b, n)
	if err != nil {
		return nil, err
	}
	if err := f.refuseDoubts(n, keys, old, now); err != nil {
		return nil, err
	}
	return f.style.Effect(old, now, keys), nil
}

// refuseDoubts returns an error if the node raises doubts about the answers of keys; --strict calls it.
func (f *diffFlags) refuseDoubts(n facts.Node, keys []string, requests ...*lookup.Request) error {
	if !f.strict {
		return nil
	}
	var doubts []string
	if text := n.Contradiction(); text != "" {
		doubts = append(doubts, text)
	}
	for _, r := range requests {
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
	return doubtful(ofNode(n, slices.Compact(doubts)))
}

// print prints the answer. The error is errDiffers where something differs.
func (f *diffFlags) print(w io.Writer, d *report.Diff) (err error) {
	switch f.format {
	case "json":
		err = report.Write(w, false, d)
	case "markdown":
		err = report.Print(w, false, func(p *report.Page) { p.Markdown(d) })
	default:
		err = onPage(w, func(p *report.Page) { p.Diff(d) })
	}
	if err == nil && (len(d.Keys) > 0 || len(d.Nodes) > 0) {
		err = errDiffers
	}
	return err
}
