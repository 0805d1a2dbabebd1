package stdlib

import (
	"bindc/internal/expr"
	"bindc/internal/types"
	"bindc/internal/value"
)

// runAssertType returns argument 1 if it has the type in argument 0. Otherwise, it calls the lambda, or fails if
// there is none.
func runAssertType(c *call) (value.Value, error) {
	if err := c.Needs(2); err != nil {
		return value.Value{}, err
	}
	t, err := valueType(c, c.Args[0])
	if err != nil {
		return value.Value{}, err
	}
	v := c.Args[1]
	if t == nil {
		return v, c.Wrong(0, "a Type or its text")
	}
	if err := c.Traverse(v); err != nil {
		return v, err
	}
	m := t.Assert(v)
	if m == nil {
		return v, nil
	}
	if c.Lambda == nil {
		return v, c.Failf("%s", m.Shown())
	}
	return c.Yield(t.Value(), types.Detailed(v).Value())
}

func runCall(c *call) (value.Value, error) {
	name, err := c.Text(0)
	if err != nil {
		return value.Value{}, err
	}
	return c.CallByName(name, c.Args[1:])
}

func runConvertTo(c *call) (value.Value, error) {
	if c.Args[1].Kind() != value.Type {
		return value.Value{}, c.Wrong(1, "a Type")
	}
	if err := c.Needs(1); err != nil {
		return value.Value{}, err
	}
	t, err := types.FromValue(c.Args[1])
	if err != nil {
		return value.Value{}, err
	}
	inner := *c
	inner.Args = append([]value.Value{c.Args[0]}, c.Args[2:]...)
	v, err := convert(&inner, t)
	if err != nil || c.Lambda == nil {
		return v, err
	}
	return c.Yield(v)
}

// runType returns the type of a value: detailed, reduced (one type for all elements of a collection) or generalized.
func runType(c *call) (value.Value, error) {
	how := "detailed"
	if len(c.Args) > 1 {
		how = c.Args[1].Text()
	}
	v := c.Args[0]
	if err := c.Spend(1 + expr.Weight(v)); err != nil { // comparing types takes longer than visiting the values
		return v, err
	}
	switch how {
	case "detailed":
		return types.Detailed(v).Value(), nil
	case "reduced":
		return types.Reduced(v).Value(), nil
	case "generalized":
		return types.Reduced(v).Generalize().Value(), nil
	}
	return v, c.Failf("argument 2 must be 'detailed', 'reduced' or 'generalized'")
}
