package compile

import (
	"maps"
	"slices"
	"strconv"

	"bindc/internal/diag"
)

// DefaultEffort is some seconds. Sites of a million bindings take a hundredth of it.
const DefaultEffort = 1 << 25

// effort bounds what is compared. Conditions of one key can be compatible each with each, and so can the ways in which
// they hold: of a site made for it, the checks would take the square of its size and more. It counts steps of about
// 100 ns. When there is none left, whatever asks for more gets nothing, and nothing is reported on such grounds.
type effort struct {
	left, limit int
	onPatterns  diag.Pos // the lookup_options whose patterns used up the effort
}

func newEffort(limit int) *effort {
	if limit <= 0 {
		limit = DefaultEffort
	}
	return &effort{left: limit, limit: limit}
}

// spend takes n steps; false if there are not as many left.
func (e *effort) spend(n int) bool {
	e.left -= n
	return e.left >= 0
}

func (e *effort) over() bool { return e.left < 0 }

// report adds what a check found, unless it had to stop.
func (c *composer) report(d diag.Diagnostic) {
	if !c.effort.over() {
		c.diags.Add(d)
	}
}

// checkEffort refuses a site that could not be checked.
func (c *composer) checkEffort() {
	if !c.effort.over() {
		return
	}
	if at := c.effort.onPatterns; at != (diag.Pos{}) {
		c.diags.Add(diag.Diagnostic{Pos: at, Code: "effort", Message: "finding the keys that the patterns of lookup_options " +
			"match takes more than " + strconv.Itoa(c.effort.limit) + " steps",
			Hint: "begin patterns with text, as in '^module::', have fewer of them, or raise --max-effort"})
		return
	}
	d := diag.Diagnostic{Code: "effort",
		Message: "whether bindings of this site conflict or need themselves takes more than " +
			strconv.Itoa(c.effort.limit) + " comparisons",
		Hint: "have fewer bindings of one key whose conditions can hold together, or raise --max-effort"}
	if k := c.mostBound(); k != nil {
		d.Pos = k.all[0].pos()
		d.Notes = []diag.Note{{Pos: d.Pos, Message: "'" + k.name + "' has the most: " + strconv.Itoa(len(k.all))}}
	}
	c.diags.Add(d)
}

func (c *composer) mostBound() *keyIndex {
	var most *keyIndex
	for _, key := range slices.Sorted(maps.Keys(c.indexes)) {
		if k := c.indexes[key]; most == nil || len(k.all) > len(most.all) {
			most = k
		}
	}
	return most
}
