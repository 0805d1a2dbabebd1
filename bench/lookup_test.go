// Package bench holds the benchmarks of lookups; see README.md.
package bench

import (
	"testing"

	"bindc/bench/gen"
	"bindc/bench/measure"
	"bindc/bench/rows"
)

// Opening a world checks what it answers, so this fails where the benchmarks would measure wrong answers.
func TestSmallSiteIsAnsweredAsExpected(t *testing.T) {
	w, err := rows.Open(gen.Sizes["S"])
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// BenchmarkLookup runs every row of the table, each case and its yardstick one after the other. For ratios, cmd/table
// is better: it lets them take turns.
func BenchmarkLookup(b *testing.B) {
	var worlds []*rows.World
	for _, config := range []gen.Config{gen.Sizes["S"], rows.Few(gen.Sizes["L"]), gen.Sizes["L"]} {
		w, err := rows.Open(config)
		if err != nil {
			b.Fatal(err)
		}
		defer w.Close()
		worlds = append(worlds, w)
	}
	table, err := rows.Table(worlds[0], worlds[1], worlds[2])
	if err != nil {
		b.Fatal(err)
	}
	for _, row := range table {
		b.Run(row.Name+"/bindc", func(b *testing.B) { benchmark(b, row.Case, row.Per) })
		b.Run(row.Name+"/"+row.Yardstick.Name, func(b *testing.B) { benchmark(b, row.Yardstick, row.Per) })
	}
}

func benchmark(b *testing.B, c measure.Case, per int) {
	b.ReportAllocs()
	c.Run(b.N)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*per), "ns/lookup")
}
