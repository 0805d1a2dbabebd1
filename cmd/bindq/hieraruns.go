package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"bindc/internal/diag"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// beside prints the hiera.yaml that is compiled with each run of compiled entries as one that asks bindc, and all
// others as they are.
func (f *hieraConfigFlags) beside(cmd *cobra.Command, snapshots []string, options value.Value) error {
	for _, file := range snapshots {
		n, err := f.locations(file)
		if err != nil {
			return err
		}
		if n > 0 {
			return fmt.Errorf("--from: %s has no hierarchy of Hiera 5: build it from the site of %s", file, f.from)
		}
	}
	config, err := readHiera5(f.from)
	if err != nil {
		return err
	}
	hierarchy, _ := config.Get(value.FromString("hierarchy"))
	runs := hieraRuns(hierarchy, config)
	entries, foreign := runs.entries(f.name, options)
	if !foreign {
		return writeHieraConfig(cmd.OutOrStdout(), hieraConfig(entries))
	}
	b := value.BuilderOf(config, 1)
	b.Set(value.FromString("hierarchy"), value.FromSlice(entries))
	return writeHieraConfig(cmd.OutOrStdout(), b.Hash())
}

// readHiera5 reads a configuration of Hiera 5.
func readHiera5(path string) (value.Value, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return value.Value{}, fmt.Errorf("--from: %w", err)
	}
	var diags diag.List
	doc, ok := yaml.Parse(path, src, yaml.Options{}, &diags)
	if !ok || doc.Root == nil {
		return value.Value{}, fmt.Errorf("--from: %s is no YAML that can be read: bindc check says where", path)
	}
	v := doc.Root.Literal()
	version, _ := v.Get(value.FromString("version"))
	if version.Kind() != value.Int || version.Int() != 5 {
		return value.Value{}, fmt.Errorf("--from: %s: expected a hiera.yaml with 'version: 5'", path)
	}
	return v, nil
}

// hieraRun is entries of a hierarchy that are all compiled, or one that is Puppet's.
type hieraRun struct {
	compiled bool
	from, to int // of the hierarchy
	entry    value.Value
}

type hieraRunList []hieraRun

// hieraRuns are the runs of a hierarchy.
func hieraRuns(hierarchy, config value.Value) hieraRunList {
	if hierarchy.Kind() != value.Array {
		return hieraRunList{{compiled: true}}
	}
	var out hieraRunList
	for i := range hierarchy.Len() {
		e := hierarchy.Index(i)
		function := hieraFunction(e, config)
		if function == "bindc::lookup_key" {
			continue
		}
		last := len(out) - 1
		switch compiled := hieraCompiled(e, function); {
		case compiled && last >= 0 && out[last].compiled:
			out[last].to = i
		default:
			out = append(out, hieraRun{compiled, i, i, e})
		}
	}
	return out
}

// hieraFunction is the function that reads the data of an entry.
func hieraFunction(entry, config value.Value) string {
	defaults, _ := config.Get(value.FromString("defaults"))
	for _, from := range []value.Value{entry, defaults} {
		for _, key := range []string{"data_hash", "lookup_key", "data_dig", "hiera3_backend"} {
			if name, ok := from.Get(value.FromString(key)); ok {
				return string(value.AppendText(nil, name))
			}
		}
	}
	return "yaml_data"
}

// hieraCompiled tells whether bindc compiles an entry.
func hieraCompiled(entry value.Value, function string) bool {
	has := func(key string) bool {
		_, ok := entry.Get(value.FromString(key))
		return ok
	}
	return slices.Contains([]string{"yaml_data", "json_data", "eyaml_lookup_key"}, function) &&
		slices.ContainsFunc([]string{"path", "paths", "glob", "globs", "mapped_paths"}, has)
}

// entries are the entries of the new hierarchy; foreign tells whether there are some of Puppet's. What is structured is
// above those of the first run, or below those of the last.
func (runs hieraRunList) entries(name string, options value.Value) (out []value.Value, foreign bool) {
	first := slices.IndexFunc(runs, func(r hieraRun) bool { return r.compiled })
	last := len(runs) - 1
	for last > first && !runs[last].compiled {
		last--
	}
	foreign = slices.ContainsFunc(runs, func(r hieraRun) bool { return !r.compiled })
	n := 0
	for i, r := range runs {
		if !r.compiled {
			out = append(out, r.entry)
			continue
		}
		n++
		if i == first {
			r.from = 0
		}
		numbers := fmt.Sprintf("%d-%d", r.from, r.to)
		if i == last {
			numbers = fmt.Sprintf("%d-", r.from)
		}
		asked := options
		if numbers != "0-" {
			b := value.BuilderOf(options, 1)
			b.Set(value.FromString("entries"), value.FromString(numbers))
			asked = b.Hash()
		}
		entry := name
		if n > 1 {
			entry = fmt.Sprintf("%s %d", name, n)
		}
		out = append(out, hieraEntry(entry, 0, asked))
	}
	return out, foreign
}
