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

// lookupOptions are those of the site: what is the same in every request, part by part and by module, and what is not.
type lookupOptions struct {
	parts     [][]*merge.Level
	byModule  map[string][]*merge.Level
	uncertain []*merge.Level // nil: of every key
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
		case !o.level.constant() || o.level.part == loader.HieraDefaults || hasInterpolation(o.value, "%{"):
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

// of is what counts for a key; not sure, if that depends on the request.
func (o lookupOptions) of(key string) (e *merge.Entry, sure bool, err error) {
	for _, l := range o.uncertain {
		if l == nil || l.Erases() {
			return nil, false, nil
		}
		if touches, err := l.Touches(key, nil); touches || err != nil {
			return nil, false, err
		}
	}
	levels := slices.Clone(o.parts)
	if of := o.byModule[lookupkey.Module(key)]; of != nil {
		levels = append(levels, of)
	}
	options, err := merge.Combine(levels...)
	if err == nil {
		e, err = options.For(key, nil)
	}
	return e, true, err
}

// decideMerges finds what lookup_options make of the keys.
func (m *migration) decideMerges() {
	options := m.lookupOptions()
	for _, key := range m.keys {
		e, sure, err := options.of(key)
		first := m.bound[key][0]
		switch m.touched[key] = !sure || err != nil || !e.Plain(); {
		case err != nil:
			m.stay(first, "lookup_options are none: %s", err)
		case !sure:
			m.secret[key] = true
			m.stay(first, "lookup_options that depend on the request say how it is looked up")
		case m.touched[key]:
			m.decideMerge(key, e)
		}
	}
}

// asked are the keys that a text looks up.
func asked(text string) []string {
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

// decideMerge says what lookup_options ask for of a key as a multibinding, where there is one that does the same.
func (m *migration) decideMerge(key string, e *merge.Entry) {
	first := m.bound[key][0]
	strategy, err := e.Strategy()
	if err != nil || e.Value().Kind() != value.Hash {
		m.stay(first, "its lookup_options are none")
		return
	}
	k := mergedKey{strategy: strategy.String()}
	to, _ := e.Value().Get(value.FromString("convert_to"))
	m.secret[key] = !to.IsUndef()
	switch {
	case to.Kind() == value.String && to.Text() == "Sensitive":
		k.sensitive = true
	case !to.IsUndef():
		m.stay(first, "convert_to is another type than Sensitive")
		return
	}
	problem := ""
	switch k.strategy {
	case "unique":
		problem = m.uniqueProblem(key)
	case "hash":
		problem = m.hashProblem(key)
	case "deep":
		how, _ := e.Value().Get(value.FromString("merge"))
		problem = m.deepProblem(key, how)
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
			return "a hash, or nothing, is merged by 'unique'"
		}
	}
	return ""
}

func (m *migration) hashProblem(key string) string {
	for _, b := range m.bound[key] {
		if b.value.Kind() != value.Hash {
			return "something that is no hash is merged by 'hash'"
		}
		for k := range b.value.Pairs() {
			if k.Kind() != value.String || k.Text() == "" || strings.Contains(k.Text(), "%{") {
				return "the names in it are no constant strings"
			}
		}
	}
	return ""
}

// deepProblem is empty where nothing but hashes of one level meet, in which the higher value counts, and nothing is
// knocked out.
func (m *migration) deepProblem(key string, how value.Value) string {
	if problem := m.hashProblem(key); problem != "" {
		return strings.Replace(problem, "'hash'", "'deep'", 1)
	}
	if how.Kind() == value.Hash {
		if prefix, ok := how.Get(value.FromString("knockout_prefix")); ok && !prefix.IsUndef() {
			return "a deep merge knocks out what begins with a prefix"
		}
	}
	seen := map[string]bool{}
	for _, b := range m.bound[key] {
		for k, v := range b.value.Pairs() {
			composed := v.Kind() == value.Hash || v.Kind() == value.Array || v.IsUndef()
			if was, ok := seen[k.Text()]; ok && (was || composed) {
				return "what is deeper than one level is merged"
			}
			seen[k.Text()] = seen[k.Text()] || composed
		}
	}
	return ""
}

// quoted is a key of a file as it is bound.
func quoted(key string) string {
	out, _ := lookupkey.Quoted(key)
	return out
}
