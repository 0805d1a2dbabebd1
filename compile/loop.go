package compile

import (
	"slices"
	"strings"

	"bindc/internal/diag"
	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/value"
)

// looksUp tells whether a recipe may look other keys up.
func looksUp(r *recipe.Recipe) bool {
	return len(r.Targets) > 0 || r.Kind == recipe.Expression || r.Transformer != nil
}

// needs are the keys a recipe looks up whatever the facts: not those in a branch that may not be taken.
func (c *composer) needs(r *recipe.Recipe) []string {
	var out []string
	for _, t := range r.Targets {
		if _, bound := c.keys[t.Key]; bound {
			out = append(out, t.Key)
			break // whether to_first_found goes on depends on this one
		}
	}
	if r.Kind == recipe.Expression {
		out = appendNeeds(out, r.Expr)
	}
	if r.Transformer != nil {
		out = appendNeeds(out, r.Transformer.Body)
	}
	return out
}

func appendNeeds(out []string, n *expr.Node) []string {
	always := n.Kids
	switch {
	case n.Op == expr.If || n.Op == expr.Case || n.Op == expr.Selector:
		always = n.Kids[:1]
	case n.Op == expr.Binary && (n.Name == "and" || n.Name == "or"):
		always = n.Kids[:1]
	case n.Op == expr.Call && n.Name == "lookup" && len(n.Kids) > 0:
		if key, ok := n.Kids[0].Constant(); ok && key.Kind() == value.String && !slices.Contains(out, key.Text()) {
			out = append(out, key.Text())
		}
	}
	for _, k := range always {
		out = appendNeeds(out, k)
	}
	return out
}

// loopFinder follows what bindings need, as far as it can be told without facts who wins.
type loopFinder struct {
	*composer
	indexes  map[string]*keyIndex
	done     map[visit]bool
	reported map[string]bool
}

// visit is a binding in the requests where a condition holds.
type visit struct {
	cand      *candidate
	condition int
}

// checkLoops reports the bindings that need themselves in every request they are effective in.
func (c *composer) checkLoops() {
	f := loopFinder{c, map[string]*keyIndex{}, map[visit]bool{}, map[string]bool{}}
	for _, cs := range c.candidates {
		for i := range cs {
			if f.lookups[cs[i].value] != nil {
				f.follow(&cs[i], cs[i].condition, nil)
			}
		}
	}
}

// follow goes from cand to what it needs in the requests where condition holds. path is the candidates on the way.
func (f *loopFinder) follow(cand *candidate, condition int, path []*candidate) {
	if at := slices.Index(path, cand); at >= 0 {
		f.report(path[at:])
		return
	}
	here := visit{cand, condition}
	if f.done[here] {
		return
	}
	path = append(path, cand)
	var needed []string
	if r := f.lookups[cand.value]; r != nil {
		needed = f.needs(r)
	}
	for _, key := range needed {
		if next := f.winner(key, condition); next != nil {
			f.follow(next, condition, path)
		}
	}
	f.done[here] = true
}

// winner is the candidate of key that wins whenever the condition holds; nil where that depends on more.
func (f *loopFinder) winner(key string, condition int) *candidate {
	number, ok := f.keys[key]
	if !ok {
		return nil
	}
	k := f.indexes[key]
	if k == nil {
		k = &keyIndex{composer: f.composer, name: key, all: f.candidates[number]}
		f.indexes[key] = k
	}
	terms := f.site.Conditions[condition]
	best := -1
	for i := range k.compatible(terms, false) {
		if best < 0 || k.all[i].rank < k.all[best].rank {
			best = i
		}
	}
	if best < 0 || !implies(terms, k.terms(best)) {
		return nil
	}
	return &k.all[best]
}

// report tells of one loop, once however it was entered.
func (f *loopFinder) report(loop []*candidate) {
	first := 0
	for i, cand := range loop {
		if cand.binding.Pos().Compare(loop[first].binding.Pos()) < 0 {
			first = i
		}
	}
	loop = append(slices.Clone(loop[first:]), loop[:first]...)
	names := make([]string, 0, len(loop)+1)
	d := diag.Diagnostic{Pos: loop[0].binding.Pos(), Code: "loop"}
	for _, cand := range loop {
		names = append(names, cand.binding.Key)
	}
	for _, cand := range loop[1:] {
		d.Notes = append(d.Notes, diag.Note{Pos: cand.binding.Pos(), Message: "'" + cand.binding.Key + "' is bound here"})
	}
	d.Message = "'" + names[0] + "' needs itself: " + strings.Join(append(names, names[0]), " -> ")
	if id := d.Pos.String() + d.Message; !f.reported[id] {
		f.reported[id] = true
		f.diags.Add(d)
	}
}
