package check

import (
	"slices"
	"strconv"
	"strings"

	"bindc/compile/internal/place"
	"bindc/diag"
)

// maxNamed limits the number of bindings that the message about a loop lists.
const maxNamed = 20

// reportLoop reports a loop, unless the search has already found it from another binding.
func (f *loopFinder) reportLoop(path []step, condition int) {
	if !f.Effort.Spend(len(path)) {
		return
	}
	loop := fromFirst(path)
	d := diag.Diagnostic{Pos: loop[0].Pos(), Code: "loop",
		Message: loopMessage(len(loop), func(i int) string { return f.nameOf(loop[i]) })}
	for _, cand := range loop[1:min(len(loop), maxNamed)] {
		note := "'" + f.nameOf(cand) + "' is bound here"
		if cand.Recipe != nil {
			note = "the contribution to " + f.nameOf(cand) + " is here"
		}
		d.Notes = append(d.Notes, diag.Note{Pos: cand.Pos(), Message: note})
	}
	if id := d.Pos.String() + d.Message; !f.reported[id] {
		f.reported[id] = true
		d.Message += f.Describe(f.conditions.list[condition])
		if f.unsplit[condition] {
			d.Hint = "the condition can hold in too many ways to check each: if no request has this loop, add a " +
				"category with fewer variables to the condition"
		}
		f.Report(d)
	}
}

func loopMessage(length int, name func(i int) string) string {
	names := make([]string, min(length, maxNamed), maxNamed+2)
	for i := range names {
		names[i] = name(i)
	}
	if more := length - maxNamed; more > 0 {
		names = append(names, "("+strconv.Itoa(more)+" others)")
	}
	return "'" + names[0] + "' depends on itself: " + strings.Join(append(names, names[0]), " -> ")
}

// fromFirst returns the candidates of a loop. The result begins with the first candidate in the input, preferably not a
// contribution.
func fromFirst(path []step) []*place.Candidate {
	loop := make([]*place.Candidate, len(path))
	for i, s := range path {
		loop[i] = s.cand
	}
	first := slices.Index(loop, slices.MinFunc(loop, func(a, b *place.Candidate) int {
		switch contributes := a.Recipe != nil; {
		case contributes == (b.Recipe != nil):
			return a.Pos().Compare(b.Pos())
		case contributes:
			return 1
		}
		return -1 // keys before contributions
	}))
	return append(slices.Clone(loop[first:]), loop[:first]...)
}

// nameOf returns the key of a candidate, or a name for the multibinding that it contributes to.
func (f *loopFinder) nameOf(cand *place.Candidate) string {
	if cand.Recipe == nil {
		return f.indexes.names[cand.Key]
	}
	return "multibind " + cand.Binding.More.In.ID
}
