package stdlib

import (
	"slices"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/expr/ruby"
	"bindc/internal/value"
)

// runSort sorts an array, or the characters of a string. Unless a lambda compares, upper-case letters come first.
func runSort(c *call) (value.Value, error) {
	v := c.Args[0]
	if v.Kind() != value.Array && v.Kind() != value.String {
		return value.Value{}, c.Wrong(0, "an Array or a String")
	}
	if err := c.Needs(2); err != nil {
		return value.Value{}, err
	}
	elems, err := elements(c)
	if err != nil {
		return value.Value{}, err
	}
	slices.SortStableFunc(elems, func(a, b value.Value) int {
		if err != nil {
			return 0
		}
		var order int
		order, err = orderOf(c, a, b)
		return order
	})
	if v.Kind() == value.String {
		return joined(elems), err
	}
	return value.FromSlice(elems), err
}

func joined(characters []value.Value) value.Value {
	var b strings.Builder
	for _, c := range characters {
		b.WriteString(c.Text())
	}
	return value.FromString(b.String())
}

// orderOf compares a and b with the lambda or, if there is none, like Ruby's <=>.
func orderOf(c *call, a, b value.Value) (int, error) {
	if err := c.Spend(1); err != nil {
		return 0, err
	}
	if c.Lambda == nil {
		if err := c.Traverse(a); err != nil {
			return 0, err
		}
		order, ok := ruby.Order(a, b)
		if !ok {
			return 0, c.Failf("%s and %s cannot be ordered", expr.Describe(a), expr.Describe(b))
		}
		return order, nil
	}
	answer, err := c.Yield(a, b)
	if err != nil {
		return 0, err
	}
	if !ruby.IsNumeric(answer.Kind()) {
		return 0, c.Failf("the lambda must return a number, found %s", expr.Describe(answer))
	}
	order, _ := ruby.CompareNumbers(answer, value.FromInt(0))
	return order, nil
}

// distinctKey returns the same string for two values only if they are Identical.
func distinctKey(v value.Value) string { return string(value.AppendDistinct(nil, v)) }

func runUnique(c *call) (value.Value, error) {
	if err := c.Needs(1); err != nil {
		return value.Value{}, err
	}
	if c.Args[0].Kind() == value.Hash {
		return uniqueHash(c)
	}
	elems, err := elements(c)
	if err != nil {
		return value.Value{}, err
	}
	out, err := uniqueElements(c, elems)
	if err != nil {
		return value.Value{}, err
	}
	if c.Args[0].Kind() == value.String {
		return joined(out), nil
	}
	return value.FromSlice(out), nil
}

// uniqueElements removes elements that equal an earlier one. If there is a lambda, uniqueElements compares its
// results instead.
func uniqueElements(c *call, elems []value.Value) ([]value.Value, error) {
	seen := map[string]bool{}
	out := elems[:0:0]
	for _, e := range elems {
		id, err := identityBy(c, e)
		if err != nil {
			return nil, err
		}
		if !seen[id] {
			seen[id] = true
			out = append(out, e)
		}
	}
	return out, nil
}

func identityBy(c *call, v value.Value) (string, error) {
	if c.Lambda != nil {
		answer, err := c.Yield(v)
		if err != nil {
			return "", err
		}
		v = answer
	}
	id := distinctKey(v)
	if err := c.Spend(1); err != nil {
		return "", err
	}
	return id, c.Produce(len(id))
}

// uniqueHash combines the keys that have equal values: {a => 1, b => 1} becomes {[a, b] => [1]}.
func uniqueHash(c *call) (value.Value, error) {
	type group struct{ keys, values []value.Value }
	var groups []*group
	byID := map[string]*group{}
	for k, e := range c.Args[0].Pairs() {
		id, err := identityBy(c, e)
		if err != nil {
			return value.Value{}, err
		}
		g := byID[id]
		if g == nil {
			g = &group{}
			byID[id] = g
			groups = append(groups, g)
		}
		g.keys, g.values = append(g.keys, k), append(g.values, e)
	}
	var b value.Builder
	plain := *c
	plain.Lambda = nil
	for _, g := range groups {
		values, err := uniqueElements(&plain, g.values)
		if err == nil {
			err = c.SetKey(&b, value.FromSlice(g.keys), value.FromSlice(values))
		}
		if err != nil {
			return value.Value{}, err
		}
	}
	return c.MakeHash(&b)
}
