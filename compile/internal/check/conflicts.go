package check

import (
	"cmp"
	"slices"

	"bindc/compile/internal/place"
	"bindc/diag"
	"bindc/internal/relation"
	"bindc/loader"
)

// checkConflicts reports candidates that have equal rank, can be effective together, and are not hidden. defaultRank is
// the rank of the highest unconditional candidate, which hides all lower candidates.
func (k *keyIndex) checkConflicts(defaultRank int) {
	for from := 0; from < len(k.all) && k.all[from].Rank <= defaultRank; {
		to := from + 1
		for to < len(k.all) && k.all[to].Rank == k.all[from].Rank {
			to++
		}
		if to-from > 1 {
			k.checkRank(from, to)
		}
		from = to
	}
}

// checkRank compares the candidates in k.all[from:to], which have equal rank. It compares each pair of conditions only
// once.
func (k *keyIndex) checkRank(from, to int) {
	under := map[int][]int{} // indexes of candidates by condition, in order of position
	for i := from; i < to; i++ {
		under[k.all[i].Condition] = append(under[k.all[i].Condition], i)
	}
	first := map[int]bool{} // indexes of the first candidate of each condition
	for _, list := range under {
		first[list[0]] = true
		slices.SortStableFunc(list, func(i, j int) int { return k.all[i].Pos().Compare(k.all[j].Pos()) })
	}
	for i := from; i < to; i++ {
		if !first[i] {
			continue
		}
		for j := range k.compatible(k.terms(i), k.all[i].Rank+1) {
			if j < i || !first[j] || !k.Effort.Spend(8) {
				continue
			}
			as, bs := under[k.all[i].Condition], under[k.all[j].Condition]
			both := relation.Union(k.terms(i), k.terms(j))
			if k.anyErases(as) || k.anyErases(bs) || !k.hidden(k.all[i].Rank, both) {
				k.conflicts(as, bs, both)
			}
		}
	}
}

// anyErases reports whether any of the candidates is a rename. A hidden rename also conflicts, because the value below
// it would be ambiguous.
func (k *keyIndex) anyErases(list []int) bool {
	return slices.ContainsFunc(list, func(i int) bool { return k.all[i].Erases() })
}

// conflicts reports conflicts between the candidates of two conditions. It reports each candidate that precedes the
// last candidate of the other condition.
func (k *keyIndex) conflicts(as, bs []int, both loader.Condition) {
	report := func(list []int, last int) {
		for _, i := range list {
			if k.all[i].Pos().Compare(k.all[last].Pos()) < 0 && k.Effort.Spend(1) {
				k.conflict(&k.all[i], &k.all[last], both)
			}
		}
	}
	report(as, bs[len(bs)-1])
	report(bs, as[len(as)-1])
}

// conflict reports two candidates that have equal rank and can be effective together.
func (k *keyIndex) conflict(a, b *place.Candidate, both loader.Condition) {
	d := diag.Diagnostic{Pos: a.Pos(), Code: "conflict",
		Message: "'" + k.name + "' is bound twice with the same precedence" + k.Describe(both) + k.InLayer(a.Layer),
		Notes:   append([]diag.Note{{Pos: b.Pos(), Message: "also bound here"}}, k.doubts(a, both)...),
		Hint:    "bind '" + k.name + "' once in a higher layer or under a narrower condition, or remove one of the two"}
	if id := cmp.Or(a.Collects(), b.Collects()); id != "" {
		d.Hint = contributeHint(id) + "; a binding with higher precedence hides the multibinding and all contributions"
	}
	if k.renames(a) || k.renames(b) {
		d.Message = "'" + k.name + "' is renamed, and bound or renamed again with the same precedence" +
			k.Describe(both) +
			k.InLayer(a.Layer)
		d.Notes[0].Message = "also bound or renamed here"
		d.Hint = "move the rename to a higher layer, or to a narrower condition, than the binding it renames"
	}
	k.Report(d)
}

// renames reports whether c gives the key another name.
func (k *keyIndex) renames(c *place.Candidate) bool {
	return c.Erases() || c.Binding != nil && c.Binding.Key != k.name
}

// doubts returns a note if the conflict is uncertain because two dimensions cannot be compared.
func (k *keyIndex) doubts(a *place.Candidate, both loader.Condition) []diag.Note {
	computed, other, ok := k.Relations.Undecided(both)
	for i := range k.compatible(both, a.Rank) {
		if ok {
			break
		}
		computed, other, ok = k.Relations.Undecided(relation.Union(both, k.terms(i)))
	}
	if !ok {
		return nil
	}
	name := func(d int) string { return "'" + k.Site.Dimensions[d].Name + "'" }
	at := k.Site.Dimensions[computed].Pos
	if at.File == "" {
		at = a.Pos()
	}
	return []diag.Note{{Pos: at, Message: name(computed) + " and " + name(other) +
		" depend on the same variable, but " + name(computed) +
		" is computed by an expression: it is unknown whether they exclude or imply one another"}}
}

func contributeHint(id string) string {
	return "to contribute, write {in: '" + id + "', to: ...} in bindings"
}
