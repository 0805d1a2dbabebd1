package main

import (
	"bytes"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/cli"
	"bindc/internal/examples"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

var errExamples = &cli.Answer{Reason: "tests failed", Status: cli.ExitNo}

func (g *bounds) testCommand() *cobra.Command {
	f := flags{bounds: g, format: "text", allHint: seeCheck}
	var update bool
	format := examples.Formats[0]
	cmd := &cobra.Command{
		Use:   "test CONFDIR",
		Short: "Run the tests of a site",
		Long: "test runs the tests in CONFDIR/tests/*.yaml: for given facts, each key must\n" +
			"have the expected value. A test can compare all values of a node with a\n" +
			"golden file, which --update writes. A failure shows the expected and the actual\n" +
			"value, and explains the actual value.\n\n" +
			"Exit status: 0 all tests pass, 1 tests fail or the site has errors, 2\n" +
			"another error: usage, input or output.",
		Example: "  bindc test site\n  bindc test site --format junit > report.xml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runExamples(cmd, args[0], format, update, &f)
		},
	}
	f.addSite(cmd)
	f.addBuild(cmd)
	cmd.Flags().BoolVar(&update, "update", false, "write golden files that are missing or differ")
	cli.AddFormat(cmd, &format, examples.Formats)
	return cmd
}

// runExamples compiles the site in dir and runs its tests. update writes golden files that are missing or differ.
func runExamples(cmd *cobra.Command, dir, format string, update bool, f *flags) error {
	c, err := compiled(cmd, dir, "", f)
	if err != nil {
		return err
	}
	all := examples.Read(dir, &c.diags)
	if err := c.report(cmd, f); err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("test: expected tests in %s, found no file with 'tests_version: 1'",
			diag.Visible(filepath.Join(dir, examples.Folder.Name, "*.yaml")))
	}
	var content bytes.Buffer
	if _, err := snapshot.WriteTo(&content, c.content); err != nil {
		return err
	}
	snap, err := bindings.OpenBytes(content.Bytes(), bindings.Options{StrictVariables: f.strictVars})
	if err != nil {
		return err
	}
	defer snap.Close()
	results, err := examples.Run(snap, all, update)
	if err != nil {
		return err
	}
	if err := examples.Print(cmd.OutOrStdout(), format, results); err != nil {
		return err
	}
	if examples.Failed(results) > 0 {
		return errExamples
	}
	return nil
}
