package hieraconfig

import (
	"fmt"
	"iter"
	"slices"

	"bindc/internal/value"
)

// WithForeign returns a hiera.yaml that uses the snapshot but keeps what bindc does not compile. It
// replaces each run of compiled entries by one entry that queries the snapshot. It keeps all other
// entries and plan_hierarchy.
func (c Config) WithForeign(e Entry) ([]byte, error) {
	entries, foreign := c.runs().entries(e)
	if !foreign && !has(c.value, "plan_hierarchy") {
		return e.write(config(entries...))
	}
	b := value.BuilderOf(c.value, 1)
	b.Set(value.FromString("hierarchy"), value.FromSlice(entries))
	return e.write(b.Hash())
}

// hierarchy returns an iterator over the entries of the hierarchy with their numbers, from 0.
func (c Config) hierarchy() iter.Seq2[int, value.Value] {
	return func(yield func(int, value.Value) bool) {
		list, _ := get(c.value, "hierarchy")
		if list.Kind() != value.Array {
			return
		}
		for i := range list.Len() {
			if !yield(i, list.Index(i)) {
				return
			}
		}
	}
}

// Asks returns the options of the first entry that queries a snapshot. It returns false if there is
// no such entry.
func (c Config) Asks() (Options, bool) {
	for _, e := range c.hierarchy() {
		if asksBindc(c.function(e)) {
			options, _ := get(e, "options")
			return Options{options}, true
		}
	}
	return Options{}, false
}

// Keep leaves the entry with the given number to Puppet and returns the entry's name. It is for
// encrypted data if only Puppet has the keys.
func (c *Config) Keep(number int) (name string) {
	c.kept = append(c.kept, number)
	for i, e := range c.hierarchy() {
		if i == number {
			v, _ := get(e, "name")
			name = text(v)
		}
	}
	return name
}

// Keeps reports whether Keep or KeepNamed left an entry to Puppet.
func (c Config) Keeps(number int) bool { return slices.Contains(c.kept, number) }

// KeepsAll reports whether Keep or KeepNamed left all entries to Puppet.
func (c Config) KeepsAll() bool {
	return len(c.kept) > 0 && !slices.ContainsFunc(c.runs(), func(r run) bool { return r.compiled })
}

// KeepAs leaves the same entries to Puppet as other, a file that WithForeign returned for c.
func (c *Config) KeepAs(other Config) {
	for _, e := range other.hierarchy() {
		if v, _ := get(e, "name"); v.Kind() == value.String && !asksBindc(other.function(e)) {
			c.KeepNamed(text(v))
		}
	}
}

// KeepNamed leaves all entries with the given name to Puppet. It reports whether there are any.
func (c *Config) KeepNamed(name string) bool {
	before := len(c.kept)
	for i, e := range c.hierarchy() {
		if v, _ := get(e, "name"); v.Kind() == value.String && text(v) == name {
			c.kept = append(c.kept, i)
		}
	}
	return len(c.kept) > before
}

// EyamlKeys returns the paths of private keys in the options of eyaml entries, without duplicates.
func (c Config) EyamlKeys() (files []string) {
	defaults, _ := get(c.value, "defaults")
	for _, e := range c.hierarchy() {
		options, ok := get(e, "options")
		if !ok {
			options, _ = get(defaults, "options")
		}
		key, ok := get(options, "pkcs7_private_key")
		if ok && c.function(e) == eyaml && !slices.Contains(files, text(key)) {
			files = append(files, text(key))
		}
	}
	return files
}

// run is a sequence of compiled entries, or a single entry for Puppet.
type run struct {
	compiled bool
	kept     bool // left to Puppet although bindc could compile it
	from, to int  // first and last entry number
	entry    value.Value
}

type runList []run

// runs splits the hierarchy into runs. It leaves out entries that query a snapshot.
func (c Config) runs() runList {
	if list, _ := get(c.value, "hierarchy"); list.Kind() != value.Array {
		return runList{{compiled: true}}
	}
	var out runList
	for i, e := range c.hierarchy() {
		function := c.function(e)
		if asksBindc(function) {
			continue
		}
		last := len(out) - 1
		kept := isCompiled(e, function) && c.Keeps(i)
		switch compiled := isCompiled(e, function) && !kept; {
		case compiled && last >= 0 && out[last].compiled:
			out[last].to = i
		default:
			out = append(out, run{compiled, kept, i, i, e})
		}
	}
	return out
}

func asksBindc(function string) bool { return function == DataHash || function == LookupKey }

// eyaml is the Puppet function for data files with values that hiera-eyaml has encrypted.
const eyaml = "eyaml_lookup_key"

// function returns the name of the Puppet function that reads an entry's data.
func (c Config) function(entry value.Value) string {
	defaults, _ := get(c.value, "defaults")
	for _, from := range []value.Value{entry, defaults} {
		for _, key := range []string{"data_hash", "lookup_key", "data_dig", "hiera3_backend"} {
			if name, ok := get(from, key); ok {
				return text(name)
			}
		}
	}
	return "yaml_data"
}

// isCompiled reports whether bindc compiles an entry with the given function.
func isCompiled(entry value.Value, function string) bool {
	return slices.Contains([]string{"yaml_data", "json_data", eyaml}, function) &&
		slices.ContainsFunc([]string{"path", "paths", "glob", "globs", "mapped_paths"},
			func(key string) bool { return has(entry, key) })
}

// entries returns the entries of the hierarchy that WithForeign writes. foreign reports whether some of
// them are left to Puppet.
func (runs runList) entries(e Entry) (out []value.Value, foreign bool) {
	foreign = slices.ContainsFunc(runs, func(r run) bool { return !r.compiled })
	n := 0
	for _, r := range runs.bounded() {
		if !r.compiled {
			out = append(out, r.entry)
			continue
		}
		n++
		numbers := fmt.Sprintf("%d-", r.from)
		if r.to >= 0 {
			numbers += fmt.Sprint(r.to)
		}
		asked := e.Options
		if numbers != "0-" {
			asked = asked.With("entries", numbers)
		}
		called := e.Name
		if n > 1 {
			called = fmt.Sprintf("%s %d", e.Name, n)
		}
		out = append(out, e.entry(called, 0, asked))
	}
	return out, foreign
}

// bounded returns the runs with the ranges of entries that each must query. The first run begins at
// 0, so that it includes structured bindings above the hierarchy. The last run has the end -1, so
// that it includes structured bindings below the hierarchy. A range must not include kept entries,
// because the snapshot contains their data too.
func (runs runList) bounded() runList {
	out := slices.Clone(runs)
	first := slices.IndexFunc(out, func(r run) bool { return r.compiled })
	if first < 0 {
		return out
	}
	kept := func(r run) bool { return r.kept }
	if !slices.ContainsFunc(out[:first], kept) {
		out[first].from = 0
	}
	last := len(out) - 1
	for !out[last].compiled {
		last--
	}
	if slices.ContainsFunc(out[last:], kept) {
		return append(out, run{compiled: true, from: out[len(out)-1].to + 1, to: -1})
	}
	out[last].to = -1
	return out
}
