package compile

import (
	"maps"
	"slices"
	"strings"

	"bindc/internal/binding"
	"bindc/internal/diag"
	"bindc/internal/lookupkey"
	"bindc/internal/recipe"
	"bindc/loader"
)

// rebinding is what aliases, renames and rebindings add to a placement.
type rebinding struct {
	rebound  []rebound        // with ofKey and ofPart set
	bindings []orderedBinding // of the new names, and of the old ones that are erased
	parts    []renamedPart
	erased   map[uint32]bool // keys that are renamed
}

// renamedPart is a contribution under another name. The candidate has no condition yet.
type renamedPart struct {
	id        string // of the multibinding
	candidate candidate
}

// rebind decides what aliases, renames and rebindings add, now that all other bindings are placed: bindings of keys,
// contributions under other names, or both.
func rebind(e *env, p *placement) rebinding {
	out := rebinding{rebound: p.rebound, erased: map[uint32]bool{}}
	if len(p.rebound) == 0 {
		return out
	}
	n := namesOf(e, p)
	out.rebound = make([]rebound, len(p.rebound))
	for i, r := range p.rebound {
		r.ofPart = n.parts[r.old()] && !r.isOwn()
		r.ofKey = n.binds(&r)
		if r.ofPart {
			out.addParts(&r, &p.multibinds, n)
		}
		if !r.ofPart && !r.ofKey {
			reportUnboundName(e, &r, n)
		}
		if !r.ofPart || r.ofKey {
			out.addKey(&r, p.tables, n)
		}
		out.rebound[i] = r
	}
	return out
}

// addTo places what aliases, renames and rebindings add.
func (r rebinding) addTo(p *placement) {
	p.rebound = r.rebound
	for _, b := range r.bindings {
		p.addToScopes(b.Binding, b.layer, b.order)
	}
	for _, part := range r.parts {
		p.multibinds.renamed[part.id] = true
		p.multibinds.add(part.id, part.candidate, p.ranks)
	}
}

// addKey adds the binding of the new name of r. If r is a rename, the old name is erased.
func (out *rebinding) addKey(r *rebound, t *tables, n names) {
	out.bindings = append(out.bindings, r.orderedBinding)
	if !r.More.Erases || !r.ofKey {
		return
	}
	number := n.numbers[r.old()]
	erased := &recipe.Recipe{Kind: recipe.Erased}
	out.erased[number] = true
	out.bindings = append(out.bindings, orderedBinding{&loader.Binding{Key: r.old(), When: r.When, Pos: r.Pos,
		Number: number, Value: t.number(erased),
		More: &binding.Binding{Key: r.old(), Pos: r.Pos, Recipe: erased}}, r.layer, r.order})
}

// addParts gives contributions another name, in every multibinding that they contribute to.
func (out *rebinding) addParts(r *rebound, ms *multibinds, n names) {
	part := &recipe.Recipe{Kind: recipe.AliasedPart, Name: r.old()}
	if r.More.Erases {
		part.Kind = recipe.RenamedPart
	}
	for id := range ms.contributions {
		if len(ms.declared[id]) > 0 && n.partsOf[id][r.old()] {
			out.parts = append(out.parts, renamedPart{id,
				candidate{binding: r.Binding, layer: r.layer, order: r.order, recipe: part}})
		}
	}
}

// names holds the names that something is bound to.
type names struct {
	numbers map[string]uint32 // of all keys, in tables
	keys    map[string]bool
	parts   map[string]bool            // names of contributions
	partsOf map[string]map[string]bool // the same, by the id of the multibinding
	digs    bool                       // a dotted key digs into the value of another key
}

// namesOf finds the names that are bound, new names included.
func namesOf(e *env, p *placement) names {
	n := names{numbers: make(map[string]uint32, len(p.keys)), keys: map[string]bool{}, parts: map[string]bool{},
		partsOf: map[string]map[string]bool{}, digs: hieraPlaces(e.site) != nil}
	for i, key := range p.keys {
		n.numbers[key] = uint32(i)
	}
	for i := range p.scopes {
		for key := range p.scopes[i].bound() {
			n.keys[p.keys[key]] = true
		}
	}
	newNames := map[string][]string{} // by the old ones
	for i := range p.rebound {
		newNames[p.rebound[i].old()] = append(newNames[p.rebound[i].old()], p.rebound[i].Key)
	}
	for id, all := range p.multibinds.contributions {
		if id == recipe.ClassesKey {
			continue // the names are classes
		}
		n.partsOf[id] = map[string]bool{}
		for i := range all {
			n.partsOf[id][all[i].binding.Key] = true
		}
		addNewNames(n.partsOf[id], newNames)
		maps.Copy(n.parts, n.partsOf[id])
	}
	addNewNames(n.keys, newNames)
	for i := range p.rebound { // names in a circle refer to one another: the check for loops reports them
		if r := &p.rebound[i]; !r.isOwn() && !n.parts[r.Key] {
			n.keys[r.Key] = true
		}
	}
	return n
}

// addNewNames adds the new names of all names, and the new names of these.
func addNewNames(names map[string]bool, newNames map[string][]string) {
	var todo []string
	for old := range newNames {
		if names[old] {
			todo = append(todo, old)
		}
	}
	for len(todo) > 0 {
		old := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, name := range newNames[old] {
			if !names[name] {
				names[name] = true
				todo = append(todo, name)
			}
		}
	}
}

// binds reports whether the key that r refers to is bound by another binding.
func (n *names) binds(r *rebound) bool {
	if n.keys[r.old()] {
		return true
	}
	if n.digs && !r.More.Erases && !r.isOwn() {
		k, _ := lookupkey.Parse(r.old()) // an invalid key has an empty root, and no key is empty
		root, _ := lookupkey.Quoted(k.Root)
		return n.keys[root]
	}
	return false
}

// reportUnboundName reports that nothing is bound to the name that r refers to.
func reportUnboundName(e *env, r *rebound, n names) {
	similar := make([]string, 0, len(n.keys)+len(n.parts))
	for _, set := range []map[string]bool{n.keys, n.parts} {
		for name := range set {
			if name != r.Key && !strings.HasPrefix(name, "\x00") {
				similar = append(similar, name)
			}
		}
	}
	slices.Sort(similar)
	does := "is an alias of"
	switch {
	case r.isOwn():
		does = "is to be what it is below this:"
	case r.More.Erases:
		does = "is the new name of"
	}
	e.diags.Add(diag.Diagnostic{Pos: r.More.Rebinds.Pos, Code: "rebind",
		Message: "'" + r.Key + "' " + does + " '" + r.old() + "', which nothing binds",
		Hint:    e.diags.DidYouMean(r.old(), similar)})
}
