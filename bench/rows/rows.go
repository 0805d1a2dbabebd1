package rows

import (
	"bindc/bench/gen"
	"bindc/bench/measure"
)

// Row sets a case beside its yardstick.
type Row struct {
	Name      string
	Case      measure.Case
	Yardstick measure.Case
	Per       int     // lookups in one operation of both
	Target    float64 // the ratio should be at most this; 0: none is set
}

// Few is c with as few nodes as the small site has, and all its keys: beside c itself it shows what nodes cost. The
// small site has fewer keys too, so that more of it stays in the processor's caches, whoever looks them up.
func Few(c gen.Config) gen.Config {
	c.Nodes = gen.Sizes["S"].Nodes
	return c
}

// Table is the rows for a small site and a large one. few has the nodes of the one and the keys of the other.
func Table(small, few, large *World) ([]Row, error) {
	var rows []Row
	for _, w := range []*World{small, large} {
		own, err := w.rows()
		if err != nil {
			return nil, err
		}
		rows = append(rows, own...)
	}
	return append(append(rows, between(few, large)...), between(small, large)...), nil
}

// rows sets the cases of one site beside other ways to the same answers.
func (w *World) rows() ([]Row, error) {
	constant := measure.Case{Name: "constant lookup", Run: w.lookup(w.constants)}
	rows := []Row{
		{"constant, uniform keys", constant, measure.Case{Name: "map get", Run: w.get(w.constants)}, 1, 0.9},
		{"constant, 100 hot keys", measure.Case{Run: w.lookup(w.hot)}, measure.Case{Name: "map get", Run: w.get(w.hot)}, 1, 1.0},
		{"absent key", measure.Case{Run: w.lookup(w.absent)}, measure.Case{Name: "map get", Run: w.get(w.absent)}, 1, 1.1},
		{"fresh request + 300 lookups", measure.Case{Run: w.visit}, measure.Case{Name: "map get", Run: w.visitMap}, perVisit, 1.05},
		{"interpolated string", measure.Case{Run: w.lookup(w.templates)}, constant, 1, 8},
		{"key of every node, any node", measure.Case{Run: w.everyNode}, constant, 1, 0},
	}
	b, err := w.bolt()
	if err != nil {
		return nil, err
	}
	rows = append(rows,
		Row{"fresh request + 1 lookup", measure.Case{Run: w.glance}, measure.Case{Name: "bbolt get", Run: b.get}, 1, 1.0 / 20},
		Row{"fresh request + 1 lookup", measure.Case{Run: w.glance}, measure.Case{Name: "bbolt by levels", Run: b.levels}, 1, 1.0 / 100},
		Row{"open + request + 1 lookup", measure.Case{Run: w.open}, measure.Case{Name: "bbolt open + get", Run: b.open}, 1, 0.5},
	)
	for i := range rows {
		rows[i].Name = w.Size() + " " + rows[i].Name
		if w.site.Config == gen.Sizes["S"] {
			rows[i].Target = 0 // the targets are set for M and larger sites
		}
	}
	return rows, nil
}

// between sets the large site beside one of fewer nodes: a lookup should cost the same.
func between(small, large *World) []Row {
	pair := func(name string, per int, target float64, of func(*World) func(int)) Row {
		return Row{large.Size() + " " + name, measure.Case{Run: of(large)}, measure.Case{Name: "same on " + small.Size(), Run: of(small)}, per, target}
	}
	return []Row{
		pair("constant, uniform keys", 1, 0, func(w *World) func(int) { return w.lookup(w.constants) }),
		pair("constant, 100 hot keys", 1, 0, func(w *World) func(int) { return w.lookup(w.hot) }),
		pair("map get, uniform keys", 1, 0, func(w *World) func(int) { return w.get(w.constants) }),
		pair("fresh request + 300 lookups", perVisit, 0, func(w *World) func(int) { return w.visit }),
		pair("key of every node, any node", 1, 0, func(w *World) func(int) { return w.everyNode }),
		pair("open + request + 1 lookup", 1, 0, func(w *World) func(int) { return w.open }),
	}
}
