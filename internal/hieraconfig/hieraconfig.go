// Package hieraconfig writes the hiera.yaml that makes Puppet look up keys in a snapshot, with functions of bindc's
// Puppet module.
package hieraconfig

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/layout"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// Functions of the Puppet module. An entry may use either function.
const (
	DataHash  = "bindc::data_hash"
	LookupKey = "bindc::lookup_key"
)

// Entry describes an entry that asks bindc.
type Entry struct {
	Name      string
	Options   Options
	LookupKey string // why the entries use LookupKey; "": they use DataHash, which is faster
}

// Options are the options of an entry that asks bindc, by name.
type Options struct{ value.Value }

// parsed lists the options whose values are not plain strings.
var parsed = []string{"command", "compare", "timeout"}

// ParseOptions parses options of the form NAME=TEXT. A command in brackets is a list of words.
func ParseOptions(given []string) (Options, error) {
	var b value.Builder
	for _, option := range given {
		name, text, ok := strings.Cut(option, "=")
		if !ok || name == "" {
			return Options{}, fmt.Errorf("expected NAME=TEXT, found '%s'", option)
		}
		v := value.FromString(text)
		if slices.Contains(parsed, name) {
			if v, ok = parse(text); !ok {
				return Options{}, fmt.Errorf("the value of %s is not YAML: '%s'", name, text)
			}
		}
		b.Set(value.FromString(name), v)
	}
	return Options{b.Hash()}, nil
}

func parse(text string) (value.Value, bool) {
	doc, ok := yaml.Parse("", []byte(text), yaml.Options{}, &diag.List{})
	if !ok || doc.Root == nil {
		return value.Value{}, false
	}
	return doc.Root.Literal(), true
}

// Has reports whether an option is given.
func (o Options) Has(name string) bool { return has(o.Value, name) }

// With returns the options with the option name set to text.
func (o Options) With(name, text string) Options { return o.with(name, value.FromString(text)) }

func (o Options) with(name string, v value.Value) Options {
	b := value.BuilderOf(o.Value, 1)
	b.Set(value.FromString(name), v)
	return Options{b.Hash()}
}

// Without returns the options without the named option.
func (o Options) Without(name string) Options {
	var b value.Builder
	for k, v := range o.Value.Pairs() {
		if text(k) != name {
			b.Set(k, v)
		}
	}
	return Options{b.Hash()}
}

// Over returns others, overridden by the options in o. If o has an option for the source of answers, options of others
// for another source are dropped.
func (o Options) Over(others Options) Options {
	if o.Has("socket") {
		others = others.Without("snapshot").Without("command")
	}
	if o.Has("snapshot") || o.Has("command") {
		others = others.Without("socket")
	}
	for k, v := range o.Value.Pairs() {
		others = others.with(text(k), v)
	}
	return others
}

// Snapshot returns the snapshot file for an environment, or "" if another program runs the server.
func (o Options) Snapshot(environment string) string {
	path, _ := get(o.Value, "snapshot")
	if path.Kind() != value.String {
		return ""
	}
	name := strings.NewReplacer("%{environment}", environment, "%{::environment}", environment)
	return name.Replace(text(path))
}

// keyFlag is bindq's flag for a private hiera-eyaml key.
const keyFlag = "--eyaml-key"

// WithSnapshot adds the option for the snapshot, unless another option determines the source of answers.
func (o Options) WithSnapshot(path string) Options {
	if o.Has("snapshot") || o.Has("socket") {
		return o
	}
	return o.With("snapshot", path)
}

// WithKeys adds private hiera-eyaml keys to the command. It does nothing if the command already names keys, or if
// another program runs the server.
func (o Options) WithKeys(files []string) Options {
	command := o.Command()
	if len(files) == 0 || o.Has("socket") || slices.ContainsFunc(command, namesKey) {
		return o
	}
	for _, file := range files {
		command = append(command, keyFlag, file)
	}
	return o.with("command", value.Strings(command...))
}

func namesKey(word string) bool { return word == keyFlag || strings.HasPrefix(word, keyFlag+"=") }

// Command returns the program that the module starts, with its arguments.
func (o Options) Command() []string {
	v, ok := get(o.Value, "command")
	switch {
	case !ok:
		return []string{"bindq"}
	case v.Kind() != value.Array:
		return []string{text(v)}
	}
	var words []string
	for i := range v.Len() {
		words = append(words, text(v.Index(i)))
	}
	return words
}

// Write returns a hiera.yaml with one entry, which has the given number of locations; 0 means an entry without
// locations.
func (e Entry) Write(locations int) ([]byte, error) {
	return e.write(config(e.entry(e.Name, locations, e.Options)))
}

func config(entries ...value.Value) value.Value {
	return value.FromPairs(pair("version", value.FromInt(5)), pair("hierarchy", value.FromSlice(entries)))
}

// entry returns an entry that asks bindc, with a URI for each location.
func (e Entry) entry(name string, locations int, options Options) value.Value {
	pairs := []value.Pair{pair("name", value.FromString(name)), pair("data_hash", value.FromString(DataHash))}
	if e.LookupKey != "" {
		pairs[1] = pair("lookup_key", value.FromString(LookupKey))
	}
	if locations > 0 {
		uris := make([]string, locations)
		for i := range uris {
			uris[i] = fmt.Sprintf("bindc:%d", i)
		}
		pairs = append(pairs, pair("uris", value.Strings(uris...)))
	}
	return value.FromPairs(append(pairs, pair("options", options.Value))...)
}

// write formats config like bindc fmt. A comment in the file explains why it does not use DataHash.
func (e Entry) write(config value.Value) ([]byte, error) {
	src, err := yaml.Write(config)
	if err != nil {
		return nil, err
	}
	var diags diag.List
	if formatted, ok := layout.YAML("hiera.yaml", src, &diags); ok {
		src = formatted
	}
	if e.LookupKey != "" {
		src = append([]byte("# "+LookupKey+" instead of "+DataHash+": "+e.LookupKey+"\n"), src...)
	}
	return src, nil
}

var (
	errYAML = errors.New("not valid YAML; 'bindc check' shows where")

	// ErrVersion means that the version of a hiera.yaml is not 5.
	ErrVersion = errors.New("expected a hiera.yaml with 'version: 5'")
)

// Config is a version 5 hiera.yaml.
type Config struct {
	value value.Value
	kept  []int // entries left to Puppet although bindc can compile them
}

// Parse parses a hiera.yaml. path names the file in messages.
func Parse(path string, src []byte) (Config, error) {
	var diags diag.List
	doc, ok := yaml.Parse(path, src, yaml.Options{}, &diags)
	if !ok || doc.Root == nil {
		return Config{}, fmt.Errorf("%s: %w", path, errYAML)
	}
	v := doc.Root.Literal()
	if version, _ := get(v, "version"); version.Kind() != value.Int || version.Int() != 5 {
		return Config{}, fmt.Errorf("%s: %w", path, ErrVersion)
	}
	return Config{value: v}, nil
}

func pair(name string, v value.Value) value.Pair {
	return value.Pair{Key: value.FromString(name), Value: v}
}

// get returns the value of a key in a hash. It returns undef for a missing key, and if v is not a hash.
func get(v value.Value, name string) (value.Value, bool) {
	if v.Kind() != value.Hash {
		return value.Value{}, false
	}
	return v.Get(value.FromString(name))
}

func has(v value.Value, name string) bool {
	_, ok := get(v, name)
	return ok
}

func text(v value.Value) string { return string(value.AppendText(nil, v)) }
