package lookup

import (
	"slices"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/types"
	"bindc/internal/value"
)

// dimension is a category or a guard. A request has one value for each.
type dimension struct {
	name     string
	category int // for a guard, the number of its category; otherwise -1
	guard    bool
	exact    bool // values are case-sensitive
	program  *expr.Node
	variable string // set if the program is only this variable
	path     *hieraPath
}

// shown returns the name of a dimension for messages. For a guard that is a single variable, that is $name.
func (d *dimension) shown() string {
	if d.guard && d.variable != "" {
		return "$" + d.variable
	}
	return strings.Clone(d.name)
}

// text evaluates the dimension for facts. An unknown variable is not an error; it counts as an empty string.
func (d *dimension) text(facts *Facts) (string, error) {
	if d.variable != "" {
		v, _ := facts.top(d.variable)
		if v.Kind() == value.String {
			return v.Text(), nil
		}
		return string(value.AppendText(nil, v)), nil
	}
	if v, _ := d.program.Constant(); v.Kind() == value.String {
		return v.Text(), nil
	}
	v, err := expr.Eval(d.program, categoryEnv{facts}, expr.Options{Functions: stdlib.Functions})
	if err != nil {
		what := "the category '" + d.name + "': "
		if d.exact {
			what = "the path '" + d.name + "' cannot be evaluated, so no lookup can pass it: "
		}
		return "", &Error{Code: CodeEvaluation, Message: what + err.Error(), Err: err}
	}
	return string(value.AppendText(nil, v)), nil
}

// namesNodes reports whether the dimension uses a fact that has the name of the node.
func (d *dimension) namesNodes() (is bool) {
	d.program.Variables(func(name string) {
		is = is || slices.Contains([]string{"fqdn", "hostname", "clientcert", "certname", "networking", "trusted"}, name)
	})
	return is
}

// soleVariable returns the variable of a program that is only a variable, such as '${osfamily}', or "".
func soleVariable(n *expr.Node) string {
	if n.Op == expr.Concat && len(n.Kids) == 1 {
		n = n.Kids[0]
	}
	if n.Op == expr.Var && n.Name != "" && n.Name[0] > ':' { // neither a match variable nor one with a leading ::
		return n.Name
	}
	return ""
}

// categoryEnv evaluates categories and paths. They describe the node, so they only use facts and variables of the
// top scope, regardless of the caller's scope.
type categoryEnv struct{ facts *Facts }

func (e categoryEnv) Variable(name string) (value.Value, bool) { return e.facts.top(name) }

func (e categoryEnv) Lookup(key string, _ *types.Type) (value.Value, bool, error) {
	return value.Value{}, false, failed(key, CodeEvaluation,
		"a category cannot depend on a lookup: categories decide what a lookup finds")
}

// Given returns a variable for a Hiera 5 path. It implements expr.GivenEnv.
func (e categoryEnv) Given(name string) (value.Value, error) { return e.facts.given(name), nil }
