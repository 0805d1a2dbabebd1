package compile

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"bindc/internal/bindingsfile"
	"bindc/internal/diag"
	"bindc/internal/lookupkey"
	"bindc/internal/recipe"
	"bindc/internal/relation"
	"bindc/loader"
)

// rebound is a binding that is what another key is, or what a key is below it: an alias, a rename, a rebinding.
type rebound struct {
	*loader.Binding
	layer, place int
	key, part    bool // it is about a key, which is bound, or the name of contributions
}

func (r *rebound) old() string { return r.More.Rebinds.ID }

// again tells whether it binds the key that it is about.
func (r *rebound) again() bool { return r.old() == r.Key }

// rebind files aliases, renames and rebindings, when it is known what else is bound: what they are about is a key, or
// the name of contributions, or both.
func (c *composer) rebind() {
	if len(c.rebound) == 0 {
		return
	}
	n := c.namesOf()
	for i := range c.rebound {
		r := &c.rebound[i]
		r.part = n.parts[r.old()] && !r.again()
		r.key = n.bound(r)
		if r.part {
			c.renameParts(r, n)
		}
		if !r.part && !r.key {
			c.unbound(r, n)
		}
		if !r.part || r.key {
			c.fileRebound(r, n)
		}
	}
}

// names are those that something is bound to.
type names struct {
	numbers map[string]uint32 // of all keys, in keys
	keys    map[string]bool
	parts   map[string]bool            // of contributions
	of      map[string]map[string]bool // of those to a multibinding, by its id
	digs    bool                       // keys with dots lead into values
}

// namesOf finds what is bound, by other names too.
func (c *composer) namesOf() names {
	n := names{numbers: make(map[string]uint32, len(c.keys)), keys: map[string]bool{}, parts: map[string]bool{},
		of: map[string]map[string]bool{}, digs: c.hieraPlaces() != nil}
	for i, key := range c.keys {
		n.numbers[key] = uint32(i)
	}
	for i := range c.scopes {
		for key := range c.members(&c.scopes[i]) {
			n.keys[c.keys[key]] = true
		}
	}
	news := map[string][]string{} // names by the old ones
	for i := range c.rebound {
		news[c.rebound[i].old()] = append(news[c.rebound[i].old()], c.rebound[i].Key)
	}
	for id, cs := range c.contributions {
		if id == recipe.ClassesKey {
			continue // the names are classes
		}
		n.of[id] = map[string]bool{}
		for i := range cs {
			n.of[id][cs[i].binding.Key] = true
		}
		spread(n.of[id], news)
		maps.Copy(n.parts, n.of[id])
	}
	spread(n.keys, news)
	for i := range c.rebound { // names in a circle are bound to one another; that is told as what it is
		if r := &c.rebound[i]; !r.again() && !n.parts[r.Key] {
			n.keys[r.Key] = true
		}
	}
	return n
}

// spread adds to names those that they get, by the old ones.
func spread(names map[string]bool, news map[string][]string) {
	var todo []string
	for old := range news {
		if names[old] {
			todo = append(todo, old)
		}
	}
	for len(todo) > 0 {
		old := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, name := range news[old] {
			if !names[name] {
				names[name] = true
				todo = append(todo, name)
			}
		}
	}
}

// bound tells whether the key that r is about is bound: by something else.
func (n *names) bound(r *rebound) bool {
	if n.keys[r.old()] {
		return true
	}
	if n.digs && !r.More.Erases && !r.again() {
		k, _ := lookupkey.Parse(r.old()) // what is no key has no root, and no key is empty
		root, _ := lookupkey.Quoted(k.Root)
		return n.keys[root]
	}
	return false
}

// unbound reports that there is nothing that r could be.
func (c *composer) unbound(r *rebound, n names) {
	known := make([]string, 0, len(n.keys)+len(n.parts))
	for _, set := range []map[string]bool{n.keys, n.parts} {
		for name := range set {
			if name != r.Key && !strings.HasPrefix(name, "\x00") {
				known = append(known, name)
			}
		}
	}
	slices.Sort(known)
	does := "is an alias of"
	switch {
	case r.again():
		does = "is to be what it is below this:"
	case r.More.Erases:
		does = "is the new name of"
	}
	c.diags.Add(diag.Diagnostic{Pos: r.More.Rebinds.Pos, Code: "rebind",
		Message: "'" + r.Key + "' " + does + " '" + r.old() + "', which nothing binds",
		Hint:    c.diags.DidYouMean(r.old(), known)})
}

