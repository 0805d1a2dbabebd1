package compile

import (
	"bindc/compile/internal/index"
	"bindc/compile/internal/pass"
	"bindc/compile/internal/rewrite"
	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/recipe"
	"bindc/snapshot"
)

// content assembles a snapshot: sorted keys, values in order of appearance, and levels in order of precedence.
func content(e *pass.Env, s *index.Ordered, lists *index.Lists, levels *index.Levels) *snapshot.Content {
	out := &snapshot.Content{Bindings: s.Totals.Bindings, Sensitive: s.Totals.Sensitive,
		Strict: e.Strict, Hiera: rewrite.HieraPlaces(e.Site),
		ARM8: s.Totals.ARM8 || lists.ARM8, Values: make([]snapshot.Stored, len(s.Kept))}
	appendSite(out, e)
	levels.AppendTo(out, e, s)
	for i, n := range s.Kept {
		text := s.Values[n]
		out.Values[i] = snapshot.Stored{Computed: text[0] != recipe.CompiledConstant, Bytes: text[1:]}
	}
	return out
}

func appendSite(out *snapshot.Content, e *pass.Env) {
	for _, l := range e.Site.Layers {
		out.Layers = append(out.Layers, l.Name)
	}
	for _, d := range e.Site.Dimensions {
		dim := snapshot.Dimension{Name: d.Name, Guard: d.Guard, Exact: d.Exact, Category: -1,
			Program: expr.Append(nil, expr.Fold(d.Value, stdlib.Functions))}
		if d.Guard {
			dim.Category = d.Category
		}
		out.Dimensions = append(out.Dimensions, dim)
	}
	out.Inputs = make([]snapshot.Input, 0, len(e.Site.Inputs))
	for _, in := range e.Site.Inputs {
		out.Inputs = append(out.Inputs, snapshot.Input{Path: in.Path, Size: in.Size, Hash: in.Hash})
	}
}
