package loader

import (
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/relation"
	"bindc/internal/syntax"
	"bindc/loader/internal/site"
)

// compareValue sets e.differs if the value of e is not equivalent to the site's expression for its category, and warns
// about it. at is the position of the value.
func (r *hiera2Reader) compareValue(e *hiera2Entry, at diag.Pos) {
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
			return // '%{' has already been reported as Hiera interpolation
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

// isMisspelt reports whether the site misspells the variable of category, and e has the correct variable, which has
// the category's name. If so, it warns about the site's expression.
func (r *hiera2Reader) isMisspelt(category *Dimension, e *hiera2Entry, at diag.Pos) bool {
	wrong := site.VariableOf(category.Value)
	fix := r.Diags.Correct(wrong, []string{category.Name})
	if site.VariableOf(e.value.node) != category.Name || category.ValuePos.Line == 0 || wrong == "" || fix.IsNone() {
		return false
	}
	if len(syntax.Misspelt(category.Value)) == 0 { // otherwise it has already been reported
		r.Diags.Add(diag.Diagnostic{Pos: category.ValuePos, Severity: diag.Warning, Code: "category_value", Fix: fix,
			Message: "the expression of category '" + category.Name + "' is " + syntax.Print(category.Value) +
				", but a hierarchy has " + syntax.Print(e.value.node),
			Notes: []diag.Note{{Pos: at, Message: "this entry of a hierarchy"}}})
	}
	return true
}

// hasValueOf returns an expression that results in 'true' if a request's value of the category of e equals the value
// of e, ignoring case.
func (r *hiera2Reader) hasValueOf(e hiera2Entry) *expr.Node {
	folded := func(n *expr.Node) *expr.Node {
		return &expr.Node{Op: expr.Call, Name: "downcase", Kids: []*expr.Node{n}}
	}
	same := &expr.Node{Op: expr.Binary, Name: "==",
		Kids: []*expr.Node{folded(r.All[e.category].Value), folded(e.value.node)}}
	return &expr.Node{Op: expr.Concat, Kids: []*expr.Node{same}}
}
