package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"bindc/internal/hieraconfig"
	"bindc/internal/lookup"
)

type hieraConfigFlags struct {
	source
	name    string
	from    string
	options []string
	keep    []string

	lookupKey bool
}

func (g *globals) hieraConfigCommand() *cobra.Command {
	f := hieraConfigFlags{source: source{globals: g}}
	cmd := &cobra.Command{
		Use:   "hiera-config",
		Short: "Print a hiera.yaml that makes Puppet use a snapshot",
		Long: "hiera-config prints a version 5 hiera.yaml for a Puppet environment. It has a\n" +
			"location for each candidate that a key with a list or a hash can have, so that\n" +
			"Puppet can merge them. If -s is a directory, the hiera.yaml uses all\n" +
			"snapshots in it, one per environment.\n\n" +
			"--from FILE is the Hiera 5 hiera.yaml of the site. Consecutive entries that\n" +
			"bindc compiles become one entry. The others stay in place: Puppet looks up\n" +
			"their keys itself, and merges across all entries. The private keys of\n" +
			"hiera-eyaml that the file names, or the keys of --eyaml-key, become arguments of\n" +
			"the option command.\n\n" +
			"Exit status: 0, or 2 on an error.",
		Example: "  bindq hiera-config -s site.snap > hiera.yaml",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.addStrictVariables(cmd)
	cmd.Flags().StringVar(&f.name, "name", "bindc", "`NAME` of the entry")
	cmd.Flags().StringVar(&f.from, "from", "",
		"`FILE`: the Hiera 5 hiera.yaml of the site; entries that bindc does not compile stay in place")
	cmd.Flags().StringArrayVar(&f.keep, "keep", nil,
		"with --from, leave a `LEVEL`, by its name, to Puppet (repeatable)")
	cmd.Flags().BoolVar(&f.lookupKey, "lookup-key", false,
		"use bindc::lookup_key instead of the faster bindc::data_hash, for versions of the module bindc before "+
			"1.1.0")
	cmd.Flags().StringArrayVar(&f.options, "option", nil,
		"an option of the entry, `NAME=TEXT`, such as socket=/run/bindq.sock or 'command=[bindq, ARGUMENT]' "+
			"(repeatable; default: snapshot)")
	return cmd
}

func (f *hieraConfigFlags) run(cmd *cobra.Command) error {
	path, err := f.path()
	if err != nil {
		return err
	}
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	files, inOptions, err := snapshotsAt(path)
	if err != nil {
		return err
	}
	options, err := hieraconfig.ParseOptions(f.options)
	if err != nil {
		return fmt.Errorf("--option: %w", err)
	}
	options = options.WithSnapshot(inOptions)
	keys, err := f.keys()
	if err != nil {
		return err
	}
	if f.from != "" {
		return f.printCombined(cmd, files, options, keys)
	}
	if len(f.keep) > 0 {
		return errors.New("--keep: expected --from, the hiera.yaml that has the level")
	}
	locations := 0
	for _, file := range files {
		n, err := f.locations(file)
		if err != nil {
			return err
		}
		locations = max(locations, n)
	}
	return printed(cmd)(f.entry(options.WithKeys(keys)).Write(locations))
}

// keys returns the absolute paths of the hiera-eyaml private keys in the flags.
func (f *hieraConfigFlags) keys() ([]string, error) {
	var keys []string
	for _, file := range f.eyamlKeys {
		path, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		keys = append(keys, path)
	}
	return keys, nil
}

// printCombined prints the hiera.yaml of --from, but replaces each run of compiled entries with one entry for bindc. If
// keys is empty, it uses the private keys that the file names.
func (f *hieraConfigFlags) printCombined(cmd *cobra.Command, files []string, options hieraconfig.Options,
	keys []string) error {
	for _, file := range files {
		n, err := f.locations(file)
		if err != nil {
			return err
		}
		if n > 0 {
			return fmt.Errorf("--from: %s has no Hiera 5 hierarchy: build it from the site of %s", file, f.from)
		}
	}
	src, err := os.ReadFile(f.from)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	config, err := hieraconfig.Parse(f.from, src)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	for _, level := range f.keep {
		if !config.KeepNamed(level) {
			return fmt.Errorf("--keep: %s has no level '%s'", f.from, level)
		}
	}
	if len(keys) == 0 {
		keys = config.EyamlKeys()
	}
	return printed(cmd)(config.WithForeign(f.entry(options.WithKeys(keys))))
}

// entry returns the hiera.yaml entry for bindc that the flags describe.
func (f *hieraConfigFlags) entry(options hieraconfig.Options) hieraconfig.Entry {
	e := hieraconfig.Entry{Name: f.name, Options: options}
	if f.lookupKey {
		e.LookupKey = "--lookup-key asked for it"
	}
	return e
}

// printed returns a function that prints a configuration. If the function gets an error, it returns the error and
// prints nothing.
func printed(cmd *cobra.Command) func([]byte, error) error {
	return func(text []byte, err error) error {
		if err == nil {
			_, err = cmd.OutOrStdout().Write(text)
		}
		return err
	}
}

// locations returns how many locations the hiera.yaml entry for a snapshot needs, or 0 if bindq does the Hiera 5
// merges.
func (f *hieraConfigFlags) locations(file string) (n int, err error) {
	err = f.ask(file, func(snap *lookup.Snapshot) error {
		if snap.Hiera() {
			return nil
		}
		_, _, n, err = snap.Needs()
		return err
	})
	return n, err
}

// snapshotsAt returns the snapshots at path, which is a file or a directory. option is the snapshot option for the
// entry in hiera.yaml.
func snapshotsAt(path string) (files []string, option string, err error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return []string{path}, path, nil // opening the snapshot reports the error
	}
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".snap" {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	if err == nil && len(files) == 0 {
		none := errors.New("expected a snapshot ENVIRONMENT.snap in it, found none")
		err = &fs.PathError{Op: "read", Path: path, Err: none}
	}
	return files, filepath.Join(path, "%{::environment}.snap"), err
}
