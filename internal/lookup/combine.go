package lookup

import (
	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/value"
)

// combine calls the combinator of the options.
func (c *collector) combine(args ...value.Value) (value.Value, error) {
	return expr.CallLambda(c.options.Combinator, c.lookup, c.lookup.options(), args...)
}

// combined has a combinator make an array of the contributions, beginning with an empty one.
func (c *collector) combined(parts []recipe.Part) (value.Value, error) {
	memo := value.FromSlice([]value.Value{})
	for _, p := range parts {
		v, there, err := c.value(p)
		if err != nil {
			return value.Value{}, err
		}
		if !there {
			continue
		}
		if memo, err = c.combine(memo, v); err != nil {
			return value.Value{}, err
		}
	}
	return c.uniq(memo), nil
}

// combinedByName has a combinator make the value of each name.
func (c *collector) combinedByName(parts []recipe.Part) (value.Value, error) {
	var b value.Builder
	for _, p := range parts {
		v, there, err := c.value(p)
		if err != nil {
			return value.Value{}, err
		}
		if !there {
			continue
		}
		name := value.FromString(p.Name)
		current, _ := b.Get(name)
		if v, err = c.combine(name, current, v); err != nil {
			return value.Value{}, err
		}
		b.Set(name, v)
	}
	var out value.Builder
	for name, v := range b.Hash().Pairs() {
		out.Set(name, c.uniq(v))
	}
	return out.Hash(), nil
}

// uniq removes what occurs twice in what a combinator made, if the options say so and it is an array.
func (c *collector) uniq(v value.Value) value.Value {
	if !c.options.Uniq || v.Kind() != value.Array {
		return v
	}
	return value.FromSlice(unique(v.Slice()))
}

// included returns the names whose first contribution includes them: the highest of each class decides.
func (c *collector) included(parts []recipe.Part) (value.Value, error) {
	names := []value.Value{}
	seen := make(map[string]bool, len(parts))
	for _, p := range parts {
		if seen[p.Name] {
			continue
		}
		seen[p.Name] = true
		v, _, err := c.value(p)
		if err != nil {
			return value.Value{}, err
		}
		if v.Text() == recipe.Include {
			names = append(names, value.FromString(p.Name))
		}
	}
	return value.FromSlice(names), nil
}
