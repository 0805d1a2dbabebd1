package explore

import (
	"slices"

	"bindc/diag"
	"bindc/internal/report"
	"bindc/internal/report/decision"
)

// deadReason explains why a binding reaches no node: its condition holds for no node, or the nodes for which it holds
// get another value.
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

// addReasons explains each counted row of a table that reaches no node. list has the same rows, without duplicates,
// and the shown rows begin at its index from.
func (v *view) addReasons(shown []keyRow, list []report.Candidate, rows []decision.Row, from int) {
	for i := range shown {
		if shown[i].Nodes > 0 {
			continue
		}
		b := &list[from+i]
		left := rows[from+i:] // its index in rows is at least that in list
		at := slices.IndexFunc(left, func(r decision.Row) bool {
			return r.At == b.At && r.Name == b.Name && slices.Equal(r.When, b.When)
		})
		if at >= 0 {
			shown[i].Dead = v.d.deadReason(&left[at])
		}
	}
}
