package loader

import (
	"errors"
	"maps"
	"slices"

	"bindc/diag"
	"bindc/internal/envfile"
	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/syntax"
	"bindc/internal/types"
	"bindc/internal/value"
)

func (r *environmentsReader) program() {
	for _, n := range r.file.Statements {
		r.checkResults(n)
		if r.checkNames(n) {
			for _, e := range syntax.Misspelt(n) {
				r.Diags.Add(diag.Diagnostic{Pos: r.pos(e.Off), Severity: diag.Warning, Code: "fact",
					Message: e.Message, Hint: e.Hint, Fix: e.Fix})
			}
		}
	}
	statements := r.file.Statements
	usesRoot := false
	for _, n := range statements {
		n.Variables(func(name string) { usesRoot = usesRoot || name == confdir })
	}
	if usesRoot {
		assign := &expr.Node{Op: expr.Assign, Name: confdir,
			Kids: []*expr.Node{{Op: expr.Const, Value: value.FromString(r.root)}}}
		statements = append([]*expr.Node{assign}, statements...)
	}
	r.out.Program = expr.Fold(envfile.ProgramOf(statements), stdlib.Functions)
}

// checkResults reports constants that n assigns to $environment but that are not environment names.
func (r *environmentsReader) checkResults(n *expr.Node) {
	for _, kid := range n.Kids {
		r.checkResults(kid)
	}
	if n.Op != expr.Assign || n.Name != envfile.Chosen {
		return
	}
	for _, c := range results(expr.Fold(n.Kids[0], stdlib.Functions)) {
		v := c.Value
		_, there := r.named[v.Text()]
		switch {
		case v.IsUndef() || there: // undef selects production
		case v.Kind() != value.String:
			r.errorf(c.Off, "expected an environment name as $environment, found %s", value.Describe(v))
		default:
			names := slices.Sorted(maps.Keys(r.named))
			fix := diag.Correct(v.Text(), names)
			r.Diags.Add(diag.Diagnostic{Pos: r.pos(c.Off), Code: "environments", Fix: fix,
				Message: "there is no environment '" + v.Text() + "'; there is " + diag.QuotedFor(fix.Hint(), names)})
		}
	}
}

// results returns the constants that n can evaluate to.
func results(n *expr.Node) []*expr.Node {
	var kids []*expr.Node
	switch n.Op {
	case expr.Const:
		return []*expr.Node{n}
	case expr.If, expr.Case, expr.Selector: // Kids[0] is the condition
		kids = n.Kids[1:]
	case expr.Option, expr.Block:
		kids = n.Kids[max(0, len(n.Kids)-1):]
	}
	var out []*expr.Node
	for _, kid := range kids {
		out = append(out, results(kid)...)
	}
	return out
}

// checkNames reports unknown names and lookups in an expression, and returns false if there are any. Lookups cannot
// run before an environment is selected.
func (r *environmentsReader) checkNames(n *expr.Node) bool {
	return !r.report(syntax.CheckWithoutLookup(n, "the environment decides what a lookup finds")...)
}

// evaluate returns the value of an expression in a declaration. The expression may use variables assigned above it.
func (r *environmentsReader) evaluate(n *expr.Node) (value.Value, bool) {
	if !r.checkNames(n) {
		return value.Value{}, false
	}
	block := &expr.Node{Op: expr.Block, Off: n.Off, Kids: append(r.assignmentsBefore(n), n)}
	v, err := expr.Eval(block, rootOnly{r.root}, expr.Options{Functions: stdlib.Functions, StrictVariables: true})
	if err != nil {
		off, e := n.Off, (*expr.EvalError)(nil)
		if errors.As(err, &e) {
			off = e.Off
		}
		r.Diags.Add(diag.Diagnostic{Pos: r.pos(off), Code: "environments", Message: err.Error(),
			Hint: "use $confdir and variables that are assigned above: environments do not depend on facts"})
		return value.Value{}, false
	}
	return v, true
}

// assignmentsBefore returns the assignments above n that n depends on, in order.
func (r *environmentsReader) assignmentsBefore(n *expr.Node) []*expr.Node {
	var out []*expr.Node
	used := map[string]bool{}
	use := func(name string) { used[name] = true }
	n.Variables(use)
	for _, s := range slices.Backward(r.file.Statements) {
		isUsed := func(name string) bool { return used[name] }
		if s.Op == expr.Assign && s.Off < n.Off && slices.ContainsFunc(s.Targets(), isUsed) {
			out = append([]*expr.Node{s}, out...)
			s.Variables(use)
		}
	}
	return out
}

// rootOnly is the scope of declarations: its only variable is $confdir.
type rootOnly struct{ root string }

func (e rootOnly) Variable(name string) (value.Value, bool) {
	return value.FromString(e.root), name == confdir
}

func (rootOnly) Lookup(string, *types.Type) (value.Value, bool, error) {
	return value.Value{}, false, errors.New("lookups are not possible here")
}
