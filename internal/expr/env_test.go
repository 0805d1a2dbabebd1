package expr_test

import (
	"errors"
	"strings"
	"testing"

	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/syntax"
	"bindc/internal/types"
	"bindc/internal/value"
)

// puppet has Puppet's functions.
var puppet = expr.Options{Functions: stdlib.Functions}

// facts is an Env with facts and bindings.
type facts struct {
	vars     map[string]value.Value
	bindings map[string]value.Value
}

func (f facts) Variable(name string) (value.Value, bool) {
	v, ok := f.vars[name]
	return v, ok
}

func (f facts) Lookup(key string, typ *types.Type) (value.Value, bool, error) {
	v, ok := f.bindings[key]
	if ok && typ != nil {
		if m := typ.Check(v); m != nil {
			return v, true, m
		}
	}
	return v, ok, nil
}

// evaluate evaluates an expression as parsed and folded, both with and without encoding. The results must be equal.
func evaluate(t testing.TB, src string, env facts) (value.Value, error) {
	t.Helper()
	n, errs := syntax.ParseExpression(src)
	if len(errs) > 0 {
		return value.Value{}, errors.New(errs[0].Message)
	}
	v, err := expr.Eval(n, env, puppet)
	if outOfBounds(err) {
		return v, err // a folded expression takes fewer steps
	}
	folded := expr.Fold(n, stdlib.Functions)
	for _, other := range []*expr.Node{folded, decoded(t, n), decoded(t, folded)} {
		w, otherErr := expr.Eval(other, env, puppet)
		if (err == nil) != (otherErr == nil) || err == nil && !value.Identical(v, w) {
			t.Errorf("%s: %s, %v; folded or encoded: %s, %v", src, value.AppendJSON(nil, v), err,
				value.AppendJSON(nil, w), otherErr)
		}
	}
	return v, err
}

func outOfBounds(err error) bool {
	return err != nil && strings.Contains(err.Error(), "too ") // too many steps, too much data, too long, too deep
}

func decoded(t testing.TB, n *expr.Node) *expr.Node {
	t.Helper()
	out, err := expr.Decode(string(expr.Append(nil, n)))
	if err != nil {
		t.Fatal(err)
	}
	return out
}
