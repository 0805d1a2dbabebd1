package loader

import (
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/value"
)

// warnOfFixedValue warns about a category with the same value for all requests if a variable was meant: '\$osfamily',
// as ARM-9 prints it, or the name of the category. Other fixed values, as the name of a company, are the site's choice.
func (c *configReader) warnOfFixedValue(cat category) {
	text, fixed := fixedText(cat.expr)
	variable, escaped := strings.CutPrefix(text, "$")
	if !strings.HasPrefix(variable, "{") {
		variable = "{" + variable + "}"
	}
	if !fixed || !escaped && text != cat.name {
		return
	}
	d := diag.Diagnostic{Pos: cat.exprAt, Severity: diag.Warning, Code: "category", Hint: "write \"$" + variable + "\"",
		Message: "the value '" + text + "' has no variables: every request has it in category '" + cat.name + "'"}
	if escaped {
		d.Hint += `; '\$' stands for a dollar sign`
	}
	c.Diags.Add(d)
}

// fixedText returns the value of an expression without variables.
func fixedText(n *expr.Node) (string, bool) {
	if n.Op == expr.Concat && len(n.Kids) == 1 {
		n = n.Kids[0]
	}
	v, ok := n.Constant()
	if !ok || v.Kind() != value.String {
		return "", false
	}
	return v.Text(), true
}
