// Package mention finds the names that files mention: keys, ids of multibindings, variables, categories and their
// values, and paths of hierarchies. It also works on files with syntax errors.
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

// Role is the role in which a file mentions a name.
type Role uint8

// Roles of names. In the first four, the name is a key.
const (
	Binds     Role = iota // the file binds the key
	LooksUp               // a value looks up the key
	Options               // lookup_options mention the key
	Parameter             // the key that Puppet looks up for a class parameter
	Collects              // id of a multibinding, where it is declared
	Joins                 // id of a multibinding, in a contribution
	Variable              // dotted path of a variable, such as os.family
	Category
	Value // value of a category; see Mention.Of
	Path  // path or glob in a hierarchy
	Environment
)

// IsKey reports whether names in this role are keys.
func (r Role) IsKey() bool { return r <= Parameter }

type Mention struct {
	Role     Role
	Name     string
	Of       string // category, if Role is Value
	From, To int    // offsets of the name, without quotes
}

// Kind is a kind of file in which names are found.
type Kind uint8

// Kinds of files.
const (
	Data     Kind = iota // YAML or JSON data
	Bindings             // bindings in YAML
	Config               // hiera.yaml or binder_config.yaml
	Set                  // bindings in Puppet syntax
	Manifest             // Puppet code
	Environments
)

// Find returns the mentions in a text, sorted by position. f is the outline of a YAML file, and nil for other files.
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

// At returns the shortest mention that contains off, or nil.
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
	// call matches a lookup with a constant key. The call may be in a quoted string.
	call = pattern.Lazy(`\b(?:lookup|hiera|hiera_array|hiera_hash|hiera_include|alias)\(\s*\\?['"]([^'"\\\n]+)\\?['"]`)

	// interpolation matches an interpolated variable, as in %{name} or ${name}.
	interpolation = pattern.Lazy(`[%$]\{\s*(?:::)?([a-z_][\w.:-]*(?:\[['"]?\w+['"]?\])*)\s*\}`)
)

// calls finds lookup calls and interpolated variables with regular expressions. It skips comment lines.
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

// Root returns the root of a key that may select part of a value: for a.b, it returns a.
func Root(name string) string {
	k, err := lookupkey.Parse(strings.TrimPrefix(name, "::"))
	if err != nil {
		return name
	}
	root, _ := lookupkey.Quoted(k.Root)
	return root
}

var bracketed = pattern.Lazy(`\[['"]?(\w+)['"]?\]`)

// dotted returns the dotted path of a variable: for facts['os']['family'], it returns os.family.
func dotted(name string) string {
	name = bracketed().ReplaceAllString(name, ".$1")
	return strings.TrimPrefix(name, "facts.")
}

// scalar returns the string in n and the offsets of its text, without quotes.
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

// data finds the keys that a data file binds, and those in its lookup_options.
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

// SameAs reports whether two mentions refer to the same thing, even if their roles differ.
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
