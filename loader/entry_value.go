package loader

import (
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/relation"
	"bindc/internal/syntax"
)

// compareValue compares the value of an entry, written at the given position, with the site's expression for its
// category. It warns if the two are not the same function of the same variables.
func (r *hieraReader) compareValue(e *hierarchyEntry, at diag.Pos) {
	if e.category < 0 {
		return
	}
	category := r.All[e.category]
	e.differs = !relation.Same(e.value.node, category.Value)
	if !e.differs {
		return
	}
	has, want := syntax.Print(e.value.node), syntax.Print(category.Value)
	d := diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "category_value", Hint: "write " + want,
		Message: "the value " + has + " is not the expression of category '" + category.Name + "', which is " + want +
			": this data counts only for requests in which both are equal"}
	if text, ok := e.value.fill(nil); ok {
		if strings.Contains(text, "%{") {
			return // reported as an interpolation of Hiera
		}
		d.Message = "the value '" + text + "' has no variables: this data counts only for requests in which category '" +
			category.Name + "', " + want + ", is '" + text + "'"
		if node, errs := syntax.ParseString(text); len(errs) == 0 && node.Op == expr.Concat {
			d.Hint += `; '\$' stands for a dollar sign`
		}
	}
	if category.Pos.Line > 0 {
		d.Notes = []diag.Note{{Pos: category.Pos, Message: "the category"}}
	}
	r.Diags.Add(d)
}

// hasValueOf returns an expression that reports whether the category of a request equals the value of e.
func (r *hieraReader) hasValueOf(e hierarchyEntry) *expr.Node {
	folded := func(n *expr.Node) *expr.Node {
		return &expr.Node{Op: expr.Call, Name: "downcase", Kids: []*expr.Node{n}}
	}
	same := &expr.Node{Op: expr.Binary, Name: "==",
		Kids: []*expr.Node{folded(r.All[e.category].Value), folded(e.value.node)}}
	return &expr.Node{Op: expr.Concat, Kids: []*expr.Node{same}}
}
