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

	"bindc/internal/diag"
	"bindc/internal/layout"
	"bindc/internal/value"
	"bindc/internal/yaml"
	bindings "bindc/runtime"
)

// hieraConfigFlags are the flags of bindq hiera-config.
type hieraConfigFlags struct {
	source
	name    string
	from    string
	options []string
}

func hieraConfigCommand() *cobra.Command {
	var f hieraConfigFlags
	cmd := &cobra.Command{
		Use:   "hiera-config",
		Short: "Print the hiera.yaml with which Puppet asks a snapshot",
		Long: "hiera-config prints a hiera.yaml of version 5 for an environment of Puppet. It\n" +
			"has a location for each candidate that a key with a list or a hash can have, so\n" +
			"that Puppet can merge them. Where -s is a directory, it is for all snapshots in\n" +
			"it, one for each environment.\n\nWith --from, the hiera.yaml of Hiera 5 that is compiled, each run of its entries\n" +
			"that bindc compiles becomes one entry, and the others keep their place: keys in\n" +
			"them stay Puppet's, and Puppet merges across.\n\nExit status: 0, or 2 an error.",
		Example: "  bindq hiera-config -s site.bsnap > hiera.yaml",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.addSnapshot(cmd)
	f.addAnswers(cmd)
	cmd.Flags().StringVar(&f.name, "name", "bindc", "`NAME` of the entry")
	cmd.Flags().StringVar(&f.from, "from", "",
		"`FILE`, the hiera.yaml of version 5 that is compiled: what bindc does not compile keeps its place")
	cmd.Flags().StringArrayVar(&f.options, "option", nil,
		"an option of the entry, `NAME=TEXT`, as socket=/run/bindq.sock (repeatable; default: snapshot)")
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
	options, err := f.entryOptions(inOptions)
	if err != nil {
		return err
	}
	if f.from != "" {
		return f.beside(cmd, files, options)
	}
	locations := 0
	for _, file := range files {
		n, err := f.locations(file)
		if err != nil {
			return err
		}
		locations = max(locations, n)
	}
	return writeHieraConfig(cmd.OutOrStdout(), hieraConfig([]value.Value{hieraEntry(f.name, locations, options)}))
}

// locations is how many locations an entry for a snapshot needs; none, where bindq does the merges of Hiera 5.
func (f *hieraConfigFlags) locations(file string) (n int, err error) {
	err = f.ask(file, func(snap *bindings.Snapshot) error {
		if snap.Hiera() {
			return nil
		}
		_, _, n, err = snap.Needs()
		return err
	})
	return n, err
}

// snapshotsAt are the snapshots at path, a file or a directory of them, and how the option snapshot names them.
func snapshotsAt(path string) (files []string, option string, err error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return []string{path}, path, nil // opening it says what is wrong
	}
	files, err = filepath.Glob(filepath.Join(path, "*.snap"))
	if err == nil && len(files) == 0 {
		none := errors.New("expected a snapshot ENVIRONMENT.snap in it, found none")
		err = &fs.PathError{Op: "read", Path: path, Err: none}
	}
	return files, filepath.Join(path, "%{environment}.snap"), err
}

// entryOptions are the options of the entry: those of the flags, or where the snapshot is.
func (f *hieraConfigFlags) entryOptions(snapshot string) (value.Value, error) {
	var b value.Builder
	for _, o := range f.options {
		name, text, ok := strings.Cut(o, "=")
		if !ok || name == "" {
			return value.Value{}, fmt.Errorf("--option: expected NAME=TEXT, found '%s'", o)
		}
		b.Set(value.FromString(name), value.FromString(text))
	}
	for _, given := range []string{"snapshot", "socket"} {
		if _, ok := b.Get(value.FromString(given)); ok {
			return b.Hash(), nil
		}
	}
	b.Set(value.FromString("snapshot"), value.FromString(snapshot))
	return b.Hash(), nil
}

// hieraEntry is an entry that asks bindc; without locations, it is one by itself.
func hieraEntry(name string, locations int, options value.Value) value.Value {
	pairs := []value.Pair{pair("name", value.FromString(name)),
		pair("lookup_key", value.FromString("bindc::lookup_key"))}
	if locations > 0 {
		uris := make([]string, locations)
		for i := range uris {
			uris[i] = fmt.Sprintf("bindc:%d", i)
		}
		pairs = append(pairs, pair("uris", value.Strings(uris...)))
	}
	return value.FromPairs(append(pairs, pair("options", options))...)
}

func hieraConfig(entries []value.Value) value.Value {
	return value.FromPairs(pair("version", value.FromInt(5)), pair("hierarchy", value.FromSlice(entries)))
}

// writeHieraConfig writes the file as bindc fmt lays it out.
func writeHieraConfig(w io.Writer, config value.Value) error {
	text, err := yaml.Write(config)
	if err != nil {
		return err
	}
	var diags diag.List
	if laidOut, ok := layout.YAML("hiera.yaml", text, &diags); ok {
		text = laidOut
	}
	_, err = w.Write(text)
	return err
}

func pair(name string, v value.Value) value.Pair {
	return value.Pair{Key: value.FromString(name), Value: v}
}
