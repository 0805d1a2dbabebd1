package decision

import (
	"maps"
	"slices"
	"strings"

	bindings "bindc/runtime"
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
}

// Change is a difference for the requests that meet When and none of Except.
type Change struct {
	When     []bindings.Term
	Except   [][]bindings.Term
	Old, New *Row     // nil: not found
	Through  []string // the keys that differ which a computed value looks up; its own text is as it was
}

// Diff compares all tables of two books, and calls done for each key.
func Diff(before, after *Book, done func()) (*Difference, error) {
	c := comparer{before, after, map[string]bool{}, map[string][]string{}, map[string]bool{}}
	keys := append(before.f.AllKeys(), after.f.AllKeys()...)
	slices.Sort(keys)
	keys = slices.Compact(keys)
	for _, key := range keys {
		if err := c.compare(key); err != nil {
			return nil, err
		}
		done()
	}
	c.spread()
	out := &Difference{Free: slices.Sorted(maps.Keys(c.free)), Categories: categories(before.f, after.f)}
	for _, key := range slices.Sorted(maps.Keys(c.changed)) {
		if strings.HasPrefix(key, "\x00") {
			continue
		}
		k, err := c.changes(key)
		if err != nil {
			return nil, err
		}
		if len(k.Changes) > 0 {
			out.Keys = append(out.Keys, k)
		}
	}
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
	a, b    *Book
	changed map[string]bool
	users   map[string][]string // of a key, those whose values look it up
	free    map[string]bool
}

// compare tells whether the rows of key differ, and notes what they look up.
func (c *comparer) compare(key string) error {
	old, err := c.rows(c.a, key)
	if err != nil {
		return err
	}
	now, err := c.rows(c.b, key)
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
				c.free[strings.TrimPrefix(key, "\x00")] = true
			}
		}
	}
	return nil
}

func (c *comparer) rows(b *Book, key string) ([]Row, error) {
	if strings.HasPrefix(key, "\x00") {
		return b.contributions(key)
	}
	return b.Table(key)
}

func same(a, b Row) bool { return a.id == b.id && a.Name == b.Name && slices.Equal(a.When, b.When) }

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

// through is what a row looks up that differs.
func (c *comparer) through(r *Row) []string {
	var out []string
	for _, used := range r.uses {
		if name := strings.TrimPrefix(used, "\x00"); c.changed[used] && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// region is the requests that one row of the old table wins, and one of the new. Behind the last row of a table is one
// for those that nothing is bound for.
type region struct {
	when     condition
	old, now int
}

// changes is what becomes of a key.
func (c *comparer) changes(key string) (out KeyChanges, err error) {
	old, err := c.a.Table(key)
	if err != nil {
		return out, err
	}
	now, err := c.b.Table(key)
	if err != nil {
		return out, err
	}
	out = KeyChanges{Key: key, Changes: compare(old, now, c.equal)}
	for i := range out.Changes {
		if x := &out.Changes[i]; x.Old != nil && x.New != nil && x.Old.id == x.New.id {
			x.Through = c.through(x.Old)
		}
	}
	out.Contributions, err = c.contributed(old, now)
	return out, err
}

// compare compares two tables: each region in which the two rows differ is a change. A request meets the region it is
// in before any other that it meets, as each row of that wins it or is below the one that does.
func compare(old, now []Row, equal func(a, b *Row) bool) []Change {
	var out []Change
	var before []int // of each change, how many regions were kept before
	kept := newTable(nil)
	for _, r := range regions(old, now) {
		a, b := at(old, r.old), at(now, r.now)
		if equal(a, b) {
			kept.add(r.when, len(kept.conditions))
			continue
		}
		out, before = append(out, Change{When: r.when, Old: a, New: b}), append(before, len(kept.conditions))
	}
	for i := range out {
		var except []condition
		for _, k := range kept.meeting(out[i].When) {
			if k < before[i] {
				except = append(except, kept.conditions[k].less(out[i].When))
			}
		}
		out[i].Except = simplest(except)
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
	return a.id == b.id && len(c.through(a)) == 0
}

// contributed is what differs among the contributions to the multibindings that the rows are.
func (c *comparer) contributed(old, now []Row) ([]Change, error) {
	before, err := c.a.Contributions(old)
	if err != nil {
		return nil, err
	}
	after, err := c.b.Contributions(now)
	if err != nil {
		return nil, err
	}
	left := map[string][]int{}
	id := func(r *Row) string { return conditionOf(r.When).key() + "\x00" + r.Name }
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
		if change.New == nil || !c.equal(x, change.New) {
			if change.New != nil && change.New.id == x.id {
				change.Through = c.through(x)
			}
			out = append(out, change)
		}
	}
	for i := range after {
		if slices.Contains(left[id(&after[i])], i) {
			out = append(out, Change{When: after[i].When, New: &after[i]})
		}
	}
	return out, nil
}

// regions are those of two tables that some request is in, by the row of the old table and then that of the new.
func regions(old, now []Row) []region {
	a, b := tableOf(old), tableOf(now)
	var out []region
	for i := range len(old) + 1 {
		mine := a.conditions[i]
		last := b.first(mine) // hides what is below it
		js := b.meeting(mine)
		for _, j := range js {
			if j > last {
				break
			}
			both := mine.and(b.conditions[j])
			if a.first(both) == i && b.first(both) == j {
				out = append(out, region{both, i, j})
			}
		}
	}
	return out
}

// Meets tells whether some request meets the conditions of both rows.
func (r *Row) Meets(other *Row) bool {
	for _, t := range r.When {
		for _, o := range other.When {
			if t.Name == o.Name && t.Value != o.Value {
				return false
			}
		}
	}
	return true
}

// Covers tells whether the condition of r holds wherever that of the other row does.
func (r *Row) Covers(other *Row) bool { return len(conditionOf(r.When).less(other.When)) == 0 }
