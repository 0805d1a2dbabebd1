package loader

import (
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/relation"
	"bindc/internal/syntax"
	"bindc/loader/internal/site"
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
	if r.isMisspelt(&category, e, at) {
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

// isMisspelt reports whether the expression of category is misspelt and e has the correct expression, a variable with
// the category's name. It reports the misspelt expression once.
func (r *hieraReader) isMisspelt(category *Dimension, e *hierarchyEntry, at diag.Pos) bool {
	wrong := site.VariableOf(category.Value)
	fix := r.Diags.Correct(wrong, []string{category.Name})
	if site.VariableOf(e.value.node) != category.Name || category.ValuePos.Line == 0 || wrong == "" || fix.IsNone() {
		return false
	}
	if len(syntax.Misspelt(category.Value)) == 0 { // otherwise it is reported already
		r.Diags.Add(diag.Diagnostic{Pos: category.ValuePos, Severity: diag.Warning, Code: "category_value", Fix: fix,
			Message: "the expression of category '" + category.Name + "' is " + syntax.Print(category.Value) +
				", but a hierarchy has " + syntax.Print(e.value.node),
			Notes: []diag.Note{{Pos: at, Message: "this entry of a hierarchy"}}})
	}
	return true
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
