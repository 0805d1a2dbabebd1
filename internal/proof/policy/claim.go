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

// claim is a policy's requirement on the value of each key. Exactly one of the fields before source is set.
type claim struct {
	equals    *value.Value
	typ       *types.Type
	satisfies *expr.Lambda
	bound     *bool
	layers    []string

	source string // the requirement for messages: 'no', Array[String, 2]
}

// verdict is the judgement of a single value or binding.
type verdict uint8

const (
	holds verdict = iota
	broken
	unknown // the verdict depends on facts or other keys
)

// ofValue checks a value that a lookup finds in a layer. It returns "" if the value satisfies c, and otherwise what is
// wrong, without the value if it is secret.
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

// isMetBy reports whether a value in a layer satisfies c. If the lambda of c fails, the value does not satisfy c, and
// err is the lambda's error.
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

// ofConstant judges a binding to an encoded constant.
func (c *claim) ofConstant(encoded, layer string) verdict {
	v, _, _ := value.View(encoded) // the compiler has encoded it
	if isMet, _ := c.isMetBy(v, layer); !isMet {
		return broken
	}
	return holds
}

// ofNothing checks a lookup that finds nothing.
func (c *claim) ofNothing() string {
	if c.bound != nil && *c.bound {
		return "expected a value, found none"
	}
	return ""
}

// holdsForConstants reports whether c holds for every binding with a constant.
func (c *claim) holdsForConstants() bool { return c.bound != nil && *c.bound }

// ofRecipe judges a binding whose value depends on the request. A lookup of an abstract or erased binding finds
// nothing.
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

// ofComputed judges a computed value by the type that all its results have.
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

// typeOf returns a type of all values of r, or nil if none is known.
func typeOf(r *recipe.Recipe) *types.Type {
	switch {
	case r.Type != nil && !r.Type.Accepts(types.Of(types.Undef)):
		return r.Type
	case r.Kind == recipe.Expression && r.Transformer == nil && r.Expr.Op == expr.Concat:
		return types.Of(types.String)
	}
	return nil
}

// noEnv is the environment of lambdas in policies, which have no variables except their parameters.
type noEnv struct{}

func (noEnv) Variable(string) (value.Value, bool) { return value.Value{}, false }

func (noEnv) Lookup(string, *types.Type) (value.Value, bool, error) { return value.Value{}, false, nil }
