package lookup

import (
	"slices"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/types"
	"bindc/internal/value"
)

// dimension is a property with one value per request: a category, or a guard, such as the path of a hierarchy entry.
type dimension struct {
	name     string
	category int // number of a guard's category, or -1
	guard    bool
	exact    bool // values are case-sensitive
	program  *expr.Node
	variable string // set if program is just this variable
	path     *hieraPath
}

// shown returns the name of d for messages. If d is a guard and its program is just a variable, that is $variable.
func (d *dimension) shown() string {
	if d.guard && d.variable != "" {
		return "$" + d.variable
	}
	return strings.Clone(d.name)
}

// text evaluates d for the given facts. Unknown variables are empty strings, not errors.
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

// namesNodes reports whether d uses a fact that may contain the node's name. Extensions of a certificate, such as the
// role, do not.
func (d *dimension) namesNodes() (is bool) {
	d.program.Reads(func(name string, path []value.Value) {
		isExtension := name == "trusted" && len(path) > 1 && value.Same(path[0], value.FromString("extensions"))
		is = is || !isExtension &&
			slices.Contains([]string{"fqdn", "hostname", "clientcert", "certname", "networking", "trusted"}, name)
	})
	return is
}

// soleVariable returns the variable's name if n is just a variable, such as '${osfamily}', or "" otherwise.
func soleVariable(n *expr.Node) string {
	if n.Op == expr.Concat && len(n.Kids) == 1 {
		n = n.Kids[0]
	}
	if n.Op == expr.Var && n.Name != "" && n.Name[0] > ':' { // neither a match variable nor one with a leading ::
		return n.Name
	}
	return ""
}

// categoryEnv is the environment in which categories and paths are evaluated. They describe the node, so they only see
// facts and top-scope variables, regardless of the caller's scope.
type categoryEnv struct{ facts *Facts }

func (e categoryEnv) Variable(name string) (value.Value, bool) { return e.facts.top(name) }

func (e categoryEnv) Lookup(key string, _ *types.Type) (value.Value, bool, error) {
	return value.Value{}, false, failed(key, CodeEvaluation,
		"a category cannot depend on a lookup: categories decide what a lookup finds")
}

// Given implements expr.GivenEnv, for variables in Hiera 5 paths.
func (e categoryEnv) Given(name string) (value.Value, error) { return e.facts.given(name), nil }
