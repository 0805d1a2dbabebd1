package lint

import (
	"slices"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/syntax"
	"bindc/loader"
)

// readPuppet is what a set in the syntax of Puppet says about itself, as that of YAML: of its texts, and of what it
// asks categories for.
func (f *file) readPuppet(src []byte, bare bool) {
	tree, _ := syntax.ParseBindings(string(src)) // errors were reported when it was loaded
	if tree == nil {
		return
	}
	r := puppetReader{f, string(src), syntax.NewText(f.path, string(src)), bare}
	r.statements(tree.Statements)
}

// puppetReader goes over the statements of one file.
type puppetReader struct {
	*file
	src   string
	place *syntax.Text
	bare  bool
}

func (r *puppetReader) statements(list []syntax.Statement) {
	for i := range list {
		s := &list[i]
		r.when(s.When)
		r.value(s.To)
		for _, o := range s.Options {
			if o.Lambda == nil {
				r.value(o.Value)
			}
		}
		r.statements(s.Statements)
	}
}

// when notes what a condition asks for.
func (r *puppetReader) when(alternatives [][]syntax.Pair) {
	for _, p := range slices.Concat(alternatives...) {
		for _, v := range p.Values {
			asked := term{p.Category.Text, loader.Fold(v.Text)}
			r.asked = append(r.asked, asking{asked, r.place.Pos(v.Off)})
		}
	}
}

// value notes the variables of the texts in a value. Those of an expression are known to be meant, like those in
// braces.
func (r *puppetReader) value(n *expr.Node) {
	switch {
	case n == nil || !r.bare:
	case n.Op == expr.ArrayLit || n.Op == expr.HashLit:
		for _, kid := range n.Kids {
			r.value(kid)
		}
	case n.Op == expr.Concat:
		bare, braced := syntax.Interpolated(n, r.src)
		for _, v := range bare {
			name := strings.TrimPrefix(v.Name, "::")
			r.file.bare = append(r.file.bare, variable{name, r.place.Pos(v.Off)})
		}
		r.braced = append(r.braced, braced...)
	default:
		r.braced = slices.AppendSeq(r.braced, syntax.VariablesIn(n))
	}
}
