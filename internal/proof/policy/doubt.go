package policy

import (
	"cmp"
	"slices"

	"bindc/internal/recipe"
)

// doubt is a binding that may break a policy if it wins.
type doubt struct {
	key uint32
	row
	verdict verdict // broken or unknown
}

// set is a set of policies: the policy with index last, and those in the set with number rest. Set 0 is empty.
type set struct {
	rest     uint32
	last     int
	marks    uint64 // marks of the policies; see marksOf
	isMarked bool   // all policies have a mark
}

// setsOf returns the sets of policies that apply to keys, and the number of each key's set. Keys with the same policies
// have the same set. keys[i] are the keys to which policies[i] applies, and marks[i] is its mark.
func (p *prover) setsOf(keys [][]uint32, marks []uint64) (sets []set, of []uint32) {
	sets, of = []set{{isMarked: true}}, make([]uint32, len(p.Content.Keys))
	numbers := map[set]uint32{}
	for i := range keys {
		for _, k := range keys[i] {
			rest := &sets[of[k]]
			s := set{of[k], i, rest.marks | marks[i], rest.isMarked && marks[i] != 0}
			n, known := numbers[s]
			if !known {
				n = uint32(len(sets))
				sets, numbers[s] = append(sets, s), n
			}
			of[k] = n
		}
	}
	return sets, of
}

// marksOf returns a mark for each policy, which is one bit. A value with this mark satisfies the policy. Policies with
// the same requirement have the same mark. The mark is 0 if the requirement is about more than the value, or if 64
// others apply to at least as many keys. keys[i] are the keys to which policies[i] applies.
func marksOf(policies []*Policy, keys [][]uint32) []uint64 {
	order := make([]int, len(policies))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(len(keys[j]), len(keys[i])) })
	marks, known, next := make([]uint64, len(policies)), map[string]uint64{}, uint64(1)
	for _, i := range order {
		c := &policies[i].claim
		mark := known[c.text]
		if mark == 0 && c.layers == nil {
			mark, next = next, next<<1 // after 64 marks, next is 0
		}
		if c.text != "" {
			known[c.text] = mark
		}
		marks[i] = mark
	}
	return marks
}

// findDoubts judges all bindings in a single pass over the data. For each policy, it returns the bindings that may
// break it, sorted by key and then by decreasing precedence. keys[i] are the keys to which policies[i] applies.
func (p *prover) findDoubts(policies []*Policy, keys [][]uint32) [][]doubt {
	out, marks := make([][]doubt, len(policies)), marksOf(policies, keys)
	sets, setOf := p.setsOf(keys, marks)
	satisfied := make([]uint64, len(p.Content.Values)) // by value: the marks of the policies that it satisfies
	judge := func(key, value uint32, r row) {
		n := setOf[key]
		if all := &sets[n]; all.isMarked && satisfied[value]&all.marks == all.marks {
			return
		}
		for ; n != 0; n = sets[n].rest {
			i := sets[n].last
			if satisfied[value]&marks[i] == 0 && p.judge(&policies[i].claim, doubt{key: key, row: r}, value, &out[i]) {
				satisfied[value] |= marks[i]
			}
		}
	}
	for i := range p.Content.Levels {
		for j := range p.Content.Levels[i].Scopes {
			for k, e := range p.Content.Levels[i].Scopes[j].Entries {
				judge(e.Key, e.Value, row{int32(i), int32(j), uint32(k)})
			}
		}
	}
	for k := range p.Content.Keys {
		if value := p.Content.Keys[k].Default; value >= 0 {
			judge(uint32(k), uint32(value), p.tables.unconditional(uint32(k)))
		}
	}
	for _, of := range out {
		slices.SortStableFunc(of, func(a, b doubt) int { return cmp.Compare(a.key, b.key) })
	}
	return out
}

// judge adds d to out if its value may break c, and reports whether it does not. It does not consider for which
// requests the binding wins.
func (p *prover) judge(c *claim, d doubt, value uint32, out *[]doubt) (isMet bool) {
	stored := &p.Content.Values[value]
	if !stored.Computed && c.holdsForConstants() {
		return true
	}
	layer := ""
	if c.layers != nil {
		layer, _ = p.tables.origin(&d.row)
	}
	if stored.Computed {
		r := p.tables.recipe(value)
		d.verdict = c.ofRecipe(r, layer)
		if d.verdict == holds && c.holdsForConstants() && r.Kind != recipe.Constant && p.tables.hasAbstract() {
			d.verdict = unknown // the value may look up an abstract binding, and is then not found
		}
	} else {
		d.verdict = c.ofConstant(stored.Bytes, layer)
	}
	if d.verdict != holds {
		*out = append(*out, d)
	}
	return d.verdict == holds
}

// findRows collects the rows of all keys that need a closer look: keys with doubts, and keys that may be unbound
// although a policy requires a value.
func (p *prover) findRows(policies []*Policy, keys [][]uint32, doubts [][]doubt) {
	wanted := make([]bool, len(p.Content.Keys))
	for i, policy := range policies {
		for _, d := range doubts[i] {
			wanted[d.key] = true
		}
		if policy.claim.ofNothing() == "" {
			continue
		}
		for _, k := range keys[i] {
			wanted[k] = wanted[k] || !p.tables.isAlwaysBound(k)
		}
	}
	if slices.Contains(wanted, true) {
		p.tables.collect(wanted)
	}
}
