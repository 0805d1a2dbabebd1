// Package check finds conflicts, mistakes in abstract and override bindings, values of the wrong type, lookups that
// find nothing, and loops. It reports them and does not change the site.
package check

import (
	"maps"
	"slices"
	"strconv"

	"bindc/compile/internal/index"
	"bindc/compile/internal/pass"
	"bindc/diag"
)

// Run checks a site. If the effort is used up, it stops and reports an error.
func Run(e *pass.Env, s *index.Ordered, l *index.Levels) {
	doubtful, graph := doubtfulKeys(s, l.Defaults), findNeeds(s)
	indexes := indexKeys(e, s, indexedKeys(s, doubtful, graph))
	for _, key := range slices.Sorted(maps.Keys(doubtful)) {
		k := indexes.of[key]
		k.checkConflicts(l.Defaults[key].Rank)
		k.checkKinds(s.Names)
		k.checkTypes(s.Tables)
	}
	checkMultibinds(e, &s.Multibinds, indexes)
	checkRebound(e, s.Rebound, s.Ranks, indexes)
	checkDeadLookups(e, s, graph.ofValue)
	checkLoops(e, s.Tables, &s.Multibinds, indexes, graph)
	checkHieraLookups(e, s, l)
	checkHieraOptions(e, s.Bindings)
	checkMerges(e, s.Bindings)
	checkEffort(e, indexes)
}

// checkEffort reports an error if the checks are incomplete because the effort is used up.
func checkEffort(e *pass.Env, indexes keyIndexes) {
	if !e.Effort.Over() {
		return
	}
	if at := e.Effort.OnPatterns; at != (diag.Pos{}) {
		e.Diags.Add(diag.Diagnostic{Pos: at, Code: "effort",
			Message: "finding the keys that the patterns of lookup_options " +
				"match takes more than " + strconv.Itoa(e.Effort.Limit) + " steps",
			Hint: "begin patterns with literal text, as in '^module::', use fewer patterns, or raise --max-effort"})
		return
	}
	d := diag.Diagnostic{Code: "effort",
		Message: "checking this site for conflicts and loops takes more than " +
			strconv.Itoa(e.Effort.Limit) + " comparisons",
		Hint: "bind keys fewer times under conditions that can hold together, or raise --max-effort"}
	if k := indexes.mostBound(); k != nil {
		d.Pos = k.all[0].Pos()
		d.Notes = []diag.Note{{Pos: d.Pos, Message: "'" + k.name + "' has the most: " + strconv.Itoa(len(k.all))}}
	}
	e.Diags.Add(d)
}
