package decision

import (
	"maps"
	"slices"
	"strings"

	"bindc/internal/lookup"
	"bindc/internal/recipe"
	"bindc/internal/relation"
	"bindc/snapshot"
)

// Difference is what two snapshots answer differently for some request.
type Difference struct {
	Keys []KeyChanges // by name

	// Free are keys whose values look keys up that facts decide, in either snapshot: what becomes of them is not
	// said in Keys.
	Free []string
	// Categories are those that are another expression in the other snapshot, or that it lacks: who is in which value
	// of them is another matter.
	Categories []string
}

// KeyChanges is what becomes of a key.
type KeyChanges struct {
	Key           string
	Changes       []Change // the first of which a request meets is what changes for it
	Contributions []Change // to the multibindings it is: what is added, removed, and bound to something else

	Gone    bool   // it was bound, and answers nobody any more
	Renamed string // the new key that it became; "": none
}

// Change is a difference for the requests that meet When and none of Except.
type Change struct {
	When     []lookup.Term
	Except   [][]lookup.Term
	Old, New *Row     // nil: not found
	Through  []string // the keys that differ which a computed value looks up; its own text is as it was
	Below    bool     // the value may decline, and nothing differs but what is below it
}

// Diff compares all tables of two books, and calls done for each key.
func Diff(before, after *Book, done func()) (*Difference, error) {
	dims, err := newDimensions(before.f, after.f)
	if err != nil {
		return nil, err
	}
	a, b := *before, *after
	a.dims, b.dims = dims, dims
	c := comparer{dims, &a, &b, map[string]bool{}, map[string][]string{}, map[string]bool{}}
	keys := append(before.f.AllKeys(), after.f.AllKeys()...)
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		if err := c.compare(key); err != nil {
			return nil, err
		}
		done()
	}
	c.spread()
	out := &Difference{Free: slices.Sorted(maps.Keys(c.free)), Categories: categories(before.f, after.f)}
	out.Keys, err = c.keys()
	return out, err
}

// keys returns what becomes of each key that changes.
func (c *comparer) keys() (out []KeyChanges, err error) {
	ends := map[string]*keyTables{}
	for _, key := range slices.Sorted(maps.Keys(c.changed)) {
		if strings.HasPrefix(key, "\x00") {
			continue
		}
		t, err := c.tables(key)
		if err != nil {
			return nil, err
		}
		k := c.changes(key, t)
		if len(k.Changes)+len(k.Contributions) > 0 {
			out = append(out, k)
		}
		if t.gone() || t.isNew() {
			ends[key] = t
		}
	}
	renames(out, ends)
	return out, nil
}

