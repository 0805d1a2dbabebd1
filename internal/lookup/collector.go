package lookup

import (
	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/internal/value"
)

// collector combines the contributions to one multibinding.
type collector struct {
	*lookup
	key     string
	options *recipe.Options
}

func named(p recipe.Part) string {
	if !p.Named {
		return ""
	}
	return " named '" + p.Name + "'"
}

func (c *collector) duplicate(p recipe.Part) error {
	return failed(c.key, CodeDuplicate,
		"two contributions to '"+c.key+"'"+named(p)+" are effective and neither has precedence")
}

// finish applies the options flatten and uniq to elems.
func (c *collector) finish(elems []value.Value) []value.Value {
	elems = c.options.Flat(elems)
	if c.options.Uniq {
		elems = unique(elems)
	}
	return elems
}

// uniq applies the option uniq to v, the result of a combinator. It only changes arrays.
func (c *collector) uniq(v value.Value) value.Value {
	if !c.options.Uniq || v.Kind() != value.Array {
		return v
	}
	return value.FromSlice(unique(v.Slice()))
}

func unique(elems []value.Value) []value.Value {
	seen := make(map[string]bool, len(elems))
	out := elems[:0:0]
	for _, e := range elems {
		if k := string(value.AppendDistinct(nil, e)); !seen[k] {
			seen[k] = true
			out = append(out, e)
		}
	}
	return out
}

// resolve reports whether conflict_resolution skips p. taken means that a contribution with the given precedence
// already has the name of p.
func (c *collector) resolve(p recipe.Part, taken bool, precedence uint32) (skip bool, err error) {
	if !taken {
		return false, nil
	}
	switch c.options.Resolution {
	case recipe.Priority:
		if precedence == p.Precedence {
			return false, c.duplicate(p)
		}
		return true, nil
	case recipe.Ignore:
		return true, nil
	case recipe.ErrorOnConflict:
		return false, failed(c.key, CodeDuplicate, "two contributions to '"+c.key+"'"+named(p)+
			" are effective, and its conflict_resolution is 'error'")
	}
	return false, nil
}

// inferred returns the type of v for messages, without details if v may be sensitive.
func (c *collector) inferred(v value.Value) string {
	if c.hides() {
		return "a sensitive value of a different type"
	}
	return types.Infer(v).String()
}

// merge returns v, the hash that p contributes, merged with the hash that b has under the same name. Entries already in
// b have precedence.
func (c *collector) merge(p recipe.Part, b *value.Builder, v value.Value) (value.Value, error) {
	if v.Kind() != value.Hash {
		return v, failed(c.key, CodeTypeMismatch, "a contribution to '"+c.key+"'"+named(p)+
			": expected a hash to merge, found "+c.inferred(v))
	}
	higher, ok := b.Get(value.FromString(p.Name))
	if !ok {
		return v, nil
	}
	var merged value.Builder
	for k, e := range v.Pairs() { // v first, because Ruby's merge puts the keys of the receiver first
		merged.Set(k, e)
	}
	for k, e := range higher.Pairs() {
		merged.Set(k, e)
	}
	return merged.Hash(), nil
}

func (c *collector) collectAppended(order []string, appended map[string][]value.Value) (value.Value, error) {
	var b value.Builder
	for _, name := range order {
		v := value.FromSlice(c.finish(appended[name]))
		if m := c.options.Element.Check(v); m != nil {
			return value.Value{}, failed(c.key, CodeTypeMismatch, "'"+name+"' of '"+c.key+"': "+m.Text(c.hides()))
		}
		b.Set(value.FromString(name), v)
	}
	return b.Hash(), nil
}

func (c *collector) combine(args ...value.Value) (value.Value, error) {
	return expr.CallLambda(c.options.Combinator, c.ask(), c.lookup.options(), args...)
}
