package check

import (
	"bindc/compile/internal/index"
	"bindc/diag"
)

// checkKinds checks abstract and override bindings. It checks the alternatives of a binding together, and skips
// bindings that are always hidden. names lists the keys of the site.
func (k *keyIndex) checkKinds(names []string) {
	alternatives := map[int][]int{} // indexes in k.all, by order in the input
	wins := map[int]bool{}
	var orders []int // positions in the input of bindings that are not always hidden
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

// checkAbstract reports an abstract binding that no concrete binding overrides. It only warns if a binding overrides it
// in some requests.
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

// checkOverride reports a binding marked 'override' that overrides nothing in its own layer or below. It only warns if
// the binding overrides something in some requests, or if another binding in its layer overrides it.
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
		k.overrideWarning(at, "overrides another binding only in some of the requests in which it is effective",
			"overridden here", beaten)
	case beaten < 0 && rival >= 0:
		k.overrideWarning(at, "is marked 'override', but does not override a binding, and another one overrides it",
			"it is overridden here", rival)
	case beaten < 0:
		d := diag.Diagnostic{Pos: at, Code: "override", Message: "'" + k.name + "' is marked 'override'" +
			k.Describe(k.terms(first)) + ", but nothing of lower precedence binds it"}
		k.Unbound(&d, k.Diags.Correct(k.name, names), 1)
		k.Report(d)
	}
}

// overridden returns the index of a candidate that i overrides, and of a rival in the same layer that overrides i.
// Each is -1 if there is none. always reports whether i overrides something wherever i is effective.
func (k *keyIndex) overridden(i int) (beaten, rival int, always bool) {
	beaten, rival = -1, -1
	for j := range k.compatible(k.terms(i), index.NoRank) {
		switch {
		case k.all[j].Order == k.all[i].Order: // another alternative of the same binding
		case !k.all[j].Final(): // the candidate may decline
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
