package lookup

import (
	"bindc/internal/recipe"
	"bindc/internal/value"
)

// follow evaluates r, transforms the value and checks its type. r must not depend on lower bindings.
func (l *lookup) follow(key string, r *recipe.Recipe) (value.Value, error) {
	l.sensitive = l.sensitive || r.Sensitive
	if r.Kind == recipe.Multibind {
		v, err := l.multibind(key, r)
		return l.finish(key, r, v, err)
	}
	v, err := l.produce(key, r)
	return l.finish(key, r, v, err)
}

// attempt is like follow, but r may decline. If it does, its own sensitive mark has no effect. Sensitive values that it
// used still make the result sensitive, because they may be the reason.
func (l *lookup) attempt(key string, r *recipe.Recipe) (v value.Value, found bool, err error) {
	switch {
	case !r.Declines():
		v, err = l.follow(key, r)
		return v, err == nil, err
	case r.Kind == recipe.AliasOf:
		v, found, err = l.ask().Lookup(r.Targets[0].Key, r.Targets[0].Type)
	default:
		v, err = l.produce(key, r)
		found = !v.IsUndef()
	}
	return l.accept(key, r, v, found, err)
}

// accept transforms and checks the value of a recipe, unless the recipe declined.
func (l *lookup) accept(key string, r *recipe.Recipe, v value.Value, found bool, err error) (value.Value, bool, error) {
	if err == nil && !found {
		return value.Value{}, false, nil
	}
	l.sensitive = l.sensitive || r.Sensitive
	v, err = l.finish(key, r, v, err)
	return v, err == nil, err
}

// multibind combines the effective contributions to a multibinding (language.md, section 8).
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

// value evaluates a contribution, checks its element type and records the outcome. there is false if the contribution
// declines.
func (c *collector) value(p recipe.Part) (v value.Value, there bool, err error) {
	v, there, err = c.element(p)
	c.counts(p, v, there, err)
	return v, there, err
}

func (c *collector) element(p recipe.Part) (value.Value, bool, error) {
	v, there, err := c.attempt(c.key, p.Recipe)
	if m := c.options.Check(v); there && m != nil {
		err = failed(c.key, CodeTypeMismatch, "a contribution to '"+c.key+"'"+named(p)+": "+m.Text(c.hides()))
	}
	return v, there, err
}

// counts records the outcome of a contribution for an explanation.
func (l *lookup) counts(p recipe.Part, v value.Value, there bool, err error) {
	if rec := l.record; rec != nil && rec.at != nil {
		rec.counted[rec.at] = append(rec.counted[rec.at], contributed{p, l.outcome(v, there, err)})
	}
}

func (c *collector) array(parts []recipe.Part) (value.Value, error) {
	elems := []value.Value{}
	won := map[string]uint32{} // precedence of the contribution that won each name
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

// combined combines the contributions with the combinator, one after another, beginning with an empty array.
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

// included returns the names of the classes that their highest contribution includes.
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
