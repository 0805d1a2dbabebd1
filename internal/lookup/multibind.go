package lookup

import (
	"cmp"
	"slices"

	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/internal/value"
)

// multibind puts the effective contributions together (language.md, section 8).
func (l *lookup) multibind(key string, r *recipe.Recipe) (value.Value, error) {
	parts, err := l.contributions(r.Name)
	if err != nil {
		return value.Value{}, err
	}
	if err := l.enter(r.Name); err != nil {
		return value.Value{}, err
	}
	defer l.leave()
	c := collector{lookup: l, key: key, options: r.Options}
	switch o := r.Options; {
	case o.Combinator != nil && o.Array:
		return c.combined(parts)
	case o.Combinator != nil:
		return c.combinedByName(parts)
	case o.Resolution == recipe.Included:
		return c.included(parts)
	case o.Array:
		return c.array(parts)
	}
	return c.hash(parts)
}

// contributions are the parts of every scope the request is in, in order: layer, precedence, place.
func (l *lookup) contributions(name string) ([]recipe.Part, error) {
	var out []recipe.Part
	for c, err := range l.r.file.Candidates(name, l.r.numbers, &l.r.scopes) {
		if err != nil {
			return nil, err
		}
		n, _ := c.Ref.Recipe()
		r, err := l.r.snap.recipe(name, n)
		if err != nil {
			return nil, err
		}
		out = append(out, r.Parts...)
	}
	slices.SortStableFunc(out, func(a, b recipe.Part) int {
		return cmp.Or(cmp.Compare(a.Precedence, b.Precedence), cmp.Compare(a.Place, b.Place))
	})
	return newNames(highestAlternatives(out)), nil
}

// highestAlternatives leaves one part of each contribution. A contribution under several alternatives is a part under
// each, all of one place; of those that are effective the highest counts, and comes first.
func highestAlternatives(parts []recipe.Part) []recipe.Part {
	seen := make(map[uint32]bool, len(parts))
	return slices.DeleteFunc(parts, func(p recipe.Part) bool {
		again := seen[p.Place]
		seen[p.Place] = true
		return again
	})
}

// collector puts one multibinding together.
type collector struct {
	*lookup
	key     string
	options *recipe.Options
}

// value produces a contribution that counts, and holds it to the element type. One that declines is not there.
func (c *collector) value(p recipe.Part) (v value.Value, there bool, err error) {
	v, there, err = c.element(p)
	c.counts(p, v, there, err)
	return v, there, err
}

func (c *collector) element(p recipe.Part) (value.Value, bool, error) {
	v, there, err := c.attempt(c.key, p.Recipe, -1)
	if m := c.options.Check(v); there && m != nil {
		err = failed(c.key, CodeTypeMismatch, "a contribution to '"+c.key+"'"+named(p)+": "+m.Text(c.hides()))
	}
	return v, there, err
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

func (c *collector) array(parts []recipe.Part) (value.Value, error) {
	elems := []value.Value{}
	won := map[string]uint32{} // the precedence of the contribution that won a name
	for _, p := range parts {
		decides, twice := c.options.PriorityOnUnnamed, false
		if p.Named {
			decides = c.options.PriorityOnNamed
		}
		if decides {
			precedence, taken := won[p.Name]
			twice = taken && precedence == p.Precedence
			if taken && !twice {
				continue
			}
		}
		if twice && !p.Recipe.Declines() {
			return value.Value{}, c.duplicate(p)
		}
		v, there, err := c.value(p)
		switch {
		case err != nil:
			return value.Value{}, err
		case !there:
			continue
		case twice:
			return value.Value{}, c.duplicate(p)
		}
		won[p.Name] = p.Precedence
		elems = append(elems, v)
	}
	return value.FromSlice(c.finish(elems)), nil
}

// finish flattens and removes what occurs twice, as the options say.
func (c *collector) finish(elems []value.Value) []value.Value {
	elems = c.options.Flat(elems)
	if c.options.Uniq {
		elems = unique(elems)
	}
	return elems
}

func unique(elems []value.Value) []value.Value {
	seen := make(map[string]bool, len(elems))
	out := elems[:0:0]
	for _, e := range elems {
		if k := string(value.AppendIdentity(nil, e)); !seen[k] {
			seen[k] = true
			out = append(out, e)
		}
	}
	return out
}

func (c *collector) hash(parts []recipe.Part) (value.Value, error) {
	var b value.Builder
	won := map[string]uint32{}
	appended := map[string][]value.Value{}
	var order []string
	for _, p := range parts {
		precedence, taken := won[p.Name]
		skip, twice := c.resolve(p, taken, precedence)
		if skip {
			continue
		}
		if twice != nil && !p.Recipe.Declines() {
			return value.Value{}, twice
		}
		v, there, err := c.value(p)
		if err == nil && there {
			err = twice
		}
		if err != nil {
			return value.Value{}, err
		}
		if !there {
			continue
		}
		if !taken {
			won[p.Name] = p.Precedence
			order = append(order, p.Name)
		}
		switch c.options.Resolution {
		case recipe.AppendAll:
			appended[p.Name] = append(appended[p.Name], v)
		case recipe.Merge:
			if v, err = c.merge(p, &b, v); err != nil {
				return value.Value{}, err
			}
			fallthrough
		default:
			b.Set(value.FromString(p.Name), v)
		}
	}
	if c.options.Resolution == recipe.AppendAll {
		return c.collectAppended(order, appended)
	}
	return b.Hash(), nil
}

// resolve decides what a contribution is worth whose name another of the given precedence has taken.
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

// inferred is the type of a value, or where something sensitive was involved nothing of it.
func (c *collector) inferred(v value.Value) string {
	if c.hides() {
		return "another value, which is sensitive"
	}
	return types.Infer(v).String()
}

// merge adds to the higher hash of that name, if there is one, the entries it does not have.
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
	for k, e := range v.Pairs() { // lower first, as Ruby's merge orders the keys
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
