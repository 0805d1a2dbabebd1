package check

import (
	"maps"
	"slices"

	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/diag"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/internal/value"
	"bindc/loader"
)

// checkMultibinds reports errors in multibindings and their contributions that do not depend on facts. It skips
// contributions to a multibinding that never takes effect.
func checkMultibinds(e *pass.Env, ms *place.Multibinds, indexes keyIndexes) {
	ids := slices.Sorted(maps.Keys(ms.Declared))
	byKey := multibindsByKey(ms, ids)
	for _, id := range slices.Sorted(maps.Keys(ms.Contributions)) {
		all := ms.Contributions[id]
		switch {
		case id == recipe.ClassesKey:
			checkClasses(e, all)
		case len(ms.Declared[id]) > 0:
			checkContributions(e, ms, id, indexes)
		case ms.Broken[id]:
		case byKey[id] != nil:
			reportKeyAsID(e, all, byKey[id])
		default:
			warnOfUnknownID(e, ms, id, ids)
		}
	}
	for _, id := range ids {
		warnOfSameID(e, ms.Declared[id])
		for _, d := range ms.Declared[id] {
			warnOfHiding(e, d, len(ms.Contributions[id]), indexes)
		}
	}
}

// checkContributions checks the contributions to each multibinding with an id.
func checkContributions(e *pass.Env, ms *place.Multibinds, id string, indexes keyIndexes) {
	all := ms.Contributions[id]
	for _, d := range ms.Declared[id] {
		when := effective(e, d.Binding, indexes)
		if len(when) == 0 {
			continue
		}
		for i := range all {
			if e.Effort.Spend(10) {
				checkContribution(e, &all[i], d)
			}
		}
		if !ms.Renamed[id] { // otherwise the names may differ
			checkTwice(e, all, d, when)
		}
	}
}

