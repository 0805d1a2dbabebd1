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

// Difference lists the keys that can have different values in two snapshots.
type Difference struct {
	Keys []KeyChanges // sorted by key

	// Dynamic lists keys whose values look up a key that is computed from facts. Such a value can change even if the
	// key is not in Keys.
	Dynamic []string
	// Categories lists the categories that only one snapshot has or that are computed differently. Their values can
	// differ between the snapshots for the same request.
	Categories []string
}

// KeyChanges describes how the values of a key change.
type KeyChanges struct {
	Key           string
	Changes       []Change // for a request, the first entry whose conditions it meets applies
	Contributions []Change // changes of contributions, if the key is a multibinding

	Gone    bool   // the old snapshot binds the key, but the new one does not
	Renamed string // new key with the same values, or ""
}

// Change is a changed value for the requests that meet When but none of Except.
type Change struct {
	When     []lookup.Term
	Except   [][]lookup.Term
	Old, New *Row     // rows that give the value; nil if the key is not found
	Through  []string // changed keys that the value, itself unchanged, looks up
	Below    bool     // the row is unchanged but can decline, and only rows below it changed
}

// Diff compares two snapshots. It calls done after each key.
func Diff(before, after *Tables, done func()) (*Difference, error) {
	dims, err := newDimensions(before.snap, after.snap)
	if err != nil {
		return nil, err
	}
	a, b := *before, *after
	a.dims, b.dims = dims, dims
	c := comparer{dims, &a, &b, map[string]bool{}, map[string][]string{}, map[string]bool{}}
	keys := append(before.snap.AllKeys(), after.snap.AllKeys()...)
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		if err := c.compareKey(key); err != nil {
			return nil, err
		}
		done()
	}
	c.propagate()
	out := &Difference{Dynamic: slices.Sorted(maps.Keys(c.dynamic)), Categories: categories(before.snap, after.snap)}
	out.Keys, err = c.keys()
	return out, err
}

// keys returns the changes of all keys in c.changed, sorted by key. It omits internal keys.
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

