package lookup

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/lookupkey"
	"bindc/internal/value"
)

// misses maps the variables that lookups have asked for and that are not set, as people write them, to the ones that
// were probably meant, or to "".
type misses map[string]string

// hiddenMiss stands for a variable whose name may be part of something sensitive.
const hiddenMiss = "a variable"

// Missed yields the variables that the lookups of ask need for their values and that are not set, as $role or
// $facts['role'], sorted: each with the one that is set and probably was meant, or "". A variable that is undef is set.
func (r *Request) Missed(ask func(*Request)) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		asking := r.clone()
		asking.misses = &misses{}
		ask(asking)
		for _, name := range slices.Sorted(maps.Keys(*asking.misses)) {
			if !yield(name, (*asking.misses)[name]) {
				return
			}
		}
	}
}

// Missed notes that a variable is not set, or has nothing at path. It is part of expr.MissEnv.
func (l *lookup) Missed(name string, path ...value.Value) {
	switch {
	case l.r.misses == nil:
	case l.hides() || l.veiled:
		(*l.r.misses)[hiddenMiss] = ""
	default:
		(*l.r.misses)[written(name, path)] = l.r.facts.near(name, path)
	}
}

// written returns a variable and the keys below it as an expression has them, for example $facts['os'].
func written(name string, path []value.Value) string {
	text := "$" + name
	for _, key := range path {
		text += "['" + string(value.AppendText(nil, key)) + "']"
	}
	return text
}

// near returns the variable that is set and that was probably meant by one that is not, or "".
func (f *Facts) near(name string, path []value.Value) string {
	if len(path) == 0 {
		if meant := diag.Misspelt(name, f.names()); meant != "" {
			return "$" + meant
		}
		return ""
	}
	at := f.variables[name]
	for i, key := range path {
		next, there, err := lookupkey.Dig(name, path[i:i+1], at)
		if err == nil && there {
			at = next
			continue
		}
		if meant := diag.Misspelt(string(value.AppendText(nil, key)), textKeys(at)); meant != "" {
			path = slices.Clone(path)
			path[i] = value.FromString(meant)
			return written(name, path)
		}
		break
	}
	return ""
}

// names returns the names of the variables that are given, sorted.
func (f *Facts) names() (out []string) {
	for v := range f.variables {
		if !f.derived[v] && !strings.HasPrefix(v, "::") {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

// textKeys returns the keys of a hash that are text, sorted.
func textKeys(hash value.Value) (out []string) {
	for k := range hash.Pairs() {
		if k.Kind() == value.String {
			out = append(out, k.Text())
		}
	}
	slices.Sort(out)
	return out
}
