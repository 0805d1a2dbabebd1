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

// concerned lists the policies that apply to a key, by their indices.
type concerned struct {
	all      []int
	computed []int // policies that every constant satisfies
}

// findDoubts judges all bindings in a single pass over the data. For each policy, it returns the bindings that may
// break it, sorted by key and then by decreasing precedence. keys[i] are the keys to which policies[i] applies.
func (p *prover) findDoubts(policies []*Policy, keys [][]uint32) [][]doubt {
	about := make([]concerned, len(p.Content.Keys))
	for i, policy := range policies {
		for _, k := range keys[i] {
			if policy.claim.holdsForConstants() {
				about[k].computed = append(about[k].computed, i)
			} else {
				about[k].all = append(about[k].all, i)
			}
		}
	}
	out := make([][]doubt, len(policies))
	judge := func(key, value uint32, r row) {
		of := &about[key]
		for _, i := range of.all {
			p.judge(policies, i, doubt{key: key, row: r}, value, out)
		}
		if len(of.computed) > 0 && p.Content.Values[value].Computed {
			for _, i := range of.computed {
				p.judge(policies, i, doubt{key: key, row: r}, value, out)
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

// judge adds d to out[i] if its value may break policies[i]. It does not consider for which requests the binding wins.
func (p *prover) judge(policies []*Policy, i int, d doubt, value uint32, out [][]doubt) {
	claim, layer := &policies[i].claim, ""
	if claim.layers != nil {
		layer, _ = p.tables.place(&d.row)
	}
	if stored := &p.Content.Values[value]; stored.Computed {
		r := p.tables.recipe(value)
		d.verdict = claim.ofRecipe(r, layer)
		if d.verdict == holds && claim.holdsForConstants() && r.Kind != recipe.Constant && p.tables.hasAbstract() {
			d.verdict = unknown // the value may look up an abstract binding, and is then not found
		}
	} else {
		d.verdict = claim.ofConstant(stored.Bytes, layer)
	}
	if d.verdict != holds {
		out[i] = append(out[i], d)
	}
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
