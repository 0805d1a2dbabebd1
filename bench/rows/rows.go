package rows

import (
	"bindc/bench/gen"
	"bindc/bench/measure"
)

// Row compares the time of Case with that of Yardstick.
type Row struct {
	Name      string
	Case      measure.Case
	Yardstick measure.Case
	Per       int     // lookups per operation of both cases
	Target    float64 // largest allowed ratio; 0 means no target
}

// Lookups returns the rows that need only one large site.
func Lookups(w *World) ([]Row, error) {
	constant := measure.Case{Name: "constant lookup", Run: w.lookup(w.constants)}
	get := func(keys []string) measure.Case { return measure.Case{Name: "map get", Run: w.get(keys)} }
	rows := []Row{
		{"constant, uniform keys", constant, get(w.constants), 1, 0.75},
		{"constant, 100 hot keys", measure.Case{Run: w.lookup(w.hot)}, get(w.hot), 1, 0.9},
		{"absent key", measure.Case{Run: w.lookup(w.absent)}, get(w.absent), 1, 0.6},
		{"fresh request + 300 lookups", measure.Case{Run: w.visit}, measure.Case{Name: "map get", Run: w.visitMap},
			perVisit, 0.9},
		{"interpolated string, two variables", measure.Case{Run: w.lookup(w.templates)}, constant, 1, 8},
		{"two goroutines", measure.Case{Run: w.together}, measure.Case{Name: "one", Run: w.alone}, 1, 1 / 1.8},
		{"key of every node, any node", measure.Case{Run: w.everyNode}, constant, 1, 0},
	}
	rows = append(rows, w.reading()...)
	b, err := w.bolt()
	if err != nil {
		return nil, err
	}
	rows = append(rows,
		Row{"fresh request + 1 lookup", measure.Case{Run: w.glance}, measure.Case{Name: "bbolt get", Run: b.get}, 1,
			1.0 / 20},
		Row{"fresh request + 1 lookup", measure.Case{Run: w.glance}, measure.Case{Name: "bbolt by levels",
			Run: b.levels}, 1, 1.0 / 100},
		Row{"open + request + 1 lookup", measure.Case{Run: w.open}, measure.Case{Name: "bbolt open + get", Run: b.open},
			1, 0.5},
	)
	return w.named(rows), nil
}

// reading returns the rows that also read the value. They are compared with Go maps whose values
// are read too.
func (w *World) reading() []Row {
	var (
		pointers = func(run func(n int)) measure.Case { return measure.Case{Name: "map[string]*Value", Run: run} }
		anys     = func(run func(n int)) measure.Case { return measure.Case{Name: "map[string]any", Run: run} }
		kinds    = measure.Case{Run: w.readKinds(w.constants)}
		small    = measure.Case{Run: w.readSmall(w.small)}
	)
	return []Row{
		{"constant, its kind read", kinds, pointers(w.getKinds(w.constants)), 1, 1},
		{"constant, its kind read", kinds, anys(w.getAnyKinds(w.constants)), 1, 1},
		{"small constant, read", small, pointers(w.getSmall(w.small)), 1, 1},
		{"small constant, read", small, anys(w.getAny(w.small)), 1, 1},
		{"small constant, 100 hot keys, read", measure.Case{Run: w.readSmall(w.smallHot)},
			anys(w.getAny(w.smallHot)), 1, 1},
		{"text up to 16 bytes, copied", measure.Case{Run: w.copyTexts(w.texts)}, anys(w.getAny(w.texts)), 1, 0},
	}
}

// Hiera5 returns the rows for a Hiera 5 site.
func Hiera5(w *World) []Row {
	return w.named([]Row{
		{"Hiera 5, absent key", measure.Case{Run: w.lookup(w.absent)},
			measure.Case{Name: "map get", Run: w.get(w.absent)}, 1, 0.8},
		{"Hiera 5, dotted key", measure.Case{Run: w.lookup(w.dotted)},
			measure.Case{Name: "constant lookup", Run: w.lookup(w.constants)}, 1, 3},
	})
}

// named adds the name of the site to the name of each row.
func (w *World) named(rows []Row) []Row {
	for i := range rows {
		rows[i].Name = w.Size() + " " + rows[i].Name
		if w.site.Config == gen.Sizes["S"] {
			rows[i].Target = 0 // the targets apply to larger sites
		}
	}
	return rows
}

// Growth compares lookups in a large site with the same lookups in a small one. The time should be
// the same. The row for a Go map shows the effect of the larger memory alone.
func Growth(small, large *World) []Row {
	pair := func(name string, per int, target float64, of func(*World) func(int)) Row {
		return Row{name, measure.Case{Run: of(large)}, measure.Case{Name: "same on " + small.Size(), Run: of(small)},
			per, target}
	}
	return large.named([]Row{
		pair("constant, uniform keys", 1, 1.15, func(w *World) func(int) { return w.lookup(w.constants) }),
		pair("fresh request + 300 lookups", perVisit, 1.3, func(w *World) func(int) { return w.visit }),
		pair("map get, uniform keys", 1, 0, func(w *World) func(int) { return w.get(w.constants) }),
		pair("open + request + 1 lookup", 1, 0, func(w *World) func(int) { return w.open }),
	})
}

// Twins compares a Hiera 5 site with the same data in a Hiera 2 site.
func Twins(hiera2, hiera5 *World) []Row {
	pair := func(name string, per int, of func(*World) func(int)) Row {
		return Row{"Hiera 5, " + name, measure.Case{Run: of(hiera5)}, measure.Case{Name: "Hiera 2 twin",
			Run: of(hiera2)}, per, 1.1}
	}
	return hiera5.named([]Row{
		pair("constant, uniform keys", 1, func(w *World) func(int) { return w.lookup(w.constants) }),
		pair("constant, 100 hot keys", 1, func(w *World) func(int) { return w.lookup(w.hot) }),
		pair("fresh request + 300 lookups", perVisit, func(w *World) func(int) { return w.visit }),
		pair("interpolated string, two variables", 1, func(w *World) func(int) { return w.lookup(w.templates) }),
	})
}

// Crowd returns the row for the key that every node of a site binds.
func Crowd(w *World) []Row {
	return w.named([]Row{{"key of every node, any node", measure.Case{Run: w.everyNode},
		measure.Case{Name: "scan of its candidates", Run: w.scan}, 1, 1.0 / 200}})
}

// Opening compares opening a large site with opening a small one. The time should be the same.
func Opening(small, large *World) []Row {
	return large.named([]Row{{"open + request + 1 lookup", measure.Case{Run: large.open},
		measure.Case{Name: "same on " + small.Size(), Run: small.open}, 1, 1.0}})
}
