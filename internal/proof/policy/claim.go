package policy

import (
	"slices"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/internal/value"
)

// claim is what a policy requires of values. Exactly one field other than source and text is set.
type claim struct {
	equals    *value.Value
	typ       *types.Type
	satisfies *expr.Lambda
	bound     *bool
	layers    []string

	source string // the requirement as messages show it
	text   string // claims with the same text require the same; may be empty
}

// verdict says whether a binding satisfies a claim, considering all requests.
type verdict uint8

const (
	holds verdict = iota
	broken
	unknown // the value depends on facts or other keys
)

// ofValue checks a value that a lookup found in the given layer. It returns "" if v satisfies c, and otherwise what is
// wrong. If secret is set, the text does not contain the value.
func (c *claim) ofValue(v value.Value, layer string, secret bool) string {
	isMet, failed := c.isMetBy(v, layer)
	if isMet {
		return ""
	}
	found := ", found another value, which is sensitive"
	if !secret {
		found = ", found " + shown(v)
	}
	switch {
	case c.bound != nil:
		return "expected no value" + strings.Replace(found, "another", "a", 1)
	case c.layers != nil:
		return "expected a binding in " + c.source + ", found one in layer '" + layer + "'"
	case c.typ != nil:
		return c.typ.Check(v).Text(secret)
	case c.equals != nil:
		return "expected " + c.source + found
	case failed != nil && !secret:
		found += "; the lambda fails: " + failed.Error()
	}
	return "expected a value that satisfies " + c.source + found
}

// isMetBy reports whether v, found in the given layer, satisfies c. If the lambda of c fails, isMetBy returns false and
// the lambda's error.
func (c *claim) isMetBy(v value.Value, layer string) (bool, error) {
	switch {
	case c.bound != nil:
		return *c.bound, nil
	case c.layers != nil:
		return slices.Contains(c.layers, layer), nil
	case c.equals != nil:
		return value.Identical(v, *c.equals), nil
	case c.typ != nil:
		return c.typ.Check(v) == nil, nil
	}
	result, err := expr.CallLambda(c.satisfies, noEnv{}, expr.Options{Functions: stdlib.Functions}, v)
	return err == nil && result.Truthy(), err
}

// ofConstant returns the verdict on a binding to a constant in the given layer.
func (c *claim) ofConstant(encoded, layer string) verdict {
	v, _, _ := value.View(encoded) // the compiler has encoded it, so this cannot fail
	if isMet, _ := c.isMetBy(v, layer); !isMet {
		return broken
	}
	return holds
}

// ofNothing checks a lookup that finds nothing. It returns "" if that satisfies c, and otherwise what is wrong.
func (c *claim) ofNothing() string {
	if c.bound != nil && *c.bound {
		return "expected a value, found none"
	}
	return ""
}

// holdsForConstants reports whether every binding to a constant satisfies c.
func (c *claim) holdsForConstants() bool { return c.bound != nil && *c.bound }

// ofRecipe returns the verdict on a binding whose value depends on the request. If an abstract or erased binding wins,
// the lookup finds nothing.
func (c *claim) ofRecipe(r *recipe.Recipe, layer string) verdict {
	nothing := r.Kind == recipe.Abstract || r.Kind == recipe.Erased
	switch {
	case nothing && c.ofNothing() != "":
		return broken
	case nothing:
		return holds
	case c.bound != nil && *c.bound:
		return holds
	case c.bound != nil:
		return broken
	case c.layers != nil:
		if slices.Contains(c.layers, layer) {
			return holds
		}
		return broken
	case r.Kind == recipe.Constant && r.Transformer == nil:
		if isMet, _ := c.isMetBy(r.Value, layer); !isMet {
			return broken
		}
		return holds
	}
	return c.ofComputed(r)
}

// ofComputed returns the verdict on a computed value, using only the type of its results.
func (c *claim) ofComputed(r *recipe.Recipe) verdict {
	plain := r.Kind == recipe.Expression && r.Transformer == nil
	switch t := typeOf(r); {
	case c.typ != nil && t != nil && c.typ.Accepts(t):
		return holds
	case c.typ != nil && plain && recipe.Misfit(c.typ, r.Expr) != nil:
		return broken
	case c.equals != nil && plain && recipe.Misfit(types.Infer(*c.equals).Generalize(), r.Expr) != nil:
		return broken
	}
	return unknown
}

// typeOf returns a type that all results of r have, or nil if none is known.
func typeOf(r *recipe.Recipe) *types.Type {
	switch {
	case r.Type != nil && !r.Type.Accepts(types.Of(types.Undef)):
		return r.Type
	case r.Kind == recipe.Expression && r.Transformer == nil && r.Expr.Op == expr.Concat:
		return types.Of(types.String)
	}
	return nil
}

// noEnv is the environment for lambdas in policies. They can use only their parameters.
type noEnv struct{}

func (noEnv) Variable(string) (value.Value, bool) { return value.Value{}, false }

func (noEnv) Lookup(string, *types.Type) (value.Value, bool, error) { return value.Value{}, false, nil }
