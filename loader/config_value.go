package loader

import (
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/value"
)

// warnOfFixedValue warns about a constant value that was probably meant to be a variable: '\$osfamily', as printed in
// ARM-9, or the category's own name. Other constants, such as a company name, are accepted.
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
		Message: "the value '" + text + "' has no variables, so it is the value of every request in category '" +
			cat.name + "'"}
	d.Fix = diag.Fix{Old: text, New: `"$` + variable + `"`, Syntax: true}
	if escaped {
		d.Hint += `; '\$' stands for a dollar sign`
	}
	c.Diags.Add(d)
}

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
