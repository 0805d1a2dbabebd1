package check

import (
	"bindc/compile/internal/index"
	"bindc/diag"
)

// checkKinds checks that abstract and override bindings keep their promises. The alternatives of a binding are
// checked together; a binding is not checked if all of its alternatives are hidden. names are the keys of the site.
func (k *keyIndex) checkKinds(names []string) {
	alternatives := map[int][]int{} // by place in the input
	wins := map[int]bool{}
	var orders []int // of the bindings that are not always hidden
	for i := range k.all {
		more := k.all[i].More()
		if more == nil || !more.Abstract && !more.Override {
			continue
		}
		order := k.all[i].Order
		alternatives[order] = append(alternatives[order], i)
		if !wins[order] && !k.neverWins(i) {
			wins[order] = true
			orders = append(orders, order)
		}
	}
	for _, order := range orders {
		more := k.all[alternatives[order][0]].More()
		if more.Abstract {
			k.checkAbstract(alternatives[order])
		}
		if more.Override {
			k.checkOverride(alternatives[order], names)
		}
	}
}

// checkAbstract checks that a concrete binding beats an abstract one. None beats it always: it is not hidden.
func (k *keyIndex) checkAbstract(alternatives []int) {
	first := alternatives[0]
	at := k.all[first].Pos()
	for _, i := range alternatives {
		for j := range k.compatible(k.terms(i), k.all[i].Rank) {
			other := &k.all[j]
			if other.Final() && (other.More() == nil || !other.More().Abstract) {
				k.Report(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "abstract",
					Message: "the abstract binding of '" + k.name +
						"' is bound only under some conditions; in other requests a lookup is an error",
					Notes: []diag.Note{{Pos: other.Pos(), Message: "bound here" + k.Describe(k.terms(j))}}})
				return
			}
		}
	}
	k.Report(diag.Diagnostic{Pos: at, Code: "abstract",
		Message: "'" + k.name + "' is abstract" + k.Describe(k.terms(first)) +
			" and nothing of higher precedence binds it",
		Hint: "bind '" + k.name + "' in a higher layer or under a condition of higher precedence"})
}

// checkOverride checks that a binding beats another one, in its own layer or below. It is only a warning if the binding
// beats nothing and a binding of the same layer sometimes beats it.
func (k *keyIndex) checkOverride(alternatives []int, names []string) {
	first := alternatives[0]
	at := k.all[first].Pos()
	beaten, rival, always := -1, -1, true
	for _, i := range alternatives {
		if k.neverWins(i) {
			continue
		}
		below, inLayer, all := k.overridden(i)
		beaten, rival, always = max(beaten, below), max(rival, inLayer), always && all
	}
	switch {
	case beaten >= 0 && !always:
		k.overrideWarning(at, "overrides something only in some of the requests it is effective in", "overridden here",
			beaten)
	case beaten < 0 && rival >= 0:
		k.overrideWarning(at, "is marked 'override', but overrides nothing and is itself overridden", "it is overridden here",
			rival)
	case beaten < 0:
		d := diag.Diagnostic{Pos: at, Code: "override", Message: "'" + k.name + "' is marked 'override'" +
			k.Describe(k.terms(first)) + ", but nothing of lower precedence binds it"}
		d.Hint = k.Diags.DidYouMean(k.name, names)
		k.Report(d)
	}
}

// overridden returns a candidate that candidate i beats, and a rival in the same layer that beats it, or -1. It also
// reports whether candidate i beats something whenever it is effective.
func (k *keyIndex) overridden(i int) (beaten, rival int, always bool) {
	beaten, rival = -1, -1
	for j := range k.compatible(k.terms(i), index.NoRank) {
		switch {
		case k.all[j].Order == k.all[i].Order: // an alternative of the binding itself
		case !k.all[j].Final(): // there may be nothing
		case k.all[j].Rank > k.all[i].Rank:
			beaten = j
			always = always || k.Relations.Implies(k.terms(i), k.terms(j))
		case k.all[j].Rank < k.all[i].Rank && k.all[j].Layer == k.all[i].Layer:
			rival = j
		}
	}
	return beaten, rival, always
}

func (k *keyIndex) overrideWarning(at diag.Pos, what, note string, other int) {
	k.Report(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "override", Message: "'" + k.name + "' " + what,
		Notes: []diag.Note{{Pos: k.all[other].Pos(), Message: note + k.Describe(k.terms(other))}}})
}
