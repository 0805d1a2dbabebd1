// Package hieraconfig reads hiera.yaml files and writes ones that make Puppet look up keys in a
// snapshot. They use functions of bindc's Puppet module.
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

// The functions of the Puppet module that query a snapshot. An entry uses one of them.
const (
	DataHash  = "bindc::data_hash"
	LookupKey = "bindc::lookup_key"
)

// Entry describes an entry of a hiera.yaml that queries a snapshot.
type Entry struct {
	Name      string
	Options   Options
	LookupKey string // the reason for using LookupKey; if "", the entry uses DataHash, which is faster
}

// Options is a hash with the options of an entry that queries a snapshot.
type Options struct{ value.Value }

// parsed lists the options whose values are parsed as YAML. The values of all others are strings.
var parsed = []string{"command", "compare", "timeout"}

// ParseOptions parses options of the form NAME=TEXT. TEXT may be a YAML value for some options; for
// example, a command may be a list of words.
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

func (o Options) Has(name string) bool { return has(o.Value, name) }

// With returns a copy of the options in which the option name is set to text.
func (o Options) With(name, text string) Options { return o.with(name, value.FromString(text)) }

func (o Options) with(name string, v value.Value) Options {
	b := value.BuilderOf(o.Value, 1)
	b.Set(value.FromString(name), v)
	return Options{b.Hash()}
}

// Without returns a copy of the options without the option name.
func (o Options) Without(name string) Options {
	var b value.Builder
	for k, v := range o.Value.Pairs() {
		if text(k) != name {
			b.Set(k, v)
		}
	}
	return Options{b.Hash()}
}

// Over returns the union of both options; o takes precedence. If o says where to look up keys
// (socket, snapshot or command), Over drops options of others that say otherwise.
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

// Snapshot returns the path of the snapshot for an environment, or "" if the options do not have
// one.
func (o Options) Snapshot(environment string) string {
	path, _ := get(o.Value, "snapshot")
	if path.Kind() != value.String {
		return ""
	}
	name := strings.NewReplacer("%{environment}", environment, "%{::environment}", environment)
	return name.Replace(text(path))
}

// keyFlag is the flag of bindq for private hiera-eyaml keys.
const keyFlag = "--eyaml-key"

// WithSnapshot returns the options with the option snapshot set to path. It does not change options
// that already have a snapshot or a socket.
func (o Options) WithSnapshot(path string) Options {
	if o.Has("snapshot") || o.Has("socket") {
		return o
	}
	return o.With("snapshot", path)
}

// WithKeys returns the options with private hiera-eyaml keys added to the command. It does not
// change options whose command already has keys, or that have a socket.
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

// Command returns the program that the Puppet module starts, followed by its arguments.
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

// Write returns a hiera.yaml whose only entry is e. If locations is not 0, the entry has that many
// URIs.
func (e Entry) Write(locations int) ([]byte, error) {
	return e.write(config(e.entry(e.Name, locations, e.Options)))
}

func config(entries ...value.Value) value.Value {
	return value.FromPairs(pair("version", value.FromInt(5)), pair("hierarchy", value.FromSlice(entries)))
}

// entry returns the entry as a hash. It has a URI for each location.
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

// write formats config as bindc fmt does. If the entries use LookupKey, it adds a comment with the
// reason.
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

	// ErrVersion is the error for a hiera.yaml of another version than 5.
	ErrVersion = errors.New("expected a hiera.yaml with 'version: 5'")
)

// Config is a version 5 hiera.yaml.
type Config struct {
	value value.Value
	kept  []int // entries left to Puppet although bindc could compile them
}

// Parse parses a version 5 hiera.yaml. path is the name of the file in error messages.
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

// get returns the value of a key in a hash. It returns false if the key is missing or v is not a
// hash.
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
