package explore

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"bindc/diag"
	"bindc/facts"
	"bindc/internal/lookup"
	"bindc/internal/report/affected"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// factValues maps the names of facts to their known values, sorted. These are the values that nodes have or conditions
// mention. If a fact has more than maxListed values, its list is empty.
type factValues map[string][]string

// takeFacts sets c.facts for all facts that the data reads.
func (c *census) takeFacts(d *Data) {
	var mu sync.Mutex
	c.facts = factValues{}
	affected.InParallel(len(d.reads), func(i int) {
		for name, values := range d.valuesAt(d.reads[i]) {
			d.addConditions(name, values)
			list := slices.Sorted(maps.Keys(values))
			if len(list) > maxListed {
				list = nil
			}
			mu.Lock()
			c.facts[name] = list
			mu.Unlock()
		}
	})
}

// valuesAt returns the values that nodes have for the facts from which the variable at path is read. It gives up on a
// fact after maxListed values.
func (d *Data) valuesAt(path string) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	add := func(name, value string) {
		if out[name] == nil {
			out[name] = map[string]bool{}
		}
		if len(out[name]) <= maxListed && value != "" {
			out[name][value] = true
		}
	}
	byDefault := environmentOf(facts.Node{}).Value
	for i := range d.nodes {
		n := &d.nodes[i]
		if path == environment {
			add(path, cmp.Or(n.Environment, textAt(n.Facts, path), byDefault))
		} else if name, value, ok := factAt(*n, path); ok {
			for _, f := range appendFacts(nil, name, value) {
				add(f.Name, f.Value)
			}
		}
	}
	return out
}

// textAt returns the scalar at a dotted path in a hash as text. It returns "" if there is none.
func textAt(hash bindings.Value, path string) string {
	value, ok := dig(hash, path)
	if fields := appendFacts(nil, path, value); ok && len(fields) == 1 {
		return fields[0].Value
	}
	return ""
}

// addConditions adds the values that conditions compare with the fact. If the comparison ignores case, it skips values
// that some node already has in another spelling.
func (d *Data) addConditions(name string, values map[string]bool) {
	folded := map[string]bool{}
	for value := range values {
		folded[strings.ToLower(value)] = true
	}
	for _, p := range d.patternsOf(name) {
		exact := d.file.Dimensions()[p.dimension].Exact
		for text := range d.file.ValuesOf(p.dimension) {
			if len(values) > maxListed {
				return
			}
			value, fits := p.valueIn(text)
			if fits && value != "" && (exact || !folded[value]) {
				values[strings.Clone(value)] = true
			}
		}
	}
}

// factPattern describes a dimension that depends on a single fact. The dimension's text is the value of the fact
// between before and after.
type factPattern struct {
	dimension     int
	before, after string // such as "nodes/" and ".yaml" in a Hiera 5 path
}

// valueIn returns the value of the fact that produces text in the dimension. It returns false if no value does.
func (p factPattern) valueIn(text string) (string, bool) {
	text, hasPrefix := strings.CutPrefix(text, p.before)
	text, hasSuffix := strings.CutSuffix(text, p.after)
	return text, hasPrefix && hasSuffix
}

// patternsOf returns patterns for the dimensions that depend on the named fact alone. It evaluates a unique value of
// the fact twice, with and without other facts, and keeps the dimensions that are the same in both.
func (d *Data) patternsOf(name string) (out []factPattern) {
	const unique = "bindc-explore-unique"
	given := []string{name + "=" + unique}
	alone := d.texts(given)
	for _, other := range d.reads {
		isPart := strings.HasPrefix(other+".", name+".") || strings.HasPrefix(name+".", other+".")
		if !isPart && !slices.Contains(lookup.SourcesOf(other), name) {
			given = append(given, other+"=another")
		}
	}
	among := d.texts(given)
	for dim := range min(len(alone), len(among)) {
		text := alone[dim].Value
		i := strings.Index(strings.ToLower(text), unique)
		if i >= 0 && text == among[dim].Value && d.file.HasValues(dim) {
			out = append(out, factPattern{dim, text[:i], text[i+len(unique):]})
		}
	}
	return out
}

// texts returns the values of all dimensions for a node that has only the given facts. It returns nil if the facts are
// invalid.
func (d *Data) texts(given []string) []lookup.Term {
	n, err := facts.Node{}.With("", given)
	if err != nil {
		return nil
	}
	r, err := affected.Request(d.snap, n)
	if err != nil {
		return nil
	}
	return r.Dimensions()
}

// unknownValue returns a note if the value is probably misspelt: conditions depend on the fact, but no condition and no
// node has the value. Otherwise it returns "".
func (v *view) unknownValue(name, value string, numbers []uint32) string {
	if !isClosed(v.d.census.ready) {
		return "" // the page reloads when the census is ready
	}
	patterns := v.d.patternsOf(name)
	isNamed := func(p factPattern) bool { return numbers[p.dimension] != snapshot.None }
	if value == "" || len(patterns) == 0 || slices.ContainsFunc(patterns, isNamed) || v.d.hasValue(name, value) {
		return ""
	}
	note := "No node and no condition has the value '" + diag.Visible(value) + "' for " + diag.Visible(name)
	if near := diag.DidYouMean(value, v.d.census.facts[name]); near != "" {
		return note + "; " + near
	}
	return note + "."
}

// hasValue reports whether some node has this value of the fact, regardless of case.
func (d *Data) hasValue(name, value string) bool {
	isValue := func(other string) bool { return strings.EqualFold(other, value) }
	if list := d.census.facts[name]; len(list) > 0 {
		return slices.ContainsFunc(list, isValue)
	}
	return slices.ContainsFunc(d.nodes, func(n facts.Node) bool {
		return isValue(textAt(n.Facts, name)) || name == environment && isValue(n.Environment)
	})
}

// suggest adds known values to input fields, up to maxListed values in all.
func (v *view) suggest(fields []factField) {
	left := maxListed
	for i := range fields {
		if list := v.d.census.facts[fields[i].Name]; len(list) <= left {
			fields[i].Known, left = list, left-len(list)
		}
	}
}
