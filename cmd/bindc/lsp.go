package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"bindc/internal/cli"
	"bindc/internal/lsp"
	"bindc/internal/lsp/analysis"
)

func (g *bounds) lspCommand() *cobra.Command {
	f := flags{bounds: g}
	var read []string
	var factsDir string
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "Serve an editor over the Language Server Protocol",
		Long: "lsp speaks the Language Server Protocol on standard input and output. Editors\n" +
			"start it. It reports what 'bindc check --lint' reports while you type, and\n" +
			"shows who wins for a key, and where a key is bound. It works in each site in the\n" +
			"folders of the editor.\n\n" +
			"It runs no programs, decrypts nothing, and reads no files outside of the folders\n" +
			"of the editor and the directories that flags name.\n\n" +
			"Exit status: 0 the editor closed the connection, 2 on an error.",
		Example: "  bindc lsp\n" +
			"  bindc lsp --read /etc/puppetlabs/code/modules --lint=-near_key",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.serveEditor(cmd, read, factsDir)
		},
	}
	f.addSite(cmd)
	cmd.Flags().StringVar(&f.globalHiera, "global-hiera", "", "`FILE` with the hiera.yaml of Hiera 5's global layer")
	f.addCodedir(cmd)
	cmd.Flags().BoolVar(&f.lenient, "lenient", false,
		"if a Hiera 5 data file cannot be read, fail only the lookups that reach it")
	cmd.Flags().BoolVar(&f.strictVars, "strict-variables", false, "fail lookups that use an unknown variable")
	cmd.Flags().StringSliceVar(&f.lint.words, "lint", []string{allCodes},
		"report lints: all, or only those in `CODES`; -CODE reports all except that one")
	cmd.Flags().StringArrayVar(&read, "read", nil, "`DIR` that may be read, although no folder of the editor "+
		"contains it (repeatable)")
	cmd.Flags().StringVar(&factsDir, "facts-dir", "", "`DIR` with one facts file per node: hovers show who wins for "+
		"how many nodes")
	return cmd
}

// serveEditor speaks the Language Server Protocol on standard input and output, until the editor closes the connection.
func (f *flags) serveEditor(cmd *cobra.Command, read []string, factsDir string) error {
	if err := f.check(); err != nil {
		return err
	}
	if err := f.lint.choose(); err != nil {
		return err
	}
	options := f.options()
	fence := append(read, options.ModulePath...)
	for _, path := range []string{f.binderConfig, f.globalHiera} {
		if path != "" {
			fence = append(fence, path)
		}
	}
	err := lsp.Serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), lsp.Options{
		Analysis: analysis.Options{Loader: options, Strict: f.strictVars, Effort: f.effort,
			Lints: f.lint.codes, Fence: fence},
		FactsDir: factsDir, Version: cli.Version()})
	if err != nil {
		return &cli.External{Err: fmt.Errorf("the connection to the editor failed: %w", err)}
	}
	return nil
}
