package compile

import (
	"cmp"
	"maps"
	"slices"

	"bindc/internal/diag"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/loader"
	"bindc/snapshot"
)

// declaration is a binding with a multibind_id.
type declaration struct {
	binding *loader.Binding
	options *recipe.Options
}

// declare notes that b collects contributions.
func (c *composer) declare(b *loader.Binding) {
	m := b.More.Multibind
	if m.Options == nil {
		c.broken[m.ID] = true
		return
	}
	c.declared[m.ID] = append(c.declared[m.ID], declaration{b, m.Options})
}

// fileContribution files a binding with `in` under the multibinding.
func (c *composer) fileContribution(cand candidate) {
	b := cand.binding
	if cand.recipe = b.More.Recipe; cand.recipe == nil {
		return
	}
	for _, w := range b.When {
		cand.condition, cand.rank = w, c.rank(cand.layer, w)
		c.contributions[b.More.In.ID] = append(c.contributions[b.More.In.ID], cand)
	}
}

// checkMultibinds reports what is wrong with multibindings whatever the facts.
func (c *composer) checkMultibinds() {
	ids := make([]string, 0, len(c.declared))
	for id := range c.declared {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for id, cs := range c.contributions {
		if len(c.declared[id]) == 0 && !c.broken[id] {
			c.unknownID(id, cs, ids)
		}
		for _, cand := range cs {
			for _, d := range c.declared[id] {
				c.checkContribution(cand, d)
			}
		}
		for _, d := range c.declared[id] {
			c.checkTwice(cs, d)
		}
	}
	for _, id := range ids {
		c.sameID(id)
	}
}

func (c *composer) unknownID(id string, cs []candidate, ids []string) {
	for _, cand := range cs {
		d := diag.Diagnostic{Pos: cand.binding.More.In.Pos, Severity: diag.Warning, Code: "multibind_unknown",
			Message: "there is no multibinding with the id '" + id + "': this contribution is never seen"}
		d.Hint = diag.DidYouMean(id, ids)
		c.diags.Add(d)
	}
}

func (c *composer) sameID(id string) {
	ds := c.declared[id]
	for _, d := range ds[1:] {
		if d.binding.Key != ds[0].binding.Key {
			c.diags.Add(diag.Diagnostic{Pos: d.binding.Pos, Severity: diag.Warning, Code: "multibind_id",
				Message: "'" + d.binding.Key + "' and '" + ds[0].binding.Key + "' collect the same contributions: both have the id '" + id + "'",
				Notes:   []diag.Note{{Pos: ds[0].binding.Pos, Message: "the other multibinding"}}})
		}
	}
}

// checkContribution holds one contribution to the multibinding it goes to.
func (c *composer) checkContribution(cand candidate, d declaration) {
	b := cand.binding
	if !d.options.Array && b.Key == "" {
		c.diags.Add(diag.Diagnostic{Pos: b.Pos, Code: "multibind",
			Message: "expected 'name', the key this contribution has in the hash '" + d.binding.Key + "'",
			Notes:   []diag.Note{{Pos: d.binding.Pos, Message: "the multibinding"}}})
	}
	written := b.More.Literal
	if written == nil {
		return
	}
	v := cand.recipe.Value
	if d.options.Resolution == recipe.Merge && v.Kind() != value.Hash {
		c.diags.Add(diag.Diagnostic{Pos: written.Pos, Code: "multibind",
			Message: "expected a hash to merge into '" + d.binding.Key + "', found " + value.Describe(v),
			Notes:   []diag.Note{{Pos: d.binding.Pos, Message: "conflicts are resolved by merging here"}}})
	}
	if d.options.Element != nil && !appended(d.options) {
		if m := d.options.Element.Check(v); m != nil {
			secret := cand.recipe.Sensitive
			c.diags.Add(diag.Diagnostic{Pos: written.Within(m.Path).Pos, Code: "type_mismatch",
				Message: "a contribution to '" + d.binding.Key + "': " + m.Text(secret), Secret: secret,
				Notes: []diag.Note{{Pos: d.binding.Pos, Message: "the multibinding"}}})
		}
	}
}

// appended tells whether contributions become elements of the elements, whose type then is that of the result.
func appended(o *recipe.Options) bool { return o.Resolution == recipe.AppendAll }

// checkTwice reports contributions of equal precedence under equal conditions, where priority decides between them.
func (c *composer) checkTwice(cs []candidate, d declaration) {
	type slot struct {
		rank, condition int
		name            string
	}
	first := map[slot]*loader.Binding{}
	for _, cand := range cs {
		b := cand.binding
		decides := d.options.PriorityOnNamed
		if !d.options.Array {
			decides = d.options.Resolution == recipe.Priority
		} else if b.Key == "" {
			decides = d.options.PriorityOnUnnamed
		}
		if d.options.Resolution == recipe.ErrorOnConflict {
			decides = true
		}
		s := slot{cand.rank, cand.condition, b.Key}
		other := first[s]
		if first[s] = b; !decides || other == nil || other == b {
			continue
		}
		c.diags.Add(diag.Diagnostic{Pos: b.Pos, Code: "duplicate",
			Message: "two contributions to '" + d.binding.Key + "' have the same name and precedence" +
				c.describe(c.site.Conditions[cand.condition]),
			Notes: []diag.Note{{Pos: other.Pos, Message: "the other one"}}})
	}
}

// contribute files contributions under internal keys: per scope the list of what it contributes.
func (c *composer) contribute() {
	for _, id := range slices.Sorted(maps.Keys(c.contributions)) {
		if len(c.declared[id]) == 0 {
			continue
		}
		key, _ := c.keyNumber(recipe.ContributionKey(id))
		cs := c.contributions[id]
		c.contributed(key, cs)
		slices.SortStableFunc(cs, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(a.layer, b.layer), cmp.Compare(a.condition, b.condition))
		})
		for from := 0; from < len(cs); {
			to := from
			for to < len(cs) && cs[to].layer == cs[from].layer && cs[to].condition == cs[from].condition {
				to++
			}
			list := c.valueNumber(&recipe.Recipe{Kind: recipe.Contributions, Parts: parts(cs[from:to])})
			c.store(list)
			s := c.scope(cs[from].layer, cs[from].condition)
			s.contributions = append(s.contributions, snapshot.Entry{Key: key, Value: c.order[list] - 1})
			from = to
		}
	}
}

// parts is what one scope contributes.
func parts(cs []candidate) []recipe.Part {
	out := make([]recipe.Part, len(cs))
	for i, cand := range cs {
		key := cand.binding.Key
		out[i] = recipe.Part{Name: key, Named: key != "", Precedence: uint32(cand.rank), Place: uint32(cand.place), Recipe: cand.recipe}
	}
	return out
}
