package explore

import (
	"cmp"
	"runtime"
	"slices"
	"strings"

	"bindc/internal/lookup"
	"bindc/internal/report/decision"
)

// tally counts the nodes that each binding reaches, and adds up the counts by file, module and level.
type tally struct {
	ready chan struct{} // closed when all other fields are set
	err   error
	files []fileTally // by number of the input file
	areas []area      // over all keys, largest first
	// For each level, levels has the sorted numbers of the keys that some node gets from it. If there are no nodes, it
	// has all keys bound at the level.
	levels map[string][]int32
	// computed are the keys with an expression as value, and combined those with contributions. Both are sorted lists
	// of key numbers.
	computed, combined []int32
}

// fileTally lists a file's bindings. reaching is the number of bindings that reach a node.
type fileTally struct {
	bindings []boundAt // sorted by line
	reaching int
}

// boundAt is a binding in a file, identified by its line and the number of its key.
type boundAt struct {
	line, key int32
	reach     reach
}

// reach is the number of nodes that a binding reaches, combined with the flag upTo. It is small because a site can have
// millions of bindings.
type reach uint32

// upTo means that the number is an upper bound: a higher binding may also apply, but may decline.
const upTo reach = 1 << 31

func (r reach) nodes() int      { return int(r &^ upTo) }
func (r reach) isUpTo() bool    { return r&upTo != 0 }
func (b *boundAt) isDead() bool { return b.reach.nodes() == 0 }

// area is one level of one module. Each key adds to Size the fraction of nodes that get the key's value from this
// level. If there are no nodes, Size is the number of bindings.
type area struct {
	Module, Level string
	Size          float64
}

func newTally() *tally { return &tally{ready: make(chan struct{})} }

// take counts the nodes of all bindings and closes t.ready.
func (t *tally) take(d *Data) {
	defer close(t.ready)
	t.files, t.levels = make([]fileTally, len(d.inputs)), map[string][]int32{}
	sizes := map[area]float64{}
	for i, key := range d.keys {
		t.err = cmp.Or(t.err, d.read(func() error { return t.add(d, i, key, sizes) }))
		if i%100 == 99 {
			runtime.Gosched()
		}
	}
	for i := range t.files {
		slices.SortStableFunc(t.files[i].bindings, byLine)
	}
	for a, size := range sizes {
		a.Size = size
		t.areas = append(t.areas, a)
	}
	slices.SortFunc(t.areas, func(a, b area) int {
		return cmp.Or(cmp.Compare(b.Size, a.Size), strings.Compare(a.Module+a.Level, b.Module+b.Level))
	})
}

// byLine compares the bindings of a file by line and key. A stable sort thus keeps equal bindings in order of
// precedence.
func byLine(a, b boundAt) int { return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.key, b.key)) }

// add counts the nodes that each binding of a key reaches. It adds the key to sizes.
func (t *tally) add(d *Data, number int, key string, sizes map[area]float64) error {
	table, err := d.tables().Values(key)
	if err != nil {
		return err
	}
	isComputed := func(r decision.Row) bool { return r.Computed != "" }
	if slices.ContainsFunc(table.Rows, isComputed) || slices.ContainsFunc(table.Contributions, isComputed) {
		t.computed = append(t.computed, int32(number))
	}
	if len(table.Contributions) > 0 {
		t.combined = append(t.combined, int32(number))
	}
	module, declines := moduleOf(key), false
	d.census.reach(d, table.Rows, table.Merged, func(i int, nodes *nodeSet) {
		row, count := &table.Rows[i], nodes.count()
		t.addToFile(row, number, count, declines)
		declines = declines || row.Declines
		size := 1.0
		if len(d.nodes) > 0 {
			size = float64(count) / float64(len(d.nodes))
		}
		if size == 0 {
			return
		}
		level := levelOf(row.Layer, row.When)
		sizes[area{Module: module, Level: level}] += size
		if keys := t.levels[level]; len(keys) == 0 || keys[len(keys)-1] != int32(number) {
			t.levels[level] = append(keys, int32(number))
		}
	})
	declines = false
	d.census.reach(d, table.Contributions, true, func(i int, nodes *nodeSet) {
		t.addToFile(&table.Contributions[i], number, nodes.count(), declines)
		declines = declines || table.Contributions[i].Declines
	})
	return nil
}

// addToFile adds a row from the table of a key to the tally of its file.
func (t *tally) addToFile(row *decision.Row, key, nodes int, mayDecline bool) {
	at := row.Origin()
	if at.Line == 0 || int64(at.Input) >= int64(len(t.files)) {
		return
	}
	f, r := &t.files[at.Input], reach(nodes)
	if mayDecline {
		r |= upTo
	}
	f.bindings = append(f.bindings, boundAt{int32(at.Line), int32(key), r})
	if nodes > 0 {
		f.reaching++
	}
}

// noModule is used as the module of keys without '::'.
const noModule = "(no module)"

func moduleOf(key string) string {
	module, _, ok := strings.Cut(key, "::")
	if !ok {
		return noModule
	}
	return module
}

// levelOf returns the name of a binding's level, such as "site: role, environment".
func levelOf(layer string, when []lookup.Term) string {
	if len(when) == 0 {
		return layer + ": always"
	}
	names := make([]string, len(when))
	for i, t := range when {
		names[i] = t.Name
	}
	return layer + ": " + strings.Join(names, ", ")
}