// categories returns the names of dimensions that only one snapshot has or that are computed differently.
func categories(before, after *snapshot.Snapshot) []string {
	programs := func(s *snapshot.Snapshot) map[string]string {
		out := map[string]string{}
		for _, d := range s.Dimensions() {
			// Guards of several categories may have the same name; they are the same variable.
			out[dimensionName(d)] += string(d.Program)
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

// comparer holds the state of Diff.
type comparer struct {
	*dimensions
	a, b    *Tables
	changed map[string]bool
	users   map[string][]string // by key, the keys whose values look it up
	dynamic map[string]bool
}

// compareKey adds key to c.changed if its rows differ, and records which keys the rows look up.
func (c *comparer) compareKey(key string) error {
	old, err := c.a.rowsOf(key)
	if err != nil {
		return err
	}
	now, err := c.b.rowsOf(key)
	if err != nil {
		return err
	}
	if !slices.EqualFunc(old, now, sameRow) {
		c.changed[key] = true
	}
	for _, rows := range [][]Row{old, now} {
		for i := range rows {
			for _, used := range rows[i].uses {
				c.users[used] = append(c.users[used], key)
			}
			if rows[i].dynamic {
				c.dynamic[displayName(key)] = true
			}
		}
	}
	return nil
}

func sameRow(a, b Row) bool {
	return a.contentID == b.contentID && a.Name == b.Name && slices.Equal(a.terms, b.terms)
}

// propagate adds to c.changed all keys that look up a changed key, directly or indirectly.
func (c *comparer) propagate() {
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

// changedLookups returns the changed keys that row r looks up. below reports whether r's own key has changed, which
// matters because r can decline and leave the answer to lower rows. A multibinding with the key as its id counts as
// another key.
func (c *comparer) changedLookups(r *Row) (out []string, below bool) {
	for _, used := range r.uses {
		switch name := displayName(used); {
		case !c.changed[used]:
		case used == r.key:
			below = true
		case !slices.Contains(out, name):
			out = append(out, name)
		}
	}
	return out, below
}

// displayName returns the name that messages use for an internal key.
func displayName(key string) string {
	if module, ok := strings.CutPrefix(key, recipe.LookupOptionsKey+" "); ok {
		return "lookup_options of the module " + module
	}
	return strings.TrimLeft(strings.TrimPrefix(key, recipe.MergeKey("")), "\x00")
}

// region is the set of requests for which the rows old and now win in the two tables. An index after the last row means
// that no row wins.
type region struct {
	when     relation.Condition
	old, now int
}

// tables returns the rows and contributions of key in both snapshots.
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

func (c *comparer) changes(key string, t *keyTables) KeyChanges {
	old, now := t.old, t.now
	out := KeyChanges{Key: key, Changes: c.dimensions.compare(old, now, func(a, b *Row) bool {
		return c.equal(a, b) || c.decline(old, now, a, b)
	})}
	for i := range out.Changes {
		if x := &out.Changes[i]; x.Old != nil && x.New != nil && x.Old.contentID == x.New.contentID {
			x.Through, _ = c.changedLookups(x.Old)
			x.Below = len(x.Through) == 0
		}
	}
	// The contributions, below, already show changes of merged values.
	out.Changes = slices.DeleteFunc(out.Changes, func(x Change) bool {
		return slices.Equal(x.Through, []string{key}) && x.Old.merge != nil
	})
	out.Contributions = c.contributionChanges(t.oldContributions, t.nowContributions)
	return out
}

// compare returns a change for each region whose rows are not equal. Regions overlap: a request belongs to the first
// region that it meets, because later regions have lower rows.
func (d *dimensions) compare(old, now []Row, equal func(a, b *Row) bool) []Change {
	var out []Change
	var when []relation.Condition
	var before []int // by change, the number of earlier regions without a change
	kept := newConditionTable(d)
	for _, r := range d.regions(old, now) {
		a, b := rowAt(old, r.old), rowAt(now, r.now)
		if equal(a, b) {
			kept.add(r.when)
			continue
		}
		out = append(out, Change{When: d.terms(r.when), Old: a, New: b})
		when, before = append(when, r.when), append(before, len(kept.conditions))
	}
	for i := range out {
		var except []relation.Condition
		for _, k := range kept.overlapping(when[i]) {
			if k < before[i] {
				except = append(except, d.remaining(kept.conditions[k], when[i]))
			}
		}
		for _, e := range d.minimal(except) {
			out[i].Except = append(out[i].Except, d.terms(e))
		}
	}
	return out
}

func rowAt(rows []Row, i int) *Row {
	if i < len(rows) {
		return &rows[i]
	}
	return nil
}

// equal reports whether two rows give the same value for every request.
func (c *comparer) equal(a, b *Row) bool {
	if a == nil || b == nil {
		return a == b
	}
	through, below := c.changedLookups(a)
	return a.contentID == b.contentID && len(through) == 0 && !below
}

// decline reports whether two rows are unchanged although their key has changed: they only depend on lower rows, which
// are unchanged too.
func (c *comparer) decline(old, now []Row, a, b *Row) bool {
	if a == nil || b == nil || a.contentID != b.contentID {
		return false
	}
	unaffected := func(r Row) bool {
		others, _ := c.changedLookups(&r)
		return len(others) == 0
	}
	below := func(rows []Row, r *Row) []Row {
		return rows[1+slices.IndexFunc(rows, func(x Row) bool { return sameRow(x, *r) }):]
	}
	return unaffected(*a) && slices.EqualFunc(below(old, a), below(now, b), func(x, y Row) bool {
		return sameRow(x, y) && unaffected(x)
	})
}

// contributionChanges compares contributions, which match if they have the same condition and name.
func (c *comparer) contributionChanges(before, after []Row) []Change {
	unmatched := map[string][]int{}
	id := func(r *Row) string { return r.conditionID() + "\x00" + r.Name }
	for i := range after {
		unmatched[id(&after[i])] = append(unmatched[id(&after[i])], i)
	}
	var out []Change
	for i := range before {
		x := &before[i]
		change := Change{When: x.When, Old: x}
		if matches := unmatched[id(x)]; len(matches) > 0 {
			change.New, unmatched[id(x)] = &after[matches[0]], matches[1:]
		}
		if !c.equal(x, change.New) {
			if change.New != nil && change.New.contentID == x.contentID {
				change.Through, _ = c.changedLookups(x)
			}
			out = append(out, change)
		}
	}
	for i := range after {
		if slices.Contains(unmatched[id(&after[i])], i) {
			out = append(out, Change{When: after[i].When, New: &after[i]})
		}
	}
	return out
}

// regions returns the nonempty regions of two tables, ordered by old row and then by new row.
func (d *dimensions) regions(old, now []Row) []region {
	a, b := tableOfRows(d, old), tableOfRows(d, now)
	var out []region
	for i, oldCondition := range a.conditions {
		last := b.covering(oldCondition) // rows after last never win here
		for _, j := range b.overlapping(oldCondition) {
			if j > last {
				break
			}
			both := relation.Union(oldCondition, b.conditions[j])
			wins := func(in relation.Case) bool { return a.first(in) == i && b.first(in) == j }
			if slices.ContainsFunc(d.Cases(both), wins) {
				out = append(out, region{both, i, j})
			}
		}
	}
	return out
}

// Meets reports whether some request meets the conditions of both rows. Both must be from the same snapshot.
func (r *Row) Meets(other *Row) bool { return r.dims.Together(r.terms, other.terms) }

// Covers reports whether the condition of r holds for every request that meets the condition of other.
func (r *Row) Covers(other *Row) bool { return r.dims.Implies(other.terms, r.terms) }
