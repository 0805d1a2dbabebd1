package expr

import (
	"bindc/internal/types"
	"bindc/internal/value"
)

// runAssertType answers with its value if that is of the type, else with the lambda's answer.
func runAssertType(c *call) (value.Value, error) {
	if err := c.needs(2); err != nil {
		return value.Value{}, err
	}
	t, err := c.valueType(c.args[0])
	if err != nil {
		return value.Value{}, err
	}
	v := c.args[1]
	if t == nil {
		return v, c.wrong(0, "a Type or its text")
	}
	if err := c.ev.traverse(v); err != nil {
		return v, err
	}
	m := t.Assert(v)
	if m == nil {
		return v, nil
	}
	if c.lambda == nil {
		return v, c.failf("%s", m.Shown())
	}
	return c.yield(t.Value(), types.Detailed(v).Value())
}

// runCall calls a function by name.
func runCall(c *call) (value.Value, error) {
	name, err := c.text(0)
	if err != nil {
		return value.Value{}, err
	}
	return c.ev.callFunction(c.node, name, c.args[1:], c.lambda)
}

func runConvertTo(c *call) (value.Value, error) {
	if c.args[1].Kind() != value.Type {
		return value.Value{}, c.wrong(1, "a Type")
	}
	if err := c.needs(1); err != nil {
		return value.Value{}, err
	}
	t, err := types.FromValue(c.args[1])
	if err != nil {
		return value.Value{}, err
	}
	inner := *c
	inner.args = append([]value.Value{c.args[0]}, c.args[2:]...)
	v, err := inner.convert(t)
	if err != nil || c.lambda == nil {
		return v, err
	}
	return c.yield(v)
}

// runType is the type of a value: detailed, reduced to one type per collection, or generalized.
func runType(c *call) (value.Value, error) {
	how := "detailed"
	if len(c.args) > 1 {
		how = c.args[1].Text()
	}
	v := c.args[0]
	if err := c.ev.spend(1 + weight(v)); err != nil { // to compare types takes longer than to look at values
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
	return v, c.failf("argument 2 must be 'detailed', 'reduced' or 'generalized'")
}
