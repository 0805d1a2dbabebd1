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
		Short: "Say a set of bindings in the other syntax: YAML, or Puppet's",
		Long: "convert reads a file of structured bindings and prints the same set in the other\n" +
			"syntax: of a file named .pp in YAML, of another in the syntax of Puppet. What it\n" +
			"prints is read again and means the same, but for the places.\n\n" +
			"Comments stay with the bindings they were with: one inside of a binding stands\n" +
			"above it then. Numbers are written anew, and what has been computed already is\n" +
			"its value.\n\n" +
			"Exit status: 0 it is done, 1 the file has errors or cannot be said in the other\n" +
			"syntax, 2 it cannot be read or written.",
		Example: "  bindc convert site/bindings/default.yaml -o site/bindings/default.pp",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return runConvert(cmd, args[0], output) },
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "`FILE` to write in place of standard output")
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
	signals.whole(func() {
		err = fsx.Replace(output, fsx.ReplaceOptions{Limit: fs.ModePerm}, func(to *os.File) error {
			_, err := to.Write(out)
			return err
		})
	})
	return err
}
