package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"bindc/internal/diag"
	"bindc/loader"
	"bindc/migrate"
)

func migrateCommand() *cobra.Command {
	var f flags
	var out string
	cmd := &cobra.Command{
		Use:   "migrate CONFDIR [-o DIR]",
		Short: "Print a control repository as Hiera-2 and structured bindings",
		Long: "migrate prints the site that a control repository of Hiera 5 comes to: Hiera-2\n" +
			"data, categories, and structured bindings for merges and secrets, each file\n" +
			"below its name. With -o it writes them into DIR, which is empty or not yet\n" +
			"there. A key moves with all that binds it, or stays in Hiera 5, in the directory\n" +
			"'hiera5' of the new site, and a note says why: keys have the answers they had,\n" +
			"but that the case of a category's values does not count. What the file of\n" +
			"--global-hiera binds stays, and the new site is built with that file too.\n\n" +
			"Exit status: 0 it is done, 1 CONFDIR has errors or is no site of Hiera 5 alone,\n" +
			"2 it could not be read or written.",
		Example: "  bindc migrate control -o new",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return migrateSite(cmd, args[0], out, &f) },
	}
	cmd.Flags().StringVar(&f.modulePath, "modulepath", "", "`DIRS` of modules, separated by ':'")
	cmd.Flags().StringVarP(&out, "output", "o", "", "the `DIR` to write the new site into")
	cmd.Flags().StringVar(&f.globalHiera, "global-hiera", "", "hiera.yaml, the `FILE` of the global layer of Hiera 5")
	f.addCodedir(cmd)
	cmd.Flags().BoolVar(&f.all, "all", false, "show all notes: else the first 100")
	f.format = "text"
	return cmd
}

func migrateSite(cmd *cobra.Command, dir, out string, f *flags) error {
	if err := f.check(); err != nil {
		return err
	}
	if out != "" {
		if err := mustBeEmpty(out); err != nil {
			return err
		}
	}
	if _, err := os.ReadDir(dir); err != nil {
		return fmt.Errorf("cannot read the site: %w", err)
	}
	c := &compilation{diags: diag.List{All: f.all}}
	c.site = loader.Load(dir, f.options(), &c.diags)
	var files []migrate.File
	if !c.diags.Failed() {
		var err error
		opts := migrate.Options{ModulePathGiven: f.modulePath != ""}
		if files, err = migrate.Site(dir, c.site, opts, &c.diags); err != nil {
			return err
		}
	}
	if err := c.report(cmd, f); err != nil {
		return err
	}
	if out == "" {
		return printFiles(cmd.OutOrStdout(), files)
	}
	for _, file := range files {
		if err := writeBelow(out, file); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", diag.Visible(out), diag.Count(len(files), "file"))
	return err
}

// mustBeEmpty refuses a directory in which something is that what is written could be mixed with.
func mustBeEmpty(dir string) error {
	there, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(there) > 0 {
		return fmt.Errorf("expected a directory that is empty or not there yet, found '%s' in '%s'",
			there[0].Name(), dir)
	}
	return nil
}

// printFiles prints each file below its name, as the archives of the go command have them.
func printFiles(w io.Writer, files []migrate.File) error {
	for _, f := range files {
		if _, err := fmt.Fprintf(w, "-- %s --\n%s", diag.Visible(f.Path), f.Text); err != nil {
			return err
		}
	}
	return nil
}

func writeBelow(dir string, f migrate.File) error {
	at := filepath.Join(dir, filepath.FromSlash(f.Path))
	if err := os.MkdirAll(filepath.Dir(at), 0o775); err != nil {
		return err
	}
	return os.WriteFile(at, f.Text, 0o666)
}
