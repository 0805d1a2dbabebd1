package compile

import (
	"cmp"
	"maps"
	"slices"

	"bindc/internal/diag"
	"bindc/internal/recipe"
	"bindc/internal/types"
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
	c.arm8 = c.arm8 || b.More.Recipe != nil && b.More.Recipe.IsARM8()
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

// checkMultibinds reports what is wrong with multibindings whatever the facts. One that never wins cannot be wrong.
func (c *composer) checkMultibinds() {
	ids := slices.Sorted(maps.Keys(c.declared))
	for _, id := range slices.Sorted(maps.Keys(c.contributions)) {
		cs := c.contributions[id]
		if id == recipe.ClassesKey {
			c.checkClasses(cs)
			continue
		}
		if len(c.declared[id]) == 0 && !c.broken[id] {
			c.unknownID(id, cs, ids)
		}
		for _, d := range c.declared[id] {
			if when := c.effective(d.binding); len(when) > 0 {
				for i := range cs {
					if c.effort.spend(10) {
						c.checkContribution(&cs[i], d)
					}
				}
				c.checkTwice(cs, d, when)
			}
		}
	}
	for _, id := range ids {
		c.sameID(id)
		for _, d := range c.declared[id] {
			c.checkHiding(d, id)
		}
	}
}

// checkHiding warns about bindings that hide a multibinding, and therefore its contributions, without 'override: true'.
func (c *composer) checkHiding(d declaration, id string) {
	key, _ := c.keyNumber(d.binding.Key)
	n := len(c.contributions[id])
	if k := c.indexes[key]; k != nil && n > 0 && d.binding.More.In == nil {
		for i := range k.hiding(d.binding) {
			c.report(diag.Diagnostic{Pos: k.all[i].pos(), Severity: diag.Warning, Code: "multibind_hidden",
				Message: "this hides the multibinding '" + k.name + "', and " + diag.Count(n, "contribution"),
				Notes:   []diag.Note{{Pos: d.binding.Pos, Message: "the multibinding"}},
				Hint:    contributeHint(id) + "; 'override: true' hides it intentionally"})
		}
	}
}

func contributeHint(id string) string {
	return "to contribute, write {in: '" + id + "', to: ...} in bindings"
}

// hiding returns the candidates that hide the multibinding b.
func (k *keyIndex) hiding(b *loader.Binding) map[int]bool {
	out := map[int]bool{}
	for i := range k.all {
		if k.all[i].binding != b {
			continue
		}
		for j := range k.compatible(k.terms(i), k.all[i].rank) {
			if k.all[j].hides() && !k.neverWins(j) {
				out[j] = true
			}
		}
	}
	return out
}

// collects returns the id of a multibinding, or "" for any other binding.
func (c *candidate) collects() string {
	if more := c.more(); more != nil && more.Multibind != nil {
		return more.Multibind.ID
	}
	return ""
}

// hides reports whether c would replace a multibinding unintentionally.
func (c *candidate) hides() bool {
	more := c.more()
	return c.final() && c.collects() == "" && (more == nil || !more.Override && !more.Abstract)
}

// addCollecting adds the keys that are bound to multibindings.
func (c *composer) addCollecting(keys map[uint32]bool) {
	for _, ds := range c.declared {
		for _, d := range ds {
			if key, bound := c.keyNumber(d.binding.Key); bound {
				keys[key] = true
			}
		}
	}
}

// effective is the alternatives under which a multibinding wins in some request, or contributes.
func (c *composer) effective(b *loader.Binding) []loader.Condition {
	var out []loader.Condition
	if b.More.In != nil {
		for _, w := range b.When {
			out = append(out, c.site.Conditions[w])
		}
		return out
	}
	key, _ := c.keyNumber(b.Key)
	k := c.indexes[key]
	for i := range k.all {
		if k.all[i].binding == b && !k.neverWins(i) {
			out = append(out, k.terms(i))
		}
	}
	return out
}

// unknownID reports contributions to an id that no multibinding has. If the id is the key of a multibinding, the
// message names its actual id.
func (c *composer) unknownID(id string, cs []candidate, ids []string) {
	if d, meant, ok := c.collecting(id, ids); ok {
		for _, cand := range cs {
			c.report(diag.Diagnostic{Pos: cand.binding.More.In.Pos, Code: "multibind_unknown",
				Message: "'" + id + "' is the key of a multibinding; contributions name its id, which is '" + meant + "'",
				Notes:   []diag.Note{{Pos: d.binding.Pos, Message: "the multibinding"}},
				Hint:    "write '" + meant + "' in place of '" + id + "'"})
		}
		return
	}
	hint := c.diags.DidYouMean(id, ids)
	for _, cand := range cs {
		d := diag.Diagnostic{Pos: cand.binding.More.In.Pos, Severity: diag.Warning, Code: "multibind_unknown",
			Message: "there is no multibinding with the id '" + id + "': this contribution is never seen", Hint: hint}
		c.report(d)
	}
}

// collecting returns a multibinding that is bound to key, and its id.
func (c *composer) collecting(key string, ids []string) (declaration, string, bool) {
	for _, id := range ids {
		for _, d := range c.declared[id] {
			if d.binding.Key == key {
				return d, id, true
			}
		}
	}
	return declaration{}, "", false
}

func (c *composer) sameID(id string) {
	ds := c.declared[id]
	for _, d := range ds[1:] {
		if d.binding.Key != ds[0].binding.Key {
			c.report(diag.Diagnostic{Pos: d.binding.Pos, Severity: diag.Warning, Code: "multibind_id",
				Message: "'" + d.binding.Key + "' and '" + ds[0].binding.Key +
					"' collect the same contributions: both have the id '" + id + "'",
				Notes: []diag.Note{{Pos: ds[0].binding.Pos, Message: "the other multibinding"}}})
		}
	}
}

// checkContribution holds one contribution to the multibinding it goes to.
func (c *composer) checkContribution(cand *candidate, d declaration) {
	b := cand.binding
	if !d.options.Array && b.Key == "" {
		c.report(diag.Diagnostic{Pos: b.Pos, Code: "multibind",
			Message: "expected 'name', the key this contribution has in the hash '" + d.binding.Key + "'",
			Notes:   []diag.Note{{Pos: d.binding.Pos, Message: "the multibinding"}}})
	}
	written := b.More.Literal
	if written == nil {
		if r := cand.recipe; r.Kind == recipe.Expression && r.Transformer == nil {
			c.mismatch(cand, d, d.options.Misfit(r.Expr), b.Pos, "")
		}
		return
	}
	v := cand.recipe.Value
	if d.options.Resolution == recipe.Merge && v.Kind() != value.Hash {
		c.report(diag.Diagnostic{Pos: written.Pos, Code: "multibind",
			Message: "expected a hash to merge into '" + d.binding.Key + "', found " + value.Describe(v),
			Notes:   []diag.Note{{Pos: d.binding.Pos, Message: "conflicts are resolved by merging here"}}})
	}
	if m := d.options.Check(v); m != nil {
		hint := ""
		if d.options.LacksFlatten(v) {
			hint = "the option 'flatten: true' of the multibinding collects the elements of a list"
		}
		c.mismatch(cand, d, m, written.Within(m.Path).Pos, hint)
	}
}

// mismatch reports that a contribution is not of the type of the elements, if it is not.
func (c *composer) mismatch(cand *candidate, d declaration, m *types.Mismatch, at diag.Pos, hint string) {
	if m == nil {
		return
	}
	secret := cand.recipe.Sensitive
	c.report(diag.Diagnostic{Pos: at, Code: "type_mismatch", Hint: hint,
		Message: "a contribution to '" + d.binding.Key + "': " + m.Text(secret), Secret: secret,
		Notes: []diag.Note{{Pos: d.binding.Pos, Message: "the multibinding"}}})
}

// checkTwice reports contributions of one name that are always effective together, and between which nothing decides.
// when is where the multibinding is effective.
func (c *composer) checkTwice(cs []candidate, d declaration, when []loader.Condition) {
	byName := map[string]*keyIndex{}
	for _, cand := range cs {
		name := cand.binding.Key
		if !decides(d.options, name != "") || !cand.final() || c.renamed[d.binding.More.Multibind.ID] {
			continue // or there may be none of that name
		}
		if byName[name] == nil {
			byName[name] = &keyIndex{composer: c, name: name}
		}
		byName[name].all = append(byName[name].all, cand)
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		byName[name].checkTwice(d, when)
	}
}

// checkTwice compares the first contribution of each condition and rank with those of others, and with the others of
// its own, see checkRank.
func (k *keyIndex) checkTwice(d declaration, when []loader.Condition) {
	slices.SortStableFunc(k.all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.place, b.place))
	})
	first := map[[2]int]int{} // by condition and rank
	kind := func(i int) [2]int { return [2]int{k.all[i].condition, k.all[i].rank} }
	for i := len(k.all) - 1; i >= 0; i-- {
		first[kind(i)] = i
	}
	reported := map[[2]int]bool{} // by place
	for i := range k.all {
		if first[kind(i)] != i {
			continue
		}
		for j := range k.implied(k.terms(i), noRank) {
			a, b := &k.all[min(i, j)], &k.all[max(i, j)]
			pair := [2]int{a.place, b.place}
			if f := first[kind(j)]; (f == i || f == j) && a.place != b.place && !reported[pair] &&
				k.collide(i, j, d.options, when) {
				reported[pair] = true
				k.duplicate(a, b, d, k.terms(i))
			}
		}
	}
}

