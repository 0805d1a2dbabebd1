package explore

import (
	"slices"

	"bindc/diag"
	"bindc/internal/report"
	"bindc/internal/report/decision"
)

// deadReason explains why no node gets its value from row. Either its condition holds for no node, or all nodes for
// which it holds get another value.
func (d *Data) deadReason(row *decision.Row) string {
	holds := d.census.where(d, row.Terms(), &d.census.known)
	nodes := diag.Count(holds.count(), "node")
	switch {
	case holds.count() == 0:
		return "no node has its condition"
	case row.Declines:
		return "hidden or without a value where it applies, on " + nodes
	}
	return "hidden where it applies, on " + nodes
}

// addReasons sets the field Dead of each shown row that reaches no node. shown corresponds to list[from:]. list has the
// same order as rows, but without duplicates.
func (v *view) addReasons(shown []keyRow, list []report.Candidate, rows []decision.Row, from int) {
	for i := range shown {
		if shown[i].Nodes > 0 {
			continue
		}
		b := &list[from+i]
		left := rows[from+i:] // rows has duplicates that list lacks, so the row cannot come earlier
		at := slices.IndexFunc(left, func(r decision.Row) bool {
			return r.At == b.At && r.Name == b.Name && slices.Equal(r.When, b.When)
		})
		if at >= 0 {
			shown[i].Dead = v.d.deadReason(&left[at])
		}
	}
}
