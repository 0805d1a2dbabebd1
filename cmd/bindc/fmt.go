package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/cli"
	"bindc/internal/fsx"
	"bindc/internal/layout"
)

func fmtCommand() *cobra.Command {
	f := formatting{}
	cmd := &cobra.Command{
		Use:   "fmt [FILE...]",
		Short: "Format the files of a site",
		Long: "fmt rewrites configuration, bindings and data files in the canonical format:\n" +
			"YAML files and, with the extension .pp, files in Puppet syntax. It only changes\n" +
			"whitespace; comments, quotes and order stay. It does not change a file whose\n" +
			"meaning would change. Without FILE, or with -, it formats standard input.\n\n" +
			"Exit status: 0 formatted, 1 a file cannot be formatted or, with -d and -l, is\n" +
			"not formatted, 2 a file cannot be read or written.",
		Example: "  bindc fmt -d site/data/common.yaml\n" +
			"  find site -name '*.yaml' -exec bindc fmt {} +",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.cmd = cmd
			f.signals.handle()
			return f.formatAll(args)
		},
	}
	cmd.Flags().BoolVarP(&f.diff, "diff", "d", false, "print what would change, and change nothing")
	cmd.Flags().BoolVarP(&f.list, "list", "l", false, "list the files that would change, and change nothing")
	return cmd
}

// formatting is the state of one run of 'bindc fmt'.
type formatting struct {
	diff, list bool

	cmd     *cobra.Command
	signals signals
	diags   diag.List
	changes bool // whether any file would change
}

// standardInput is the argument that means standard input. It is also the file's name in messages.
const standardInput = "-"

// formatAll formats files. An error in one file does not affect the others.
func (f *formatting) formatAll(paths []string) error {
	if len(paths) == 0 {
		paths = []string{standardInput}
	}
	var failed []error
	for _, path := range paths {
		if err := f.file(path); err != nil {
			failed = append(failed, err)
		}
	}
	wd, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := diag.Render(f.cmd.ErrOrStderr(), "text", f.diags.Sorted(), wd, cli.Color(os.Stderr)); err != nil {
		return err
	}
	switch {
	case len(failed) > 0:
		return errors.Join(failed...)
	case f.diags.Failed(), f.changes:
		return errRefused
	}
	return nil
}

func (f *formatting) file(path string) error {
	read := fsx.Disk{}.ReadFile
	if path == standardInput {
		read = func(string) ([]byte, error) { return io.ReadAll(f.cmd.InOrStdin()) }
	}
	src, err := read(path)
	if err != nil {
		return err
	}
	if strings.HasSuffix(path, ".json") {
		f.diags.Errorf(diag.Pos{File: path}, "layout", "expected YAML, found a JSON file, which fmt does not format")
		return nil
	}
	old, lay := string(src), layout.YAML
	if strings.HasSuffix(path, ".pp") || path == standardInput && layout.IsPuppet(src) {
		lay = layout.Puppet
	}
	laidOut, ok := lay(path, src, &f.diags)
	if !ok {
		return nil
	}
	changes := string(laidOut) != old
	switch {
	case f.diff || f.list:
		f.changes = f.changes || changes
		return f.show(path, old, laidOut)
	case path == standardInput:
		_, err := f.cmd.OutOrStdout().Write(laidOut)
		return err
	case !changes:
		return nil
	}
	f.signals.uninterrupted(func() {
		err = fsx.Replace(path, fsx.ReplaceOptions{Limit: fs.ModePerm}, func(to *os.File) error {
			_, err := to.Write(laidOut)
			return err
		})
	})
	return err
}

// show lists or diffs a changed file, depending on the flags. It prints nothing for an unchanged file.
func (f *formatting) show(path, old string, laidOut []byte) error {
	if string(laidOut) == old {
		return nil
	}
	out := f.cmd.OutOrStdout()
	if f.list {
		if _, err := fmt.Fprintln(out, diag.Visible(path)); err != nil {
			return err
		}
	}
	if !f.diff {
		return nil
	}
	_, err := out.Write(diff.Diff(path, []byte(old), path+" formatted", laidOut))
	return err
}
