package relation

import (
	"slices"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/value"
)

// WithoutSlash reports whether n is a variable whose values never contain '/' (docs/language.md, section 4).
func WithoutSlash(n *expr.Node) bool {
	keys := variable(n)
	if len(keys) > 1 && keys[0] == "facts" {
		keys = keys[1:]
	}
	if len(keys) == 0 {
		return false
	}
	first, rest := keys[0], strings.Join(keys[1:], ".")
	switch first {
	case "networking":
		return rest != ""
	case "os":
		return rest == "family" || rest == "name"
	case "trusted":
		return rest == "certname" || rest == "hostname" || rest == "domain"
	}
	return rest == "" && slices.Contains(plainFacts, first)
}

var plainFacts = []string{"fqdn", "hostname", "domain", "clientcert",
	"environment", "osfamily", "operatingsystem", "architecture"}

// variable returns the variable and the keys of an access: facts, os and family for $facts['os']['family']. It returns
// nil for other expressions.
func variable(n *expr.Node) []string {
	switch {
	case n.Op == expr.Concat && len(n.Kids) == 1:
		return variable(n.Kids[0])
	case n.Op == expr.Var:
		return []string{strings.TrimPrefix(n.Name, "::")}
	case n.Op != expr.Access || len(n.Kids) != 2:
		return nil
	}
	operand := variable(n.Kids[0])
	key, ok := n.Kids[1].Constant()
	if operand == nil || !ok || key.Kind() != value.String {
		return nil
	}
	return append(operand, key.Text())
}
