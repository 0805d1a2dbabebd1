package compile

import (
	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/snapshot"
)

// content puts the parts of a snapshot together: keys sorted, values in order of appearance, levels in order of
// precedence.
func content(e *env, s *orderedSite, l *levels) *snapshot.Content {
	out := &snapshot.Content{Bindings: s.totals.bindings, Sensitive: s.totals.sensitive,
		Strict: e.strict, Hiera: hieraPlaces(e.site),
		Keys: make([]snapshot.Key, len(s.names)), Values: make([]snapshot.Stored, len(s.kept))}
	appendSite(out, e)
	ranks := l.appendLevels(out, e, s.ranks)
	for i, name := range s.names {
		out.Keys[i] = snapshot.Key{Name: name, Default: l.defaults[i].value, Cold: sortCold(l.cold[i], ranks)}
	}
	for i, n := range s.kept {
		text := s.values[n]
		out.Values[i] = snapshot.Stored{Computed: text[0] != recipe.CompiledConstant, Bytes: text[1:]}
	}
	return out
}

// appendSite appends the layers, dimensions and inputs of the site.
func appendSite(out *snapshot.Content, e *env) {
	for _, l := range e.site.Layers {
		out.Layers = append(out.Layers, l.Name)
	}
	for _, d := range e.site.Dimensions {
		dim := snapshot.Dimension{Name: d.Name, Guard: d.Guard, Exact: d.Exact, Category: -1,
			Program: expr.Append(nil, expr.Fold(d.Value))}
		if d.Guard {
			dim.Category = d.Category
		}
		out.Dimensions = append(out.Dimensions, dim)
	}
	for _, in := range e.site.Inputs {
		out.Inputs = append(out.Inputs, snapshot.Input{Path: in.Path, Size: in.Size, Hash: in.Hash})
	}
}
