package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/facts"
	"bindc/internal/fsx"
	"bindc/internal/manifest"
	"bindc/internal/migrate"
	"bindc/internal/migrate/proof"
	"bindc/loader"
)

type migrateFlags struct {
	out, factsDir, merges string
}

func (g *bounds) migrateCommand() *cobra.Command {
	f := flags{bounds: g}
	var own migrateFlags
	cmd := &cobra.Command{
		Use:   "migrate CONFDIR [-o DIR]",
		Short: "Convert a Hiera 5 control repository to Hiera 2 and bindings",
		Long: "migrate converts a Hiera 5 control repository to Hiera 2 data, categories, and\n" +
			"structured bindings for merges and secrets. It prints each file, preceded by its\n" +
			"name. With -o it writes them into DIR, which must be empty or new. A key moves\n" +
			"with all of its bindings, or stays in Hiera 5, in the directory 'hiera5' of the\n" +
			"new site, and a note gives the reason. Keys from the file of --global-hiera stay\n" +
			"there; the new site is built with that file too.\n\n" +
			"migrate builds both sites and compares their answers: every key, with every\n" +
			"merge that a caller can ask for, for requests made from the rows of the decision\n" +
			"tables of both sites, and for each node of --facts-dir. A key whose answer\n" +
			"would differ stays in Hiera 5. The end of the output lists what was compared.\n" +
			"'--merges asked' compares only the merges that manifests below CONFDIR, and in\n" +
			"modules, use.\n\n" +
			"Exit status: 0 done, 1 CONFDIR has errors, uses more than Hiera 5, or cannot be\n" +
			"migrated without changing answers, 2 another error: usage, input or output.",
		Example: "  bindc migrate control -o new --facts-dir facts",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return migrateSite(cmd, args[0], &f, &own) },
	}
	cmd.Flags().StringVar(&f.modulePath, "modulepath", "", "`DIRS` of modules, separated by ':'")
	cmd.Flags().StringVarP(&own.out, "output", "o", "", "the `DIR` to write the new site into")
	cmd.Flags().StringVar(&f.globalHiera, "global-hiera", "", "`FILE` with the hiera.yaml of Hiera 5's global layer")
	f.addCodedir(cmd)
	cmd.Flags().StringVar(&own.factsDir, "facts-dir", "",
		"compare the answers for each node in `DIR`, a facts file per node")
	cmd.Flags().StringVar(&own.merges, "merges", "all",
		"compare `WHICH` merges: 'all', or 'asked' for those that manifests use")
	cmd.Flags().BoolVar(&f.all, "all", false, "show all notes; by default only the first 100")
	f.format = "text"
	return cmd
}

func migrateSite(cmd *cobra.Command, dir string, f *flags, own *migrateFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	if own.merges != "all" && own.merges != "asked" {
		return fmt.Errorf("--merges: expected all or asked, found '%s'", own.merges)
	}
	if own.out != "" {
		if err := mustBeEmpty(own.out); err != nil {
			return err
		}
	}
	if _, err := os.ReadDir(dir); err != nil {
		return fmt.Errorf("cannot read the site: %w", err)
	}
	c := &compilation{diags: diag.List{All: f.all}}
	c.site = loader.Load(dir, f.options(), &c.diags)
	var files []migrate.File
	var report *proof.Report
	if !c.diags.Failed() {
		opts, err := proofOptions(dir, f, own)
		if err != nil {
			return err
		}
		if files, report, err = proof.Migrate(dir, c.site, opts, &c.diags); err != nil {
			return err
		}
	}
	if err := c.report(cmd, f); err != nil {
		return err
	}
	if own.out == "" {
		return errors.Join(printFiles(cmd.OutOrStdout(), files), printReport(cmd.ErrOrStderr(), report),
			printForPuppet(cmd.ErrOrStderr(), c.site, "DIR", files))
	}
	for _, file := range files {
		if err := writeBelow(own.out, file); err != nil {
			return err
		}
	}
	written := diag.Count(len(files), "file")
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", diag.Visible(own.out), written)
	return errors.Join(err, printReport(cmd.OutOrStdout(), report),
		printForPuppet(cmd.OutOrStdout(), c.site, own.out, files))
}

// proofOptions returns the options for comparing both sites. It reads the facts and the manifests.
func proofOptions(dir string, f *flags, own *migrateFlags) (opts proof.Options, err error) {
	opts.Migrate.ModulePathGiven = f.modulePath != ""
	opts.Load = loader.Options{GlobalHiera: f.globalHiera, Codedir: f.codedir, IsSite: true}
	opts.OnlyAsked = own.merges == "asked"
	if own.factsDir != "" {
		if opts.Nodes, err = facts.ReadDir(own.factsDir); err != nil {
			return opts, err
		}
	}
	modules := f.options().ModulePath
	if modules == nil {
		conf, err := os.ReadFile(filepath.Join(dir, "environment.conf"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return opts, err
		}
		if modules, err = loader.ListedModules(fsx.Disk{}, conf, dir); err != nil {
			return opts, err
		}
	}
	dirs := []string{dir}
	for _, m := range modules {
		info, err := os.Stat(m)
		switch {
		case err == nil && info.IsDir():
			dirs = append(dirs, m)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return opts, err
		}
	}
	opts.Calls, err = manifest.Read(dirs)
	return opts, err
}

// printReport prints what was compared. If r is nil, it prints nothing.
func printReport(w io.Writer, r *proof.Report) error {
	if r == nil {
		return nil
	}
	for _, line := range r.Strings() {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// mustBeEmpty rejects a directory whose files could be confused with those of a new site. Hidden files, such as .git,
// and files such as README and LICENSE are allowed.
func mustBeEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "README") && !strings.HasPrefix(name, "LICENSE") {
			return fmt.Errorf("expected a new or empty directory, found '%s' in '%s'", name, dir)
		}
	}
	return nil
}

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
