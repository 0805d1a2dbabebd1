package lookup

import (
	"iter"
	"runtime"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/lookupkey"
	"bindc/internal/value"
	"bindc/snapshot"
)

// isStructured reports whether d interpolates an array or a hash.
func (f *Facts) isStructured(d *dimension) (is bool) {
	d.program.Interpolates(func(name string, path []value.Value) {
		kind := f.at(name, path, d.exact).Kind()
		is = is || kind == value.Array || kind == value.Hash
	})
	return is
}

// Unset returns the sorted variables that conditions use and the request lacks. It omits those in an expression with a
// default, because its conditions may hold without them.
func (r *Request) Unset() []string {
	if r.closed.Load() {
		return nil
	}
	defer runtime.KeepAlive(r)
	var out []string
	for i := range r.snap.dimensions {
		// If no condition uses the request's value of a guard's category, the guard does not matter. Then the category
		// itself reports the variables.
		c := r.snap.dimensions[i].category
		if c < 0 || r.numbers[c] != snapshot.None || !r.file.HasValues(c) {
			out = append(out, r.lacks(i)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Misnamed returns an iterator over the variables of Unset for which the request has one with a similar name. The
// second value is that name, as $role or $os['famly'].
func (r *Request) Misnamed() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, name := range r.Unset() {
			root, rest, isPart := strings.Cut(name, ".")
			var path []value.Value
			if isPart {
				path = slices.Collect(value.Strings(strings.Split(rest, ".")...).Elems())
			}
			if near := r.facts.near(root, path); near != "" && !yield(name, near) {
				return
			}
		}
	}
}

// lacks returns the variables, such as os or os.family, that a dimension uses and the request lacks. If the request has
// all of them but the dimension's text is empty, lacks returns the name of the category or guard. It returns nil if the
// request has a value that conditions use, or if no condition uses the dimension.
func (r *Request) lacks(dimension int) (out []string) {
	d := &r.snap.dimensions[dimension]
	if r.numbers[dimension] != snapshot.None || !r.file.HasValues(dimension) {
		return nil
	}
	own := map[string]bool{}
	d.program.Own(func(name string) { own[name] = true })
	d.program.Reads(func(name string, path []value.Value) {
		if own[name] || r.facts.has(name, path, d.exact) {
			return
		}
		if shown := lookupkey.Dotted(name, path); !slices.Contains(out, shown) {
			out = append(out, shown)
		}
	})
	if d.exact { // empty for an index past the end of the mapped_paths list
		return out
	}
	if text, err := d.text(r.facts); len(out) == 0 && err == nil && text == "" {
		out = append(out, strings.Clone(d.name))
	}
	return out
}

// Misspelt returns an iterator over values of the request that no condition uses and that are probably misspelt, each
// with the most similar value in a condition. For an array or a hash, the similar value is "", because conditions
// compare text. Node names are often similar, so a node name counts only if it differs in case alone.
func (r *Request) Misspelt() iter.Seq2[Term, string] {
	return func(yield func(Term, string) bool) {
		if r.closed.Load() {
			return
		}
		defer runtime.KeepAlive(r)
		for i := range r.snap.dimensions {
			d := &r.snap.dimensions[i]
			if r.numbers[i] != snapshot.None || r.isIdle(d) {
				continue
			}
			if text, near, doubtful := r.doubtful(i); doubtful && !yield(Term{d.shown(), text}, near) {
				return
			}
		}
	}
}

// doubtful returns the text of a dimension and the value that was probably meant, if the text is probably a mistake.
func (r *Request) doubtful(dimension int) (text, near string, doubtful bool) {
	d := &r.snap.dimensions[dimension]
	text, _ = d.text(r.facts) // lookups report the error
	if !r.file.HasValues(dimension) {
		return "", "", false
	}
	if r.facts.isStructured(d) {
		return strings.Clone(text), "", true
	}
	if d.exact {
		near = differsInCase(text, r.file.ValuesOf(dimension))
	} else {
		text = strings.ToLower(text)
	}
	if near == "" && !d.namesNodes() {
		near = diag.Misspelt(text, slices.Collect(r.file.ValuesOf(dimension)))
	}
	near = strings.Clone(near)
	return strings.Clone(text), near, near != ""
}

// differsInCase returns the first of values that equals text except for its case, or "".
func differsInCase(text string, values iter.Seq[string]) string {
	for v := range values {
		if strings.EqualFold(v, text) {
			return v
		}
	}
	return ""
}
