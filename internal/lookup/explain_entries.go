package lookup

import (
	"path"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/lookupkey"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/snapshot"
)

var partNames = map[snapshot.HieraPart]string{snapshot.HieraGlobal: "global",
	snapshot.HieraEnvironment: "environment", snapshot.HieraModule: "module",
	snapshot.HieraDefaults: "default_hierarchy"}

// placedValue is an effective binding of Hiera 5 and its place in the hierarchies.
type placedValue struct {
	snapshot.HieraPlace
	value Candidate
	file  string
	used  bool
}

// locations returns all locations in the hierarchies where key may be bound, with the values found there. root is the
// bound key, or "" if it is key itself.
func (x *explainer) locations(key, root string) (out []Location, err error) {
	h := x.r.snap.hierarchies.Load()
	if h == nil || h.written.Len() == 0 || internal(key) || x.brief {
		return nil, nil
	}
	if root == "" {
		root = key
	}
	if err := x.readFiles(); err != nil {
		return nil, err
	}
	found, err := x.placedValues(root)
	if err != nil {
		return nil, err
	}
	module := moduleOf(root)
	for written := range h.written.Elems() {
		if !isHierarchy(written) { // Verify does not check it, because only explanations use it
			continue
		}
		part := snapshot.HieraPart(written.Index(0).Int())
		owner := written.Index(1).Text()
		if owner != "" && owner != module {
			continue
		}
		for number := range written.Index(3).Len() {
			e := Location{Part: partNames[part], Module: strings.Clone(owner), Number: number,
				Config: strings.Clone(written.Index(2).Text())}
			out = append(out, x.located(e, written.Index(3).Index(number), part, found)...)
		}
	}
	return out, nil
}

// moduleOf returns the name of the module that key begins with, or "".
func moduleOf(key string) string {
	if k, err := lookupkey.Parse(key); err == nil {
		key = k.Root
	}
	name, _, qualified := strings.Cut(key, "::")
	if !qualified {
		return ""
	}
	return name
}

func (x *explainer) placedValues(key string) (out []*placedValue, err error) {
	places := x.r.file.Hiera()
	bs, _, err := x.bindings(key)
	if key == optionsKey {
		bs, err = x.bindingsOf(recipe.LookupOptionsKey)
	}
	if err != nil || len(places) == 0 {
		return nil, err
	}
	for _, b := range bs {
		position := places[b.Layer]
		c, err := x.candidate(b.Binding, new(string))
		if err != nil {
			return nil, err
		}
		if position.Part == snapshot.NoHiera || c.State == NotEffective {
			continue
		}
		o, r, err := x.evaluate(key, b, b.Level())
		if err != nil {
			return nil, err
		}
		if c.Outcome = o; r != nil && r.Kind == recipe.Expression {
			c.Variables = x.interpolated(r.Expr)
			if text, ok := expr.HieraSource(r.Expr); ok && strings.Contains(text, "%{") {
				c.Text = strings.Clone(text)
			}
		}
		out = append(out, &placedValue{position, c, diag.ParsePos(c.At).File, false})
	}
	return out, nil
}

func (x *explainer) interpolated(n *expr.Node) (out []Candidate) {
	expr.HieraVariables(n, func(_ int, path []string) {
		v := Candidate{Name: strings.Clone(strings.Join(path, "."))}
		var keys []value.Value
		for _, key := range path[1:] {
			keys = append(keys, value.FromString(key))
		}
		_, v.Outcome.Found = x.r.facts.lookup(path[0])
		v.Outcome.Value = FromValue(x.r.facts.at(path[0], keys, true))
		if !slices.ContainsFunc(out, func(other Candidate) bool { return other.Name == v.Name }) {
			out = append(out, v)
		}
	})
	return out
}

// located returns the locations of the entry e. written is the source of the entry, and found has all values of the
// key.
func (x *explainer) located(e Location, written value.Value, part snapshot.HieraPart, found []*placedValue) []Location {
	e.Entry = strings.Clone(written.Index(0).Text())
	var out []Location
	for i := 1; i < written.Len(); i++ {
		w, l := written.Index(i), e
		l.Kind, l.Original = strings.Clone(w.Index(0).Text()), strings.Clone(w.Index(1).Text())
		if below, ok := x.pathOf(w.Index(3)); ok && l.Kind != "mapped_paths" {
			l.Path = path.Join(w.Index(2).Text(), below)
			l.Exists = x.isInput(l.Path)
		}
		for _, p := range found {
			here := p.Part == part && p.Entry == e.Number && !p.used
			if here && (p.file == l.Path || l.Kind != "path") {
				p.used, l.Exists = true, true
				l.Found = append(l.Found, p.value)
			}
		}
		out = append(out, l)
	}
	if out == nil {
		return []Location{e}
	}
	return out
}

// pathOf returns the path of a location below its datadir. below is that path, or the number of the dimension that
// yields it.
func (x *explainer) pathOf(below value.Value) (string, bool) {
	if below.Kind() == value.String {
		return below.Text(), true
	}
	if n := below.Int(); n < 0 || n >= int64(len(x.r.snap.dimensions)) {
		return "", false
	}
	text, err := x.r.snap.dimensions[below.Int()].text(x.r.facts)
	return text, err == nil
}

// isInput reports whether file is one of the files that the snapshot was built from.
func (x *explainer) isInput(file string) bool {
	_, found := slices.BinarySearchFunc(x.files, file, func(in snapshot.Input, name string) int {
		return strings.Compare(in.Path, name)
	})
	return found
}
