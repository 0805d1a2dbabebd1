package check

import (
	"maps"
	"slices"

	"bindc/compile/internal/place"
	"bindc/diag"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/internal/value"
	"bindc/loader"
)

// checkMultibinds reports errors in multibindings and their contributions that do not depend on facts. It skips
// contributions to a multibinding that never takes effect.
func (c *checker) checkMultibinds() {
	ids := slices.Sorted(maps.Keys(c.Multibinds.Declared))
	byKey := c.multibindsByKey(ids)
	for _, id := range slices.Sorted(maps.Keys(c.Multibinds.Contributions)) {
		all := c.Multibinds.Contributions[id]
		if id == recipe.ClassesKey {
			c.checkClasses(all)
			continue
		}
		if len(c.Multibinds.Declared[id]) == 0 && !c.Multibinds.Broken[id] {
			c.reportUnknownID(id, all, ids, byKey)
		}
		for _, d := range c.Multibinds.Declared[id] {
			if when := c.effective(d.Binding); len(when) > 0 {
				for i := range all {
					if c.Effort.Spend(10) {
						c.checkContribution(&all[i], d)
					}
				}
				c.checkTwice(all, d, when)
			}
		}
	}
	for _, id := range ids {
		c.warnOfSameID(id)
		for _, d := range c.Multibinds.Declared[id] {
			c.checkHiding(d, id)
		}
	}
}

// checkHiding warns about bindings that hide a multibinding and its contributions, unless they are abstract or have
// 'override: true'.
func (c *checker) checkHiding(d place.Declaration, id string) {
	key, _ := c.Find(d.Binding.Key)
	n := len(c.Multibinds.Contributions[id])
	if k := c.indexes[key]; k != nil && n > 0 && d.Binding.More.In == nil {
		for i := range k.hiding(d.Binding) {
			c.Report(diag.Diagnostic{Pos: k.all[i].Pos(), Severity: diag.Warning, Code: "multibind_hidden",
				Message: "this hides the multibinding '" + k.name + "', and " + diag.Count(n, "contribution"),
				Notes:   []diag.Note{{Pos: d.Binding.Pos, Message: "the multibinding"}},
				Hint:    contributeHint(id) + "; 'override: true' hides it intentionally"})
		}
	}
}

// hiding returns the candidates that hide the multibinding b, as indexes in k.all.
func (k *keyIndex) hiding(b *loader.Binding) map[int]bool {
	out := map[int]bool{}
	for i := range k.all {
		if k.all[i].Binding != b {
			continue
		}
		for j := range k.compatible(k.terms(i), k.all[i].Rank) {
			if k.all[j].Hides() && !k.neverWins(j) {
				out[j] = true
			}
		}
	}
	return out
}

// effective returns the conditions under which the multibinding b wins or contributes in some request.
func (c *checker) effective(b *loader.Binding) []loader.Condition {
	var out []loader.Condition
	if b.More.In != nil {
		for _, condition := range b.When {
			out = append(out, c.Site.Conditions[condition])
		}
		return out
	}
	key, _ := c.Find(b.Key)
	k := c.indexes[key]
	for i := range k.all {
		if k.all[i].Binding == b && !k.neverWins(i) {
			out = append(out, k.terms(i))
		}
	}
	return out
}

