package main

import (
	"errors"

	"github.com/spf13/cobra"

	"bindc/facts"
	"bindc/internal/lookup"
	"bindc/internal/report"
	"bindc/internal/report/affected"
)

func (g *globals) nodesCommand() *cobra.Command {
	f := tableFlags{source: source{globals: g}}
	cmd := &cobra.Command{
		Use:   "nodes [FILE]",
		Short: "Print the categories of each node",
		Long: "nodes reads the facts of a fleet, a file per node (NAME.json, NAME.yaml\n" +
			"or NAME.yml), and prints the categories of each node. --strict fails if a node\n" +
			"lacks a variable that conditions use, or has a value that looks like a\n" +
			"misspelling of one of theirs.\n\nExit status: 0, or 2 on an error.",
		Example: "  bindq nodes -s site.snap --facts-dir facts",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := f.pathOrArgument(args); err != nil {
				return err
			}
			return f.nodes(cmd)
		},
	}
	cmd.Flags().StringVar(&f.factsDir, "facts-dir", "", "`DIR` with one facts file per node (default "+
		"$BINDQ_FACTS_DIR)")
	f.addStrict(cmd)
	f.output.add(cmd, "text")
	return cmd
}

func (f *tableFlags) nodes(cmd *cobra.Command) error {
	path, err := f.path()
	if err != nil {
		return err
	}
	dir := f.dirOfFacts()
	if dir == "" {
		return errors.New("nodes: expected --facts-dir DIR (see bindq nodes --help)")
	}
	return f.ask(path, func(snap *lookup.Snapshot) error {
		fleet, err := f.readFleet(cmd, dir)
		if err != nil {
			return err
		}
		all := report.Nodes{}
		var doubts []string
		requests, wrong := make([]*lookup.Request, len(fleet.nodes)), make([]error, len(fleet.nodes))
		for i, n := range fleet.nodes {
			requests[i], wrong[i] = affected.Request(snap, n)
		}
		if err := fleet.reportEach(wrong); err != nil {
			return err
		}
		for i, n := range fleet.nodes {
			r := requests[i]
			if r == nil {
				continue
			}
			all = append(all, report.Node{Name: n.Name, Categories: r.Categories()})
			doubts = append(doubts, ofNode(n, append(report.WrongValues(r), unset(r)...))...)
			if text := n.Contradiction(); text != "" {
				doubts = append(doubts, text)
			}
		}
		if f.strict && len(doubts) > 0 {
			return strictError(doubts)
		}
		if f.format != "text" {
			err = printReport(cmd.OutOrStdout(), f.format, all)
		} else {
			err = onPage(cmd.OutOrStdout(), func(p *report.Page) { p.Nodes(all) })
		}
		return fleet.outcome(err)
	})
}

func unset(r *lookup.Request) (out []string) {
	for _, name := range r.Unset() {
		out = append(out, name+" is not set")
	}
	return out
}

func ofNode(n facts.Node, doubts []string) []string {
	for i := range doubts {
		doubts[i] = n.Name + ": " + doubts[i]
	}
	return doubts
}