// decides tells whether of several contributions of one name, or without one, only one can count.
func decides(o *recipe.Options, named bool) bool {
	switch {
	case !o.Array:
		return o.Resolution == recipe.Priority || o.Resolution == recipe.ErrorOnConflict
	case named:
		return o.PriorityOnNamed
	}
	return o.PriorityOnUnnamed
}

// collide tells whether contributions i and j are an error in every request that one of them is effective in. Of j it
// is known that it is effective whenever i is.
func (k *keyIndex) collide(i, j int, o *recipe.Options, when []loader.Condition) bool {
	if !k.effort.spend(8*len(when)) || !k.relations.Implies(k.terms(j), k.terms(i)) ||
		!slices.ContainsFunc(when, func(w loader.Condition) bool { return k.relations.Together(w, k.terms(i)) }) {
		return false
	}
	rank := k.all[i].rank
	return o.Resolution == recipe.ErrorOnConflict || rank == k.all[j].rank && !k.hidden(rank, k.terms(i))
}

func (k *keyIndex) duplicate(a, b *candidate, d declaration, terms loader.Condition) {
	same := "the same name and precedence"
	if d.options.Resolution == recipe.ErrorOnConflict {
		same = "the same name"
	}
	k.report(diag.Diagnostic{Pos: b.pos(), Code: "duplicate",
		Message: "two contributions to '" + d.binding.Key + "' have " + same + k.describe(terms),
		Notes:   []diag.Note{{Pos: a.pos(), Message: "the other one"}}})
}

