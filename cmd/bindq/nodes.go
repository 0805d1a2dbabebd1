package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"bindc/internal/cli"
	"bindc/internal/facts"
	"bindc/internal/value"
	bindings "bindc/runtime"
)

func nodesCommand() *cobra.Command {
	var f tableFlags
	var dir string
	cmd := &cobra.Command{
		Use:   "nodes [FILE]",
		Short: "Say which node has which values of the categories",
		Long: "nodes reads the facts of a fleet, a file per node (NAME.json or NAME.yaml),\n" +
			"and prints for each node its values of the categories.\n\nExit status: 0, or 2 an error.",
		Example: "  bindq nodes -s site.bsnap --facts-dir facts",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := f.only(args); err != nil {
				return err
			}
			return f.nodes(cmd, dir)
		},
	}
	f.addSnapshot(cmd)
	cmd.Flags().StringVar(&dir, "facts-dir", "", "`DIR` of a file of facts per node")
	cmd.Flags().StringVar(&f.render, "render-as", "s", "`FORM` to print the answer in: s for text, json, yaml")
	cli.Words(cmd, "render-as", renderings)
	cli.Required(cmd, "facts-dir")
	return cmd
}

func (f *tableFlags) nodes(cmd *cobra.Command, dir string) error {
	if err := checkRendering(f.render); err != nil {
		return err
	}
	path, err := f.path()
	if err != nil {
		return err
	}
	return f.ask(path, func(snap *bindings.Snapshot) error {
		nodes, err := facts.ReadDir(dir)
		if err != nil {
			return err
		}
		var shape []nodeShape
		for _, n := range nodes {
			r, err := requestOf(snap, n)
			if err != nil {
				return err
			}
			shape = append(shape, nodeShape{n.Name, r.Categories()})
		}
		return f.printNodes(cmd.OutOrStdout(), shape)
	})
}

func (f *tableFlags) printNodes(out io.Writer, shape []nodeShape) error {
	if f.render == "s" {
		return onPage(out, func(p *page) {
			for _, n := range shape {
				fmt.Fprintln(p, p.paint(bold, n.name))
				p.wrapped(2, "", conditionWords("", n.categories))
			}
		})
	}
	var b value.Builder
	for _, n := range shape {
		var of value.Builder
		for _, t := range n.categories {
			of.Set(value.FromString(t.Name), value.FromString(t.Value))
		}
		b.Set(value.FromString(n.name), of.Hash())
	}
	if f.render == "yaml" {
		return writeYAML(out, b.Hash())
	}
	return writeJSON(out, value.AppendJSON(nil, b.Hash()), false)
}

type nodeShape struct {
	name       string
	categories []bindings.Term
}

// requestOf is the request of a node of a fleet.
func requestOf(snap *bindings.Snapshot, n facts.Node) (*bindings.Request, error) {
	vars, err := n.Variables(bindings.FactsOptions{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.Name, err)
	}
	r, err := snap.Request(vars)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.Name, err)
	}
	return r, nil
}
