// Package mention finds names in files: keys that are bound or looked up, ids of multibindings, variables, categories
// with their values, and paths of hierarchies. It also reads files with syntax errors.
package mention

import (
	"cmp"
	"slices"
	"strings"

	"bindc/internal/lookupkey"
	"bindc/internal/lsp/buffer"
	"bindc/internal/lsp/outline"
	"bindc/internal/pattern"
	"bindc/internal/yaml"
)

// Role says how a file uses a name.
type Role uint8

// The roles. In the first four, the name is a key.
const (
	Binds     Role = iota // the file binds the key
	LooksUp               // a value looks up the key
	Options               // lookup_options mention the key
	Parameter             // the key of a class parameter, which Puppet looks up
	Collects              // the id of a multibinding, in its declaration
	Joins                 // the id of a multibinding in a contribution
	Variable              // a fact or another variable with its keys, such as os.family
	Category
	Value // a value of the category Of
	Path  // a path or glob of a hierarchy
	Environment
)

// IsKey reports whether a name in this role is a key.
func (r Role) IsKey() bool { return r <= Parameter }

// Mention is a name in a text.
type Mention struct {
	Role     Role
	Name     string
	Of       string // if Role is Value, its category
	From, To int    // offsets of the name, without quotes
}

// Kind is the kind of a file.
type Kind uint8

// The kinds.
const (
	Data         Kind = iota // a data file in YAML or JSON
	Bindings                 // a bindings file in YAML
	Config                   // hiera.yaml or binder_config.yaml
	Set                      // a bindings file in Puppet syntax
	Manifest                 // a Puppet manifest
	Environments             // environments.pp
)

// Find returns the names in a text, sorted by position. f holds the entries of a YAML file; it is nil for other files.
func Find(kind Kind, text *buffer.Text, f *outline.File) []Mention {
	w := finder{text: text}
	if kind < Set {
		w.calls()
	}
	switch kind {
	case Data:
		w.data(f)
	case Bindings:
		w.bindings(f)
	case Config:
		w.config(f)
	case Set:
		w.set()
	case Manifest:
		w.manifest()
	case Environments:
		w.environments()
	}
	slices.SortStableFunc(w.out, func(a, b Mention) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return slices.Compact(w.out)
}

// At returns the shortest mention that contains an offset, or nil.
func At(list []Mention, off int) *Mention {
	var best *Mention
	for i := range list {
		m := &list[i]
		if m.From <= off && off <= m.To && (best == nil || m.To-m.From < best.To-best.From) {
			best = m
		}
	}
	return best
}

// finder collects the names in a text.
type finder struct {
	text *buffer.Text
	out  []Mention
}

func (w *finder) add(role Role, name string, from, to int) {
	if name != "" {
		w.out = append(w.out, Mention{Role: role, Name: name, From: from, To: to})
	}
}

var (
	// call matches a lookup call with a constant key, even inside a quoted string.
	call = pattern.Lazy(`\b(?:lookup|hiera|hiera_array|hiera_hash|hiera_include|alias)\(\s*\\?['"]([^'"\\\n]+)\\?['"]`)

	// interpolation matches a variable in %{...} of Hiera 5 or ${...}.
	interpolation = pattern.Lazy(`[%$]\{\s*(?:::)?([a-z_][\w.:-]*(?:\[['"]?\w+['"]?\])*)\s*\}`)
)

// calls finds lookups and variables by patterns. It skips comment lines.
func (w *finder) calls() {
	src := w.text.Src
	for n := range w.text.Lines() {
		from, to := w.text.Line(n)
		line := src[from:to]
		if strings.HasPrefix(strings.TrimLeft(line, " \t"), "#") || !strings.ContainsAny(line, "({") {
			continue
		}
		for _, m := range call().FindAllStringSubmatchIndex(line, -1) {
			w.add(LooksUp, Root(line[m[2]:m[3]]), from+m[2], from+m[3])
		}
		for _, m := range interpolation().FindAllStringSubmatchIndex(line, -1) {
			w.add(Variable, dotted(line[m[2]:m[3]]), from+m[2], from+m[3])
		}
	}
}

// Root returns the root of a key that may dig into a value: a for a.b.
func Root(name string) string {
	k, err := lookupkey.Parse(strings.TrimPrefix(name, "::"))
	if err != nil {
		return name
	}
	root, _ := lookupkey.Quoted(k.Root)
	return root
}

var bracketed = pattern.Lazy(`\[['"]?(\w+)['"]?\]`)

// dotted returns the dotted name of a variable: os.family for facts['os']['family'].
func dotted(name string) string {
	name = bracketed().ReplaceAllString(name, ".$1")
	return strings.TrimPrefix(name, "facts.")
}

// scalar returns the text of a node and its offsets, without quotes.
func (w *finder) scalar(n *yaml.Node) (name string, from, to int) {
	name, _ = n.Text()
	from = w.text.At(pos(n), true)
	to = w.text.TokenEnd(from)
	if from < to && (w.text.Src[from] == '"' || w.text.Src[from] == '\'') {
		from, to = from+1, max(from+1, to-1)
	}
	if i := strings.Index(w.text.Src[from:lineEnd(w.text, from)], name); name != "" && i >= 0 && i < 200 {
		return name, from + i, from + i + len(name)
	}
	return name, from, to
}

func lineEnd(t *buffer.Text, off int) int {
	_, end := t.Line(t.LineOf(off))
	return max(off, end)
}

func (w *finder) addNode(role Role, n *yaml.Node) {
	name, from, to := w.scalar(n)
	w.add(role, name, from, to)
}

// data finds the keys of a data file and those of its lookup_options.
func (w *finder) data(f *outline.File) {
	if f == nil {
		return
	}
	for i := range f.Entries {
		e := &f.Entries[i]
		from := w.text.At(e.Pos, true)
		if j := strings.Index(w.text.Src[from:lineEnd(w.text, from)], e.Key); j >= 0 {
			w.add(Binds, e.Key, from+j, from+j+len(e.Key))
		}
		if e.Key == "lookup_options" && e.Value != nil {
			for key := range e.Value.Pairs() {
				w.addNode(Options, key)
			}
		}
	}
}

// SameAs reports whether two mentions refer to the same key, multibinding, variable, category or path.
func (m Mention) SameAs(other *Mention) bool {
	group := func(r Role) Role {
		switch {
		case r.IsKey():
			return Binds
		case r == Joins:
			return Collects
		}
		return r
	}
	return m.Name == other.Name && m.Of == other.Of && group(m.Role) == group(other.Role)
}
