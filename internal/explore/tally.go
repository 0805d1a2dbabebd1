package explore

import (
	"cmp"
	"runtime"
	"slices"
	"strings"

	"bindc/internal/lookup"
	"bindc/internal/report/decision"
)

// tally holds the numbers of nodes that bindings reach, by file and by module.
type tally struct {
	ready chan struct{} // closed when the rest is set
	err   error
	files []fileTally // for each file, by its number
	areas []area      // areas of all keys, largest first
	// sorted numbers of the keys that nodes get from each level; if there are no nodes, of all keys bound at that level
	levels map[string][]int32
	// by key number, whether the key's decision table is short and its first row that holds gives the value
	plain []bool
	// sorted numbers of the keys whose value is an expression
	computed []int32
}

// fileTally lists a file's bindings, and whether each reaches a node.
type fileTally struct {
	bindings []boundAt // bindings of the file, by line
	reaching int
}

// boundAt is a binding at a line of a file.
type boundAt struct {
	line, key int32
	isDead    bool // the binding reaches no node
}

// fewRows is the number of rows up to which reading a whole table is faster than searching the table for each node.
const fewRows = 1000

// area identifies one level of one module. Its size is its share of all values: each key adds the fraction of nodes
// that get their value from the level. If there are no nodes, its size is the number of bindings.
type area struct {
	Module, Level string
	Size          float64
}

func newTally() *tally { return &tally{ready: make(chan struct{})} }

// take counts the nodes of all bindings.
func (t *tally) take(d *Data) {
	defer close(t.ready)
	t.files, t.plain = make([]fileTally, len(d.inputs)), make([]bool, len(d.keys))
	t.levels = map[string][]int32{}
	sizes := map[area]float64{}
	for i, key := range d.keys {
		t.err = cmp.Or(t.err, d.read(func() error { return t.add(d, i, key, sizes) }))
		if i%100 == 99 {
			runtime.Gosched()
		}
	}
	for i := range t.files {
		slices.SortFunc(t.files[i].bindings, func(a, b boundAt) int {
			return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.key, b.key))
		})
	}
	for a, size := range sizes {
		a.Size = size
		t.areas = append(t.areas, a)
	}
	slices.SortFunc(t.areas, func(a, b area) int {
		return cmp.Or(cmp.Compare(b.Size, a.Size), strings.Compare(a.Module+a.Level, b.Module+b.Level))
	})
}

// add counts the nodes that a key's bindings reach.
func (t *tally) add(d *Data, number int, key string, sizes map[area]float64) error {
	table, err := d.tables().Values(key)
	if err != nil {
		return err
	}
	t.plain[number] = isPlain(table) && len(table.Rows) <= fewRows
	isComputed := func(r decision.Row) bool { return r.Computed != "" }
	if slices.ContainsFunc(table.Rows, isComputed) || slices.ContainsFunc(table.Contributions, isComputed) {
		t.computed = append(t.computed, int32(number))
	}
	module := moduleOf(key)
	count := func(row *decision.Row, nodes int, answers bool) {
		file, line := splitPlace(row.At)
		if i, known := d.input(file); known {
			f := &t.files[i]
			f.bindings = append(f.bindings, boundAt{int32(line), int32(number), nodes == 0})
			if nodes > 0 {
				f.reaching++
			}
		}
		size := 1.0
		if len(d.nodes) > 0 {
			size = float64(nodes) / float64(len(d.nodes))
		}
		if answers && size > 0 {
			level := levelOf(row.Layer, row.When)
			sizes[area{Module: module, Level: level}] += size
			if keys := t.levels[level]; len(keys) == 0 || keys[len(keys)-1] != int32(number) {
				t.levels[level] = append(keys, int32(number))
			}
		}
	}
	d.census.reach(d, table.Rows, table.Merged, func(i int, nodes *nodeSet) {
		count(&table.Rows[i], nodes.count(), true)
	})
	d.census.reach(d, table.Contributions, true, func(i int, nodes *nodeSet) {
		count(&table.Contributions[i], nodes.count(), false)
	})
	return nil
}

// noModule is the module name for keys without a module.
const noModule = "(no module)"

// moduleOf returns the part of a key before the first '::'.
func moduleOf(key string) string {
	module, _, ok := strings.Cut(key, "::")
	if !ok {
		return noModule
	}
	return module
}

// levelOf names the level of a binding: its layer and the categories of its condition.
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
