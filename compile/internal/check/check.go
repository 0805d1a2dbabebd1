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
	c := &checker{Env: e, Ordered: s, levels: l}
	doubtful, needs := c.doubtful(), c.findNeeds()
	keys := maps.Clone(doubtful)
	c.addCollecting(keys)
	c.addRebound(keys)
	needs.addKeys(keys, len(c.Declining) > 0)
	c.indexes = c.indexesOf(keys)
	for _, key := range slices.Sorted(maps.Keys(doubtful)) {
		k := c.indexes[key]
		k.checkConflicts(l.Defaults[key].Rank)
		k.checkKinds(c.Names)
		k.checkTypes(c.Tables)
	}
	c.checkMultibinds()
	c.checkRebound()
	c.checkDeadLookups(needs.ofValue)
	c.checkLoops(needs)
	c.checkHieraLookups()
	c.checkMerges()
	c.checkEffort()
}

// checkEffort reports an error if the checks are incomplete because the effort is used up.
func (c *checker) checkEffort() {
	if !c.Effort.Over() {
		return
	}
	if at := c.Effort.OnPatterns; at != (diag.Pos{}) {
		c.Diags.Add(diag.Diagnostic{Pos: at, Code: "effort",
			Message: "finding the keys that the patterns of lookup_options " +
				"match takes more than " + strconv.Itoa(c.Effort.Limit) + " steps",
			Hint: "begin patterns with literal text, as in '^module::', use fewer patterns, or raise --max-effort"})
		return
	}
	d := diag.Diagnostic{Code: "effort",
		Message: "checking this site for conflicts and loops takes more than " +
			strconv.Itoa(c.Effort.Limit) + " comparisons",
		Hint: "bind keys fewer times under conditions that can hold together, or raise --max-effort"}
	if k := c.mostBound(); k != nil {
		d.Pos = k.all[0].Pos()
		d.Notes = []diag.Note{{Pos: d.Pos, Message: "'" + k.name + "' has the most: " + strconv.Itoa(len(k.all))}}
	}
	c.Diags.Add(d)
}

func (c *checker) mostBound() *keyIndex {
	var most *keyIndex
	for _, key := range slices.Sorted(maps.Keys(c.indexes)) {
		if k := c.indexes[key]; most == nil || len(k.all) > len(most.all) {
			most = k
		}
	}
	return most
}
