package lint

import (
	"slices"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/syntax"
	"bindc/loader"
)

// readPuppet collects the variables and terms in a bindings file in Puppet syntax.
func (f *file) readPuppet(src []byte, bare bool) {
	tree, _ := syntax.ParseBindings(string(src)) // the loader has reported the errors
	if tree == nil {
		return
	}
	r := puppetReader{f, string(src), syntax.NewText(f.path, string(src)), bare}
	r.statements(tree.Statements)
}

// puppetReader visits the statements of a bindings file in Puppet syntax. bare is set if variables
// are to be collected.
type puppetReader struct {
	*file
	src  string
	text *syntax.Text
	bare bool
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

func (r *puppetReader) when(alternatives [][]syntax.Pair) {
	for _, p := range slices.Concat(alternatives...) {
		for _, v := range p.Values {
			asked := dimensionValue{p.Category.Text, loader.Fold(v.Text)}
			r.termUses = append(r.termUses, termUse{asked, r.text.Pos(v.Off)})
		}
	}
}

// value records the variables in the strings of a value. Variables in expressions are recorded as
// variables in braces.
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
			r.file.bare = append(r.file.bare, variable{name, r.text.Pos(v.Off)})
		}
		r.braced = append(r.braced, braced...)
	default:
		r.braced = slices.AppendSeq(r.braced, syntax.VariablesIn(n))
	}
}