// contribute files contributions under internal keys: per scope the list of what it contributes.
func (c *composer) contribute() {
	for _, id := range slices.Sorted(maps.Keys(c.contributions)) {
		if len(c.declared[id]) == 0 {
			continue
		}
		key, _ := c.keyNumber(recipe.ContributionKey(id))
		cs := c.contributions[id]
		for i := range cs {
			cs[i].key = key
		}
		c.contributed(key, cs)
		slices.SortStableFunc(cs, func(a, b candidate) int { // as their origins are, see cold
			return cmp.Or(cmp.Compare(a.layer, b.layer), cmp.Compare(a.condition, b.condition),
				cmp.Compare(a.place, b.place))
		})
		for from := 0; from < len(cs); {
			to := from
			for to < len(cs) && cs[to].layer == cs[from].layer && cs[to].condition == cs[from].condition {
				to++
			}
			list := c.valueNumber(&recipe.Recipe{Kind: recipe.Contributions, Parts: c.parts(cs[from:to])})
			c.store(list)
			s := c.scope(cs[from].layer, cs[from].condition)
			s.contributions = append(s.contributions, snapshot.Entry{Key: key, Value: c.inStored[list] - 1})
			from = to
		}
	}
}

// parts is what one scope contributes.
func (c *composer) parts(cs []candidate) []recipe.Part {
	out := make([]recipe.Part, len(cs))
	for i, cand := range cs {
		key := cand.binding.Key
		c.arm8 = c.arm8 || !cand.recipe.IsFinal() || cand.recipe.Renames()
		out[i] = recipe.Part{Name: key, Named: key != "", Precedence: uint32(cand.rank), Place: uint32(cand.place),
			Recipe: cand.recipe}
	}
	return out
}
