// Package bench has the benchmarks of lookups; see README.md.
package bench

import (
	"testing"

	"bindc/bench/gen"
	"bindc/bench/measure"
	"bindc/bench/rows"
)

// Opening a world checks its values, so this fails if the benchmarks would measure wrong results.
func TestSmallSiteHasExpectedValues(t *testing.T) {
	w, err := rows.Open(gen.Sizes["S"])
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// BenchmarkLookup runs the rows of the table for site L, each case followed by its yardstick.
// cmd/table is better for ratios, because it alternates between them.
func BenchmarkLookup(b *testing.B) {
	w, err := rows.Open(gen.Sizes["L"])
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	table, err := rows.Lookups(w)
	if err != nil {
		b.Fatal(err)
	}
	done := map[string]bool{}
	run := func(name string, c measure.Case, per int) {
		if !done[name] {
			done[name] = true
			b.Run(name, func(b *testing.B) { benchmark(b, c, per) })
		}
	}
	for _, row := range table {
		run(row.Name+"/bindc", row.Case, row.Per)
		run(row.Name+"/"+row.Yardstick.Name, row.Yardstick, row.Per)
	}
}

func benchmark(b *testing.B, c measure.Case, per int) {
	b.ReportAllocs()
	c.Run(b.N)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*per), "ns/lookup")
}