// warnOfHiding warns about bindings that hide a multibinding and its n contributions, unless they are abstract or have
// 'override: true'.
func warnOfHiding(e *pass.Env, d place.Declaration, n int, indexes keyIndexes) {
	if k := indexes.named(d.Binding.Key); k != nil && n > 0 && d.Binding.More.In == nil {
		for i := range k.hiding(d.Binding) {
			e.Report(diag.Diagnostic{Pos: k.all[i].Pos(), Severity: diag.Warning, Code: "multibind_hidden",
				Message: "this hides the multibinding '" + k.name + "', and " + diag.Count(n, "contribution"),
				Notes:   []diag.Note{{Pos: d.Binding.Pos, Message: "the multibinding"}},
				Hint:    contributeHint(d.Binding.More.Multibind.ID) + "; 'override: true' hides it intentionally"})
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
func effective(e *pass.Env, b *loader.Binding, indexes keyIndexes) []loader.Condition {
	var out []loader.Condition
	if b.More.In != nil {
		for _, condition := range b.When {
			out = append(out, e.Site.Conditions[condition])
		}
		return out
	}
	k := indexes.named(b.Key)
	for i := range k.all {
		if k.all[i].Binding == b && !k.neverWins(i) {
			out = append(out, k.terms(i))
		}
	}
	return out
}

// reportKeyAsID reports contributions that name the multibinding b by its key. They must use its id.
func reportKeyAsID(e *pass.Env, all []place.Candidate, b *loader.Binding) {
	meant := b.More.Multibind.ID
	for _, cand := range all {
		e.Report(diag.Diagnostic{Pos: cand.Binding.More.In.Pos, Code: "multibind_unknown",
			Message: "'" + b.Key + "' is the key of a multibinding; contributions must use its id, '" + meant + "'",
			Notes:   []diag.Note{{Pos: b.Pos, Message: "the multibinding"}},
			Hint:    "write '" + meant + "' instead of '" + b.Key + "'", Fix: diag.MeantAs(b.Key, meant)})
	}
}

// warnOfUnknownID warns about contributions to an id that no multibinding has. ids lists the ids of all multibindings.
func warnOfUnknownID(e *pass.Env, ms *place.Multibinds, id string, ids []string) {
	all := ms.Contributions[id]
	d := diag.Diagnostic{Severity: diag.Warning, Code: "multibind_unknown", Fix: e.Diags.Correct(id, ids),
		Message: "no multibinding has the id '" + id + "'; this contribution is never used"}
	near := d.Fix.New
	if len(all) > len(ms.Declared[near])+len(ms.Contributions[near]) && near != "" {
		d.Fix, d.Hint = diag.Fix{}, "a multibinding has the id '"+near+"': correct one of the two ids"
		d.Notes = []diag.Note{{Pos: ms.Declared[near][0].Binding.Pos, Message: "the multibinding"}}
	}
	for _, cand := range all {
		d.Pos = cand.Binding.More.In.Pos
		e.Report(d)
	}
}

// multibindsByKey returns the first multibinding of each key, in the order of ids.
func multibindsByKey(ms *place.Multibinds, ids []string) map[string]*loader.Binding {
	out := map[string]*loader.Binding{}
	for _, id := range ids {
		for _, d := range ms.Declared[id] {
			if out[d.Binding.Key] == nil {
				out[d.Binding.Key] = d.Binding
			}
		}
	}
	return out
}

// warnOfSameID warns about multibindings of different keys that have one id. ds lists the multibindings with this id.
func warnOfSameID(e *pass.Env, ds []place.Declaration) {
	for _, d := range ds[1:] {
		if d.Binding.Key != ds[0].Binding.Key {
			e.Report(diag.Diagnostic{Pos: d.Binding.Pos, Severity: diag.Warning, Code: "multibind_id",
				Message: "'" + d.Binding.Key + "' and '" + ds[0].Binding.Key +
					"' collect the same contributions: both have the id '" + d.Binding.More.Multibind.ID + "'",
				Notes: []diag.Note{{Pos: ds[0].Binding.Pos, Message: "the other multibinding"}}})
		}
	}
}

func checkContribution(e *pass.Env, cand *place.Candidate, d place.Declaration) {
	b := cand.Binding
	if !d.Options.Array && b.Key == "" {
		e.Report(diag.Diagnostic{Pos: b.Pos, Code: "multibind",
			Message: "expected 'name', the key of this contribution in the hash '" + d.Binding.Key + "'",
			Notes:   []diag.Note{{Pos: d.Binding.Pos, Message: "the multibinding"}}})
	}
	written := b.More.Literal
	if written == nil {
		if r := cand.Recipe; r.Kind == recipe.Expression && r.Transformer == nil {
			if m := d.Options.Misfit(r.Expr); m != nil {
				e.Report(mismatch(cand, d, m, b.Pos))
			}
		}
		return
	}
	v := cand.Recipe.Value
	if d.Options.Resolution == recipe.Merge && v.Kind() != value.Hash {
		e.Report(diag.Diagnostic{Pos: written.Pos, Code: "multibind",
			Message: "expected a hash to merge into '" + d.Binding.Key + "', found " + value.Describe(v),
			Notes:   []diag.Note{{Pos: d.Binding.Pos, Message: "this multibinding merges hashes with the same name"}}})
	}
	if m := d.Options.Check(v); m != nil {
		found := mismatch(cand, d, m, written.Within(m.Path).Pos)
		if d.Options.LacksFlatten(v) {
			found.Hint = "the option 'flatten: true' of the multibinding collects the elements of a list"
		}
		e.Report(found)
	}
}

// mismatch returns the error about a contribution whose value does not have the element type of the multibinding.
func mismatch(cand *place.Candidate, d place.Declaration, m *types.Mismatch, at diag.Pos) diag.Diagnostic {
	secret := cand.Recipe.Sensitive
	return diag.Diagnostic{Pos: at, Code: "type_mismatch",
		Message: "a contribution to '" + d.Binding.Key + "': " + m.Text(secret), Secret: secret,
		Notes: []diag.Note{{Pos: d.Binding.Pos, Message: "the multibinding"}}}
}
