package rewrite

import (
	"maps"
	"slices"
	"strings"

	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/diag"
	"bindc/internal/bindingsfile"
	"bindc/internal/lookupkey"
	"bindc/internal/recipe"
	"bindc/loader"
)

// rebinding is what aliases, renames and rebindings add to a placement.
type rebinding struct {
	rebound  []place.Rebound        // with ofKey and ofPart set
	bindings []place.OrderedBinding // of the new names, and of the old ones that are erased
	parts    []renamedPart
	erased   map[uint32]bool // keys that are renamed
}

// renamedPart is a contribution under another name. The candidate has no condition yet.
type renamedPart struct {
	id        string // of the multibinding
	candidate place.Candidate
}

// rebind decides what aliases, renames and rebindings add, now that all other bindings are placed: bindings of keys,
// contributions under other names, or both.
func rebind(e *pass.Env, p *place.Placement) rebinding {
	out := rebinding{rebound: p.Rebound, erased: map[uint32]bool{}}
	if len(p.Rebound) == 0 {
		return out
	}
	n := namesOf(e, p)
	out.rebound = make([]place.Rebound, len(p.Rebound))
	for i, r := range p.Rebound {
		r.OfPart = n.parts[r.Old()] && !r.IsOwn()
		r.OfKey = n.binds(&r)
		if r.OfPart {
			out.addParts(&r, &p.Multibinds, n)
		}
		if !r.OfPart && !r.OfKey {
			reportUnboundName(e, &r, n)
		}
		if !r.OfPart || r.OfKey {
			out.addKey(&r, p.Tables, n)
		}
		out.rebound[i] = r
	}
	return out
}

// addTo places what aliases, renames and rebindings add.
func (r rebinding) addTo(p *place.Placement) {
	p.Rebound = r.rebound
	for _, b := range r.bindings {
		p.AddToScopes(b.Binding, b.Layer, b.Order)
	}
	for _, part := range r.parts {
		p.Multibinds.Renamed[part.id] = true
		p.Multibinds.Add(part.id, part.candidate, p.Ranks)
	}
}

// addKey adds the binding of the new name of r. If r is a rename, the old name is erased.
func (out *rebinding) addKey(r *place.Rebound, t *place.Tables, n names) {
	out.bindings = append(out.bindings, r.OrderedBinding)
	if !r.More.Erases || !r.OfKey {
		return
	}
	number := n.numbers[r.Old()]
	erased := &recipe.Recipe{Kind: recipe.Erased}
	out.erased[number] = true
	b := &loader.Binding{Key: r.Old(), When: r.When, Pos: r.Pos, Number: number, Value: t.Number(erased),
		More: &bindingsfile.Compiled{Key: r.Old(), Pos: r.Pos, Recipe: erased}}
	out.bindings = append(out.bindings, place.OrderedBinding{Binding: b, Layer: r.Layer, Order: r.Order})
}

// addParts gives contributions another name, in every multibinding that they contribute to.
func (out *rebinding) addParts(r *place.Rebound, ms *place.Multibinds, n names) {
	part := &recipe.Recipe{Kind: recipe.AliasedPart, Name: r.Old()}
	if r.More.Erases {
		part.Kind = recipe.RenamedPart
	}
	for id := range ms.Contributions {
		if len(ms.Declared[id]) > 0 && n.partsOf[id][r.Old()] {
			out.parts = append(out.parts, renamedPart{id,
				place.Candidate{Binding: r.Binding, Layer: r.Layer, Order: r.Order, Recipe: part}})
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
func namesOf(e *pass.Env, p *place.Placement) names {
	n := names{numbers: make(map[string]uint32, len(p.Keys)), keys: map[string]bool{}, parts: map[string]bool{},
		partsOf: map[string]map[string]bool{}, digs: HieraPlaces(e.Site) != nil}
	for i, key := range p.Keys {
		n.numbers[key] = uint32(i)
	}
	for i := range p.Scopes {
		for key := range p.Scopes[i].Bound() {
			n.keys[p.Keys[key]] = true
		}
	}
	newNames := map[string][]string{} // by the old ones
	for i := range p.Rebound {
		newNames[p.Rebound[i].Old()] = append(newNames[p.Rebound[i].Old()], p.Rebound[i].Key)
	}
	for id, all := range p.Multibinds.Contributions {
		if id == recipe.ClassesKey {
			continue // the names are classes
		}
		n.partsOf[id] = map[string]bool{}
		for i := range all {
			n.partsOf[id][all[i].Binding.Key] = true
		}
		addNewNames(n.partsOf[id], newNames)
		maps.Copy(n.parts, n.partsOf[id])
	}
	addNewNames(n.keys, newNames)
	for i := range p.Rebound { // names in a circle refer to one another: the check for loops reports them
		if r := &p.Rebound[i]; !r.IsOwn() && !n.parts[r.Key] {
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
func (n *names) binds(r *place.Rebound) bool {
	if n.keys[r.Old()] {
		return true
	}
	if n.digs && !r.More.Erases && !r.IsOwn() {
		k, _ := lookupkey.Parse(r.Old()) // an invalid key has an empty root, and no key is empty
		root, _ := lookupkey.Quoted(k.Root)
		return n.keys[root]
	}
	return false
}

// reportUnboundName reports that nothing is bound to the name that r refers to.
func reportUnboundName(e *pass.Env, r *place.Rebound, n names) {
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
	case r.IsOwn():
		does = "rebinds"
	case r.More.Erases:
		does = "is the new name of"
	}
	e.Diags.Add(diag.Diagnostic{Pos: r.More.Rebinds.Pos, Code: "rebind",
		Message: "'" + r.Key + "' " + does + " '" + r.Old() + "', which nothing binds",
		Hint:    e.Diags.DidYouMean(r.Old(), similar)})
}