// fileRebound files what r binds its key to, and that the old name is erased.
func (c *composer) fileRebound(r *rebound, n names) {
	c.file(r.Binding, r.layer, r.place)
	if !r.More.Erases || !r.key {
		return
	}
	number := n.numbers[r.old()]
	erased := &recipe.Recipe{Kind: recipe.Erased}
	c.erased[number], c.renamedKeys[r.old()] = true, true
	c.file(&loader.Binding{Key: r.old(), When: r.When, Pos: r.Pos, Number: number, Value: c.recipeNumber(erased),
		More: &bindingsfile.Compiled{Key: r.old(), Pos: r.Pos, Recipe: erased}}, r.layer, r.place)
}

// renameParts files that contributions of a name come under another one, in every multibinding that they go to.
func (c *composer) renameParts(r *rebound, n names) {
	part := &recipe.Recipe{Kind: recipe.AliasedPart, Name: r.old()}
	if r.More.Erases {
		part.Kind = recipe.RenamedPart
	}
	for id, cs := range c.contributions {
		if len(c.declared[id]) == 0 || !n.of[id][r.old()] {
			continue
		}
		c.renamed[id] = true
		cand := candidate{binding: r.Binding, layer: r.layer, place: r.place, recipe: part}
		for _, w := range r.When {
			cand.condition, cand.rank = w, c.rank(r.layer, w)
			cs = append(cs, cand)
		}
		c.contributions[id] = cs
	}
}

// hidesAll tells whether nobody comes to what is below an unconditional binding of key to value.
func (c *composer) hidesAll(key, value uint32) bool { return !c.through[value] && !c.erased[key] }

// isRenamed tells whether a key, by its number in names, has another name somewhere.
func (c *composer) isRenamed(key uint32) bool { return c.renamedKeys[c.names[key]] }

// addRebound adds the keys of which something is what they are below.
func (c *composer) addRebound(keys map[uint32]bool) {
	for i := range c.rebound {
		if key, bound := c.keyNumber(c.rebound[i].old()); bound && c.rebound[i].below() {
			keys[key] = true
		}
	}
}

// below tells whether r looks at what is below it.
func (r *rebound) below() bool {
	k := recipeOf(r.Binding)
	return k != nil && k.Kind == recipe.Below
}

// checkRebound warns of what is never below.
func (c *composer) checkRebound() {
	c.checkRenames()
	for i := range c.rebound {
		r := &c.rebound[i]
		key, _ := c.keyNumber(r.old())
		if r.key && r.below() && !c.indexes[key].anyBelow(r) {
			c.report(diag.Diagnostic{Pos: r.More.Rebinds.Pos, Severity: diag.Warning, Code: "rebind",
				Message: "nothing that binds '" + r.old() + "' is below this: it has no effect",
				Hint:    "take it to a higher layer, or under a condition of higher precedence, than what it is about"})
		}
	}
}

// checkRenames reports contributions of one name that have two new ones at one precedence. Of keys these are conflicts
// as any other.
func (c *composer) checkRenames() {
	byName := map[string]*keyIndex{}
	for i := range c.rebound {
		r := &c.rebound[i]
		if !r.part || r.key || !r.More.Erases {
			continue
		}
		if byName[r.old()] == nil {
			byName[r.old()] = &keyIndex{composer: c, name: r.old()}
		}
		k := byName[r.old()]
		for _, w := range r.When {
			k.all = append(k.all, candidate{binding: r.Binding, layer: r.layer, place: r.place, condition: w,
				rank: c.rank(r.layer, w)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		byName[name].checkRenames()
	}
}

func (k *keyIndex) checkRenames() {
	slices.SortStableFunc(k.all, func(a, b candidate) int { return cmp.Compare(a.rank, b.rank) })
	for i := range k.all {
		for j := range k.compatible(k.terms(i), k.all[i].rank+1) {
			if a, b := &k.all[i], &k.all[j]; a.rank == b.rank && a.place < b.place {
				k.conflict(a, b, relation.Union(k.terms(i), k.terms(j)))
			}
		}
	}
}

// anyBelow tells whether something that can be effective with r is below it.
func (k *keyIndex) anyBelow(r *rebound) bool {
	for _, w := range r.When {
		rank := k.rank(r.layer, w)
		for i := range k.compatible(k.site.Conditions[w], noRank) {
			if k.all[i].rank > rank && !k.all[i].erases() && k.all[i].place != r.place {
				return true
			}
		}
	}
	return false
}