// reportUnknownID reports contributions to an id that no multibinding has. If id is the key of a multibinding, the
// message names the id of that multibinding.
func (c *checker) reportUnknownID(id string, all []place.Candidate, ids []string, byKey map[string]*loader.Binding) {
	if b := byKey[id]; b != nil {
		meant := b.More.Multibind.ID
		for _, cand := range all {
			c.Report(diag.Diagnostic{Pos: cand.Binding.More.In.Pos, Code: "multibind_unknown",
				Message: "'" + id + "' is the key of a multibinding; contributions must use its id, '" + meant + "'",
				Notes:   []diag.Note{{Pos: b.Pos, Message: "the multibinding"}},
				Hint:    "write '" + meant + "' instead of '" + id + "'", Fix: diag.MeantAs(id, meant)})
		}
		return
	}
	d := diag.Diagnostic{Severity: diag.Warning, Code: "multibind_unknown", Fix: c.Diags.Correct(id, ids),
		Message: "no multibinding has the id '" + id + "'; this contribution is never used"}
	near := d.Fix.New
	if len(all) > len(c.Multibinds.Declared[near])+len(c.Multibinds.Contributions[near]) && near != "" {
		d.Fix, d.Hint = diag.Fix{}, "a multibinding has the id '"+near+"': correct one of the two ids"
		d.Notes = []diag.Note{{Pos: c.Multibinds.Declared[near][0].Binding.Pos, Message: "the multibinding"}}
	}
	for _, cand := range all {
		d.Pos = cand.Binding.More.In.Pos
		c.Report(d)
	}
}

// multibindsByKey returns the first multibinding of each key, in the order of ids.
func (c *checker) multibindsByKey(ids []string) map[string]*loader.Binding {
	out := map[string]*loader.Binding{}
	for _, id := range ids {
		for _, d := range c.Multibinds.Declared[id] {
			if out[d.Binding.Key] == nil {
				out[d.Binding.Key] = d.Binding
			}
		}
	}
	return out
}

func (c *checker) warnOfSameID(id string) {
	ds := c.Multibinds.Declared[id]
	for _, d := range ds[1:] {
		if d.Binding.Key != ds[0].Binding.Key {
			c.Report(diag.Diagnostic{Pos: d.Binding.Pos, Severity: diag.Warning, Code: "multibind_id",
				Message: "'" + d.Binding.Key + "' and '" + ds[0].Binding.Key +
					"' collect the same contributions: both have the id '" + id + "'",
				Notes: []diag.Note{{Pos: ds[0].Binding.Pos, Message: "the other multibinding"}}})
		}
	}
}

func (c *checker) checkContribution(cand *place.Candidate, d place.Declaration) {
	b := cand.Binding
	if !d.Options.Array && b.Key == "" {
		c.Report(diag.Diagnostic{Pos: b.Pos, Code: "multibind",
			Message: "expected 'name', the key of this contribution in the hash '" + d.Binding.Key + "'",
			Notes:   []diag.Note{{Pos: d.Binding.Pos, Message: "the multibinding"}}})
	}
	written := b.More.Literal
	if written == nil {
		if r := cand.Recipe; r.Kind == recipe.Expression && r.Transformer == nil {
			c.mismatch(cand, d, d.Options.Misfit(r.Expr), b.Pos, "")
		}
		return
	}
	v := cand.Recipe.Value
	if d.Options.Resolution == recipe.Merge && v.Kind() != value.Hash {
		c.Report(diag.Diagnostic{Pos: written.Pos, Code: "multibind",
			Message: "expected a hash to merge into '" + d.Binding.Key + "', found " + value.Describe(v),
			Notes:   []diag.Note{{Pos: d.Binding.Pos, Message: "this multibinding merges hashes with the same name"}}})
	}
	if m := d.Options.Check(v); m != nil {
		hint := ""
		if d.Options.LacksFlatten(v) {
			hint = "the option 'flatten: true' of the multibinding collects the elements of a list"
		}
		c.mismatch(cand, d, m, written.Within(m.Path).Pos, hint)
	}
}

// mismatch reports a contribution whose value does not have the element type of the multibinding. It does nothing if m
// is nil.
func (c *checker) mismatch(cand *place.Candidate, d place.Declaration, m *types.Mismatch, at diag.Pos, hint string) {
	if m == nil {
		return
	}
	secret := cand.Recipe.Sensitive
	c.Report(diag.Diagnostic{Pos: at, Code: "type_mismatch", Hint: hint,
		Message: "a contribution to '" + d.Binding.Key + "': " + m.Text(secret), Secret: secret,
		Notes: []diag.Note{{Pos: d.Binding.Pos, Message: "the multibinding"}}})
}
