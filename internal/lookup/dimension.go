package lookup

import (
	"runtime"
	"slices"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/types"
	"bindc/internal/value"
)

// Categories returns the request's values of the categories, highest first, as the facts have them. It omits categories
// without a value.
func (r *Request) Categories() []Term {
	var out []Term
	for i := range r.snap.dimensions {
		if text, ok := r.text(i); ok && !r.snap.dimensions[i].guard {
			out = append(out, Term{strings.Clone(r.snap.dimensions[i].name), text})
		}
	}
	return out
}

// Dimensions returns the request's value of every category and then of every guard, in the order of the file. The text
// is "" if the request has no value.
func (r *Request) Dimensions() []Term {
	out := make([]Term, len(r.snap.dimensions))
	for i := range out {
		text, _ := r.text(i)
		out[i] = Term{strings.Clone(r.snap.dimensions[i].name), text}
	}
	return out
}

// text returns the request's value of a dimension, as the facts have it.
func (r *Request) text(dimension int) (string, bool) {
	if r.closed.Load() || !r.has[dimension] {
		return "", false
	}
	defer runtime.KeepAlive(r)
	text, err := r.snap.dimensions[dimension].text(r.facts)
	return strings.Clone(text), err == nil
}

// shown returns the name of a dimension for messages: $name for a guard that is a single variable.
func (d *dimension) shown() string {
	if d.guard && d.variable != "" {
		return "$" + d.variable
	}
	return strings.Clone(d.name)
}

// dimension is a category or a guard. A request has one value of it.
type dimension struct {
	name     string
	category int // for a guard, its category; else -1
	guard    bool
	exact    bool // the case of values matters
	program  *expr.Node
	variable string // the program is nothing but this variable; else ""
	path     *hieraPath
}

// soleVariable returns the fact that a program consists of, as '${osfamily}' does, otherwise "".
func soleVariable(n *expr.Node) string {
	if n.Op == expr.Concat && len(n.Kids) == 1 {
		n = n.Kids[0]
	}
	if n.Op == expr.Var && n.Name != "" && n.Name[0] > ':' { // neither a match nor a variable with its scope
		return n.Name
	}
	return ""
}

// categoryEnv is what categories are computed from: facts only. Categories and paths are those of the node, so that
// their variables are those of top scope, whatever scope the caller is in.
type categoryEnv struct{ facts *Facts }

func (e categoryEnv) Variable(name string) (value.Value, bool) { return e.facts.top(name) }

func (e categoryEnv) Lookup(key string, _ *types.Type) (value.Value, bool, error) {
	return value.Value{}, false, failed(key, CodeEvaluation,
		"a category cannot depend on a lookup: categories decide what a lookup finds")
}

// Category returns the value the request has of a category, folded to lower case unless it is exact; false if it has
// none, or is closed. The text does not refer to the snapshot.
func (r *Request) Category(name string) (string, bool) {
	if r.closed.Load() {
		return "", false
	}
	defer runtime.KeepAlive(r)
	i := slices.IndexFunc(r.snap.dimensions, func(d dimension) bool { return d.name == name && !d.guard })
	if i < 0 || !r.has[i] {
		return "", false
	}
	text, err := r.snap.dimensions[i].text(r.facts)
	if !r.snap.dimensions[i].exact {
		text = strings.ToLower(text)
	}
	return strings.Clone(text), err == nil // of a constant, text is that of the file
}

// text is the value of the dimension for facts. An unknown variable is no error: the request is in no value of it then.
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

// Given is a variable as a path of Hiera 5 sees it. It is part of expr.GivenEnv.
func (e categoryEnv) Given(name string) (value.Value, error) { return e.facts.given(name), nil }
