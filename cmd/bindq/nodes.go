package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"bindc/facts"
	"bindc/internal/lookup"
	"bindc/internal/report"
	bindings "bindc/runtime"
)

func (g *globals) nodesCommand() *cobra.Command {
	f := tableFlags{source: source{globals: g}}
	cmd := &cobra.Command{
		Use:   "nodes [FILE]",
		Short: "Say which node has which values of the categories",
		Long: "nodes reads the facts of a fleet, a file per node (NAME.json, NAME.yaml\n" +
			"or NAME.yml), and prints the categories of each node. --strict fails if a node\n" +
			"lacks a variable that conditions use, or has a value that looks like a\n" +
			"misspelling of one of theirs.\n\nExit status: 0, or 2 an error.",
		Example: "  bindq nodes -s site.bsnap --facts-dir facts",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := f.only(args); err != nil {
				return err
			}
			return f.nodes(cmd)
		},
	}
	cmd.Flags().StringVar(&f.factsDir, "facts-dir", "", "`DIR` of a file of facts per node (default $BINDQ_FACTS_DIR)")
	f.addStrict(cmd)
	f.output.add(cmd, "text")
	return cmd
}

func (f *tableFlags) nodes(cmd *cobra.Command) error {
	path, err := f.path()
	if err != nil {
		return err
	}
	dir := cmp.Or(f.factsDir, os.Getenv("BINDQ_FACTS_DIR"))
	if dir == "" {
		return errors.New("nodes: expected --facts-dir DIR (see bindq nodes --help)")
	}
	return f.ask(path, func(snap *lookup.Snapshot) error {
		nodes, err := readFleet(cmd, dir)
		if err != nil {
			return err
		}
		var all report.Nodes
		var doubts []string
		var wrong []error
		for _, n := range nodes {
			r, err := requestOf(snap, n)
			if err != nil {
				wrong = append(wrong, err)
				continue
			}
			all = append(all, report.Node{Name: n.Name, Categories: r.Categories()})
			doubts = append(doubts, ofNode(n, append(misspeltValues(r), unset(r)...))...)
			if text := n.Contradiction(); text != "" {
				doubts = append(doubts, text)
			}
		}
		if len(wrong) > 0 {
			return ofNodes(wrong)
		}
		if f.strict && len(doubts) > 0 {
			return doubtful(doubts)
		}
		if f.format != "text" {
			return printReport(cmd.OutOrStdout(), f.format, all)
		}
		return onPage(cmd.OutOrStdout(), func(p *report.Page) { p.Nodes(all) })
	})
}

// readFleet reads the facts of a fleet, and notes which entries of the directory are not read.
func readFleet(cmd *cobra.Command, dir string) ([]facts.Node, error) {
	if text := facts.Unread(dir); text != "" {
		note(cmd, text)
	}
	return facts.ReadDir(dir)
}

// unset returns a doubt for each variable that conditions use but the node lacks.
func unset(r *lookup.Request) (out []string) {
	for _, name := range r.Unset() {
		out = append(out, name+" is not set")
	}
	return out
}

// ofNode prefixes doubts with the name of the node.
func ofNode(n facts.Node, doubts []string) []string {
	for i := range doubts {
		doubts[i] = n.Name + ": " + doubts[i]
	}
	return doubts
}

// ofNodes returns the errors of several nodes as one, or nil. Damage of the snapshot concerns all nodes and is reported
// once.
func ofNodes(wrong []error) error {
	for _, err := range wrong {
		var damage *bindings.DamageError
		if errors.As(err, &damage) {
			return err
		}
	}
	return facts.Join(wrong)
}

// requestOf returns the request of a node of a fleet.
func requestOf(snap *lookup.Snapshot, n facts.Node) (*lookup.Request, error) {
	vars, err := facts.Variables(n, bindings.FactsOptions{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.Name, err)
	}
	r, err := snap.Request((*lookup.Facts)(vars))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.Name, err)
	}
	return r, nil
}
