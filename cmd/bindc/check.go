package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/facts"
	"bindc/internal/fsx"
	"bindc/loader"
)

func (g *bounds) checkCommand() *cobra.Command {
	f := flags{bounds: g}
	var factsDir string
	var x fixing
	cmd := &cobra.Command{
		Use:   "check CONFDIR",
		Short: "Check a site as build does, without writing a snapshot",
		Long: "check reports the errors that build reports, and writes no snapshot. With\n" +
			"--facts-dir it also looks up every key for each node of a fleet, and prints each\n" +
			"error once, with the affected nodes. With --lint it also reports lints: data\n" +
			"that is valid but suspicious. Each lint has a code; --lint=-CODE, or a\n" +
			"comment '# bindc: ignore CODE' on the line before, silences it.\n\n" +
			"With --fix, check corrects the files of the site where a hint names the\n" +
			"replacement, as in: did you mean 'osfamily'? It repeats this until nothing more\n" +
			"can be corrected, and then reports what is left. It never changes a file outside\n" +
			"CONFDIR. --fix --dry-run prints the corrections as a diff instead.\n\n" +
			"Exit status: 0 no errors, 1 the site has errors, 2 another error: usage, input\n" +
			"or output.",
		Example: "  bindc check site --strict --facts-dir facts\n" +
			"  bindc check site --fix --dry-run\n" +
			"  bindc check site --lint --manifests site/modules",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return check(cmd, args[0], factsDir, &f, &x)
		},
	}
	f.add(cmd)
	f.lint.add(cmd)
	x.add(cmd)
	cmd.Flags().StringVar(&factsDir, "facts-dir", "", "`DIR` with one facts file per node, NAME.json, "+
		"NAME.yaml or NAME.yml")
	return cmd
}

// check compiles the site in dir like build, but writes nothing. If factsDir is set, it also looks up every key for
// each node in it.
func check(cmd *cobra.Command, dir, factsDir string, f *flags, x *fixing) error {
	var nodes []facts.Node
	var wrong diag.List
	whole := true
	if factsDir != "" {
		var err error
		if nodes, whole, err = facts.Check(factsDir, &wrong); err != nil {
			return err
		}
	}
	f.policies.fleet = nodes
	asked := false
	c, err := x.compiled(cmd, dir, f, func(c *compilation, disk fsx.Disk) error {
		checkEnvironments(dir, disk, &c.diags)
		asked = len(nodes) > 0 && c.params != nil
		switch {
		case asked:
			err := cmp.Or(c.checkFleet(cmd, nodes, whole, f.jobs), c.decidePolicies(nodes))
			c.params.Report()
			return err
		case len(nodes) > 0:
			c.diags.Add(diag.Diagnostic{Pos: diag.Pos{File: factsDir}, Severity: diag.Info, Code: "facts",
				Message: "the data of " + diag.Count(len(nodes), "node") +
					" was not checked, because the site has errors"})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, d := range wrong.Sorted() {
		c.diags.Add(d)
	}
	if err := c.report(cmd, f); err != nil || !asked {
		return err
	}
	_, err = fmt.Fprintf(f.success(cmd), "%s for each of %s: no errors\n", diag.Count(c.keys(), "key"),
		diag.Count(len(nodes), "node"))
	return err
}

// declaresEnvironments reports whether dir has an environments.pp. Such a directory need not be a site.
func declaresEnvironments(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, loader.EnvironmentsFile))
	return err == nil
}

func checkEnvironments(dir string, disk fsx.Disk, diags *diag.List) {
	if declaresEnvironments(dir) {
		loader.ReadEnvironments(disk, dir, diags)
	}
}
