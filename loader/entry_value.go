package loader

import (
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/relation"
	"bindc/internal/syntax"
)

// compareValue compares the value of an entry with the site's expression for its category. It warns if they are not
// equivalent. at is the position of the value.
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
			": this data is used only for requests in which both are equal"}
	if text, ok := e.value.fill(nil); ok {
		if strings.Contains(text, "%{") {
			return // already reported as Hiera interpolation
		}
		d.Message = "the value '" + text + "' has no variables: this data is used only for requests in which category '" +
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

// hasValueOf returns an expression that compares a request's value of the category with the value of e.
func (r *hieraReader) hasValueOf(e hierarchyEntry) *expr.Node {
	folded := func(n *expr.Node) *expr.Node {
		return &expr.Node{Op: expr.Call, Name: "downcase", Kids: []*expr.Node{n}}
	}
	same := &expr.Node{Op: expr.Binary, Name: "==",
		Kids: []*expr.Node{folded(r.All[e.category].Value), folded(e.value.node)}}
	return &expr.Node{Op: expr.Concat, Kids: []*expr.Node{same}}
}
