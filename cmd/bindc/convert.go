package main

import (
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/bindingsfile"
	"bindc/internal/cli"
	"bindc/internal/fsx"
	"bindc/loader"
)

func convertCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "convert FILE",
		Short: "Convert a bindings file between YAML and Puppet syntax",
		Long: "convert prints a bindings file in the other syntax: a .pp file in YAML, and any\n" +
			"other file in Puppet syntax. It checks that the meaning is the same.\n\n" +
			"Comments stay with their bindings: a comment inside a binding moves above it.\n" +
			"Numbers get their usual form, and constant expressions become their values.\n\n" +
			"Exit status: 0 converted, 1 the file has errors or no equivalent in the other\n" +
			"syntax, 2 it cannot be read or written.",
		Example: "  bindc convert site/bindings/default.yaml -o site/bindings/default.pp",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return runConvert(cmd, args[0], output) },
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "`FILE` to write instead of standard output")
	return cmd
}

func runConvert(cmd *cobra.Command, path, output string) error {
	src, err := fsx.Disk{}.ReadFile(path)
	if err != nil {
		return err
	}
	names, err := loader.NamesOfSet(fsx.Disk{}, path)
	if err != nil {
		return err
	}
	var diags diag.List
	out, ok := bindingsfile.Convert(path, src, names, &diags)
	wd, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := diag.Render(cmd.ErrOrStderr(), "text", diags.Sorted(), wd, cli.Color(os.Stderr)); err != nil {
		return err
	}
	switch {
	case !ok:
		return errRefused
	case output == "":
		_, err := cmd.OutOrStdout().Write(out)
		return err
	}
	var signals signals
	signals.handle()
	signals.uninterrupted(func() {
		err = fsx.Replace(output, fsx.ReplaceOptions{Limit: fs.ModePerm}, func(to *os.File) error {
			_, err := to.Write(out)
			return err
		})
	})
	return err
}