// categories are the dimensions of which the two snapshots do not say the same.
func categories(before, after *snapshot.Snapshot) []string {
	programs := func(s *snapshot.Snapshot) map[string]string {
		out := map[string]string{}
		for _, d := range s.Dimensions() {
			out[shown(d)] += string(d.Program) // guards of several categories may share a name, and are one variable
		}
		return out
	}
	a, b := programs(before), programs(after)
	var out []string
	for name, program := range a {
		if other, ok := b[name]; !ok || other != program && !strings.Contains(name, "$") {
			out = append(out, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// comparer finds the keys of which something differs.
type comparer struct {
	*dimensions
	a, b    *Book
	changed map[string]bool
	users   map[string][]string // of a key, those whose values look it up
	free    map[string]bool
}

// compare tells whether the rows of key differ, and notes what they look up.
func (c *comparer) compare(key string) error {
	old, err := c.a.filed(key)
	if err != nil {
		return err
	}
	now, err := c.b.filed(key)
	if err != nil {
		return err
	}
	if !slices.EqualFunc(old, now, same) {
		c.changed[key] = true
	}
	for _, rows := range [][]Row{old, now} {
		for i := range rows {
			for _, used := range rows[i].uses {
				c.users[used] = append(c.users[used], key)
			}
			if rows[i].free {
				c.free[named(key)] = true
			}
		}
	}
	return nil
}

func same(a, b Row) bool { return a.id == b.id && a.Name == b.Name && slices.Equal(a.terms, b.terms) }

// spread finds what looks up what has changed.
func (c *comparer) spread() {
	todo := slices.Collect(maps.Keys(c.changed))
	for len(todo) > 0 {
		key := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, user := range c.users[key] {
			if !c.changed[user] {
				c.changed[user] = true
				todo = append(todo, user)
			}
		}
	}
}

// used returns the names of what row r looks up and that differs. below reports whether the key itself differs, because
// a row may leave the answer to the rows below it. A multibinding whose id equals the key is a separate lookup.
func (c *comparer) used(r *Row) (out []string, below bool) {
	for _, used := range r.uses {
		switch name := named(used); {
		case !c.changed[used]:
		case used == r.of:
			below = true
		case !slices.Contains(out, name):
			out = append(out, name)
		}
	}
	return out, below
}

// named is an internal key as people are told of it.
func named(key string) string {
	if module, ok := strings.CutPrefix(key, recipe.LookupOptionsKey+" "); ok {
		return "lookup_options of the module " + module
	}
	return strings.TrimLeft(strings.TrimPrefix(key, recipe.MergeKey("")), "\x00")
}

// region is the requests that one row of the old table wins, and one of the new. Behind the last row of a table is one
// for those that nothing is bound for.
type region struct {
	when     relation.Condition
	old, now int
}

// tables returns the tables of a key in both snapshots.
func (c *comparer) tables(key string) (t *keyTables, err error) {
	t = &keyTables{}
	if t.old, err = c.a.Table(key); err != nil {
		return nil, err
	}
	if t.now, err = c.b.Table(key); err != nil {
		return nil, err
	}
	if t.oldContributions, err = c.a.Contributions(t.old); err != nil {
		return nil, err
	}
	t.nowContributions, err = c.b.Contributions(t.now)
	return t, err
}

// changes is what becomes of a key.
func (c *comparer) changes(key string, t *keyTables) KeyChanges {
	old, now := t.old, t.now
	out := KeyChanges{Key: key, Changes: c.dimensions.compare(old, now, func(a, b *Row) bool {
		return c.equal(a, b) || c.decline(old, now, a, b)
	})}
	for i := range out.Changes {
		if x := &out.Changes[i]; x.Old != nil && x.New != nil && x.Old.id == x.New.id {
			x.Through, _ = c.used(x.Old)
			x.Below = len(x.Through) == 0
		}
	}
	out.Changes = slices.DeleteFunc(out.Changes, func(x Change) bool { // what is merged is among the contributions
		return slices.Equal(x.Through, []string{key}) && x.Old.merge != nil
	})
	out.Contributions = c.contributed(t.oldContributions, t.nowContributions)
	return out
}

// compare compares two tables: each region in which the two rows differ is a change. A request meets the region it is
// in before any other that it meets, as each row of that wins it or is below the one that does.
func (d *dimensions) compare(old, now []Row, equal func(a, b *Row) bool) []Change {
	var out []Change
	var when []relation.Condition
	var before []int // of each change, how many regions were kept before
	kept := newTable(d)
	for _, r := range d.regions(old, now) {
		a, b := at(old, r.old), at(now, r.now)
		if equal(a, b) {
			kept.add(r.when)
			continue
		}
		out = append(out, Change{When: d.shown(r.when), Old: a, New: b})
		when, before = append(when, r.when), append(before, len(kept.conditions))
	}
	for i := range out {
		var except []relation.Condition
		for _, k := range kept.meeting(when[i]) {
			if k < before[i] {
				except = append(except, d.rest(kept.conditions[k], when[i]))
			}
		}
		for _, e := range d.simplest(except) {
			out[i].Except = append(out[i].Except, d.shown(e))
		}
	}
	return out
}

func at(rows []Row, i int) *Row {
	if i < len(rows) {
		return &rows[i]
	}
	return nil
}

// equal tells whether two rows have the same outcome for every request.
func (c *comparer) equal(a, b *Row) bool {
	if a == nil || b == nil {
		return a == b
	}
	through, below := c.used(a)
	return a.id == b.id && len(through) == 0 && !below
}

// decline reports whether two rows of a key are equal although the table is not: they leave the answer to nothing but
// the rows below them, and these have not changed.
func (c *comparer) decline(old, now []Row, a, b *Row) bool {
	if a == nil || b == nil || a.id != b.id {
		return false
	}
	own := func(r Row) bool {
		others, _ := c.used(&r)
		return len(others) == 0
	}
	behind := func(rows []Row, r *Row) []Row {
		return rows[1+slices.IndexFunc(rows, func(x Row) bool { return same(x, *r) }):]
	}
	return own(*a) && slices.EqualFunc(behind(old, a), behind(now, b), func(x, y Row) bool {
		return same(x, y) && own(x)
	})
}

// contributed returns what differs among the contributions to the multibindings of a key.
func (c *comparer) contributed(before, after []Row) []Change {
	left := map[string][]int{}
	id := func(r *Row) string { return r.key() + "\x00" + r.Name }
	for i := range after {
		left[id(&after[i])] = append(left[id(&after[i])], i)
	}
	var out []Change
	for i := range before {
		x := &before[i]
		change := Change{When: x.When, Old: x}
		if is := left[id(x)]; len(is) > 0 {
			change.New, left[id(x)] = &after[is[0]], is[1:]
		}
		if !c.equal(x, change.New) {
			if change.New != nil && change.New.id == x.id {
				change.Through, _ = c.used(x)
			}
			out = append(out, change)
		}
	}
	for i := range after {
		if slices.Contains(left[id(&after[i])], i) {
			out = append(out, Change{When: after[i].When, New: &after[i]})
		}
	}
	return out
}

// regions are those of two tables that some request is in, by the row of the old table and then that of the new.
func (d *dimensions) regions(old, now []Row) []region {
	a, b := tableOf(d, old), tableOf(d, now)
	var out []region
	for i, mine := range a.conditions {
		last := b.covering(mine) // hides what is below it
		for _, j := range b.meeting(mine) {
			if j > last {
				break
			}
			both := relation.Union(mine, b.conditions[j])
			wins := func(in relation.Case) bool { return a.first(in) == i && b.first(in) == j }
			if slices.ContainsFunc(d.Cases(both), wins) {
				out = append(out, region{both, i, j})
			}
		}
	}
	return out
}

// Meets tells whether some request meets the conditions of both rows, which are of one book.
func (r *Row) Meets(other *Row) bool { return r.dims.Together(r.terms, other.terms) }

// Covers tells whether the condition of r holds wherever that of the other row does.
func (r *Row) Covers(other *Row) bool { return r.dims.Implies(other.terms, r.terms) }
