// Package exprtest evaluates expressions for the tests of packages expr and stdlib. Its own tests are those of expr
// that need the parser and functions: in expr, they would make Go compile the parser and stdlib once more.
package exprtest

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

// Puppet has the functions of package stdlib and the default limits.
var Puppet = expr.Options{Functions: stdlib.Functions}

// Env is an expr.Env with variables and bindings.
type Env struct {
	Vars     map[string]value.Value
	Bindings map[string]value.Value
}

func (e Env) Variable(name string) (value.Value, bool) {
	v, ok := e.Vars[name]
	return v, ok
}

func (e Env) Lookup(key string, typ *types.Type) (value.Value, bool, error) {
	v, ok := e.Bindings[key]
	if ok && typ != nil {
		if m := typ.Check(v); m != nil {
			return v, true, m
		}
	}
	return v, ok, nil
}

// Evaluate parses and evaluates src. It also evaluates src after folding, after encoding, and after both. The test
// fails if the results differ.
func Evaluate(t testing.TB, src string, env Env) (value.Value, error) {
	t.Helper()
	n, errs := syntax.ParseExpression(src)
	if len(errs) > 0 {
		return value.Value{}, errors.New(errs[0].Message)
	}
	v, err := expr.Eval(n, env, Puppet)
	if exceedsLimit(err) {
		return v, err // a folded expression takes fewer steps, so its result may differ
	}
	folded := expr.Fold(n, stdlib.Functions)
	for _, other := range []*expr.Node{folded, decoded(t, n), decoded(t, folded)} {
		w, otherErr := expr.Eval(other, env, Puppet)
		if (err == nil) != (otherErr == nil) || err == nil && !value.Identical(v, w) {
			t.Errorf("%s: %s, %v; folded or encoded: %s, %v", src, value.AppendJSON(nil, v), err,
				value.AppendJSON(nil, w), otherErr)
		}
	}
	return v, err
}

func exceedsLimit(err error) bool {
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
