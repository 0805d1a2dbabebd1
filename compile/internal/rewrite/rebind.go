package rewrite

import (
	"maps"
	"slices"

	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/diag"
	"bindc/internal/bindingsfile"
	"bindc/internal/lookupkey"
	"bindc/internal/recipe"
	"bindc/loader"
)

// rebinding contains the bindings and contributions that aliases, renames and rebindings add.
type rebinding struct {
	rebound  []place.Rebound        // rebindings with OfKey and OfPart set
	bindings []place.OrderedBinding // bindings of new names, and of old names that are erased
	parts    []renamedPart
	erased   map[uint32]bool // renamed keys, by number in place.Tables
}

// renamedPart is a contribution under a new name. The condition of the candidate is not set yet.
type renamedPart struct {
	id        string // id of the multibinding
	candidate place.Candidate
}

// rebind returns the bindings and contributions that aliases, renames and rebindings add. All other bindings must have
// been placed.
func rebind(e *pass.Env, p *place.Placement) rebinding {
	out := rebinding{rebound: p.Rebound, erased: map[uint32]bool{}}
	if len(p.Rebound) == 0 {
		return out
	}
	n := namesOf(e, p)
	out.rebound = make([]place.Rebound, len(p.Rebound))
	for i, r := range p.Rebound {
		r.OfPart = len(n.parts[r.Old()]) > 0 && !r.IsOwn()
		r.OfKey = n.binds(&r)
		if r.OfPart {
			out.addParts(&r, &p.Multibinds, n)
		}
		if !r.OfPart && !r.OfKey {
			n.reportUnbound(e, &r)
		}
		if !r.OfPart || r.OfKey {
			out.addKey(&r, p.Tables, n)
		}
		out.rebound[i] = r
	}
	return out
}

func (r rebinding) addTo(p *place.Placement) {
	for _, b := range r.bindings {
		p.AddToScopes(b.Binding, b.Layer, b.Order)
	}
	for _, part := range r.parts {
		p.Multibinds.Renamed[part.id] = true
		p.Multibinds.Add(part.id, part.candidate, p.Ranks)
	}
}

// addKey adds a binding of the new name of r. If r is a rename, it also erases the old name.
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

// addParts adds contributions with the new name of r, in every multibinding that has contributions with the old name.
func (out *rebinding) addParts(r *place.Rebound, ms *place.Multibinds, n names) {
	part := &recipe.Recipe{Kind: recipe.AliasedPart, Name: r.Old()}
	if r.More.Erases {
		part.Kind = recipe.RenamedPart
	}
	for _, id := range n.parts[r.Old()] {
		if len(ms.Declared[id]) > 0 {
			out.parts = append(out.parts, renamedPart{id,
				place.Candidate{Binding: r.Binding, Layer: r.Layer, Order: r.Order, Recipe: part}})
		}
	}
}

type names struct {
	numbers map[string]uint32 // numbers of all keys in place.Tables
	keys    map[string]bool
	parts   map[string][]string // ids of multibindings, by name of a contribution
	digs    bool                // a dotted key may mean a part of a value
	sorted  []string            // names of keys and contributions, for hints; nil until it is needed
}

// namesOf finds all bound names, including those that aliases and renames add.
func namesOf(e *pass.Env, p *place.Placement) names {
	n := names{numbers: make(map[string]uint32, len(p.Keys)), keys: map[string]bool{}, parts: map[string][]string{},
		digs: HieraPlaces(e.Site) != nil}
	for i, key := range p.Keys {
		n.numbers[key] = uint32(i)
	}
	for i := range p.Scopes {
		for key := range p.Scopes[i].Bound() {
			n.keys[p.Keys[key]] = true
		}
	}
	newNames := map[string][]string{} // new names by old name
	for i := range p.Rebound {
		newNames[p.Rebound[i].Old()] = append(newNames[p.Rebound[i].Old()], p.Rebound[i].Key)
	}
	for id, all := range p.Multibinds.Contributions {
		if id == recipe.ClassesKey {
			continue // these contributions are named after classes
		}
		for i := range all {
			n.addPart(all[i].Binding.Key, id, newNames)
		}
	}
	addNewNames(n.keys, newNames)
	for i := range p.Rebound { // the check for loops reports names that refer to each other
		if r := &p.Rebound[i]; !r.IsOwn() && len(n.parts[r.Key]) == 0 {
			n.keys[r.Key] = true
		}
	}
	return n
}

// addPart records that the multibinding id has a contribution called name. It does the same for the new names of name,
// and their new names. All contributions of a multibinding must be added before those of the next.
func (n *names) addPart(name, id string, newNames map[string][]string) {
	for todo := []string{name}; len(todo) > 0; {
		name, todo = todo[len(todo)-1], todo[:len(todo)-1]
		ids := n.parts[name]
		if last := len(ids) - 1; last < 0 || ids[last] != id {
			n.parts[name] = append(ids, id)
			todo = append(todo, newNames[name]...)
		}
	}
}

// addNewNames adds the new names of all names, and their new names in turn.
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

// binds reports whether another binding has the key that r refers to.
func (n *names) binds(r *place.Rebound) bool {
	if n.keys[r.Old()] {
		return true
	}
	if n.digs && !r.More.Erases && !r.IsOwn() {
		k, _ := lookupkey.Parse(r.Old()) // an invalid key has an empty root, which nothing binds
		root, _ := lookupkey.Quoted(k.Root)
		return n.keys[root]
	}
	return false
}

// reportUnbound reports that r refers to a name that nothing has.
func (n *names) reportUnbound(e *pass.Env, r *place.Rebound) {
	if n.sorted == nil {
		all := slices.Concat(slices.Collect(maps.Keys(n.keys)), slices.Collect(maps.Keys(n.parts)))
		n.sorted = slices.DeleteFunc(all, recipe.IsInternal)
		slices.Sort(n.sorted)
	}
	meant := e.Diags.Correct(r.Old(), n.sorted)
	if meant.New == r.Key || meant.Or == r.Key {
		others := slices.DeleteFunc(slices.Clone(n.sorted), func(name string) bool { return name == r.Key })
		meant = e.Diags.Correct(r.Old(), others)
	}
	does := "is an alias of"
	switch {
	case r.IsOwn():
		does = "rebinds"
	case r.More.Erases:
		does = "is the new name of"
	}
	d := diag.Diagnostic{Pos: r.More.Rebinds.Pos, Code: "rebind",
		Message: "'" + r.Key + "' " + does + " '" + r.Old() + "', which nothing binds"}
	e.Unbound(&d, meant, 1)
	e.Diags.Add(d)
}
