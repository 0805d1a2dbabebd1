package migrate

import (
	"slices"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/lookupkey"
	"bindc/internal/merge"
	"bindc/internal/value"
	"bindc/loader"
)

// lookupOptions are the lookup_options of the site. Those that depend on the request are in
// uncertain. All others are in parts or, for modules, in byModule.
type lookupOptions struct {
	parts     [][]*merge.Level
	byModule  map[string][]*merge.Level
	uncertain []*merge.Level // options that may depend on the request; an element is nil if they are invalid
}

func (m *migration) lookupOptions() lookupOptions {
	out := lookupOptions{byModule: map[string][]*merge.Level{}}
	part := loader.NoHiera
	for _, o := range m.options {
		module := o.level.hierarchy.module
		compiled, err := merge.Compile(o.value, module)
		switch {
		case err != nil:
			out.uncertain = append(out.uncertain, nil)
		case !o.level.constant() || o.level.part == loader.HieraDefaults || containsAny(o.value, "%{"):
			out.uncertain = append(out.uncertain, compiled)
		case module != "":
			out.byModule[module] = append(out.byModule[module], compiled)
		default:
			if o.level.part != part {
				out.parts, part = append(out.parts, nil), o.level.part
			}
			out.parts[len(out.parts)-1] = append(out.parts[len(out.parts)-1], compiled)
		}
	}
	return out
}

// entryFor returns the lookup_options of a key, or nil if it has none. sure is false if they may
// depend on the request.
func (o lookupOptions) entryFor(key string) (e *merge.Entry, sure bool, err error) {
	for _, l := range o.uncertain {
		if l == nil || l.Erases() {
			return nil, false, nil
		}
		if touches, err := l.Touches(key, nil); touches || err != nil {
			return nil, false, err
		}
	}
	levels := slices.Clone(o.parts)
	if levelsOfModule := o.byModule[lookupkey.Module(key)]; levelsOfModule != nil {
		levels = append(levels, levelsOfModule)
	}
	options, err := merge.Combine(levels...)
	if err == nil {
		e, err = options.For(key, nil)
	}
	return e, true, err
}

// decideMerges decides which keys with lookup_options can move.
func (m *migration) decideMerges() {
	options := m.lookupOptions()
	for _, key := range m.keys {
		e, sure, err := options.entryFor(key)
		first := m.bound[key][0]
		switch m.hasOptions[key] = !sure || err != nil || !e.Plain(); {
		case err != nil:
			m.stay(first, "its lookup_options are invalid: %s", err)
		case !sure:
			m.maybeSensitive[key] = true
			m.stay(first, "its lookup_options depend on the request")
		case m.hasOptions[key]:
			m.decideMerge(key, e)
		}
	}
}

func keysLookedUpBy(text string) []string {
	var out []string
	n, _ := expr.ParseHiera(text)
	for _, k := range append([]*expr.Node{n}, n.Kids...) {
		if k.Name != expr.HieraLookup && k.Name != expr.HieraAlias {
			continue
		}
		if key, err := lookupkey.Parse(k.Kids[0].Value.Text()); err == nil {
			out = append(out, key.Root)
		}
	}
	return out
}

// decideMerge decides whether a key with lookup_options can move. That is so if a multibinding can
// give the same result.
func (m *migration) decideMerge(key string, e *merge.Entry) {
	first := m.bound[key][0]
	strategy, err := e.Strategy()
	if err != nil || e.Value().Kind() != value.Hash {
		m.stay(first, "its lookup_options are invalid")
		return
	}
	k := mergedKey{strategy: strategy.String()}
	to, _ := e.Value().Get(value.FromString("convert_to"))
	m.maybeSensitive[key] = !to.IsUndef()
	switch {
	case to.Kind() == value.String && to.Text() == "Sensitive":
		k.sensitive = true
	case !to.IsUndef():
		m.stay(first, "its lookup_options convert it to another type than Sensitive")
		return
	}
	problem := ""
	switch k.strategy {
	case "unique":
		problem = m.uniqueProblem(key)
	case "hash":
		problem = m.hashProblem(key)
	case "deep":
		options, _ := e.Value().Get(value.FromString("merge"))
		problem = m.deepProblem(key, options)
	case "first":
	default:
		problem = "it is merged by '" + k.strategy + "'"
	}
	if problem != "" {
		m.stay(first, "%s", problem)
		return
	}
	m.merged[key] = k
}

func (m *migration) uniqueProblem(key string) string {
	for _, b := range m.bound[key] {
		if k := b.value.Kind(); k == value.Hash || k == value.Undef {
			return "'unique' merges a hash or an undefined value"
		}
	}
	return ""
}

func (m *migration) hashProblem(key string) string {
	for _, b := range m.bound[key] {
		if b.value.Kind() != value.Hash {
			return "'hash' merges a value that is not a hash"
		}
		for k := range b.value.Pairs() {
			if k.Kind() != value.String || k.Text() == "" || strings.Contains(k.Text(), "%{") {
				return "a key in its hash is not a constant string"
			}
		}
	}
	return ""
}

// deepProblem returns why a multibinding cannot express the deep merge of a key, or "". The result
// must be the same as that of a hash merge: all values are hashes, no values inside them are
// merged, and there is no knockout_prefix.
func (m *migration) deepProblem(key string, options value.Value) string {
	if problem := m.hashProblem(key); problem != "" {
		return strings.Replace(problem, "'hash'", "'deep'", 1)
	}
	if options.Kind() == value.Hash {
		if prefix, ok := options.Get(value.FromString("knockout_prefix")); ok && !prefix.IsUndef() {
			return "its deep merge has a knockout_prefix"
		}
	}
	seen := map[string]bool{}
	for _, b := range m.bound[key] {
		for k, v := range b.value.Pairs() {
			composed := v.Kind() == value.Hash || v.Kind() == value.Array || v.IsUndef()
			if was, ok := seen[k.Text()]; ok && (was || composed) {
				return "its deep merge merges below the first level"
			}
			seen[k.Text()] = seen[k.Text()] || composed
		}
	}
	return ""
}

// quoted returns a key of a data file as lookups must write it, with quotes if necessary.
func quoted(key string) string {
	out, _ := lookupkey.Quoted(key)
	return out
}
