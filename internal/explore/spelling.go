package explore

import (
	"slices"
	"strings"
	"sync"

	"bindc/internal/lookup"
	"bindc/internal/report"
	"bindc/snapshot"
)

// spellings records how nodes spell category values. Conditions that ignore case are stored in lower case, but pages
// show the spelling of the nodes. known is indexed by dimension and then by value number.
type spellings struct {
	mu    sync.RWMutex
	known []map[uint32]spelling
}

// spelling is the spelling of a value on the first node that has it. text is "" if the stored form needs no correction.
type spelling struct {
	node int
	text string
}

func newSpellings(dimensions int) []map[uint32]spelling {
	out := make([]map[uint32]spelling, dimensions)
	for dim := range out {
		out[dim] = map[uint32]spelling{}
	}
	return out
}

// add records the spellings of a node's category values.
func (s *spellings) add(d *Data, r *lookup.Request, node int, numbers []uint32) {
	if s.hasAll(node, numbers) {
		return
	}
	terms := r.Dimensions()
	s.mu.Lock()
	defer s.mu.Unlock()
	for dim, number := range numbers {
		if number == snapshot.None || s.has(dim, number, node) {
			continue
		}
		text := terms[dim].Value
		if text == strings.ToLower(text) || d.file.Dimensions()[dim].Exact {
			text = ""
		}
		s.known[dim][number] = spelling{node, text}
	}
}

// has reports whether a spelling from this node or an earlier one is recorded.
func (s *spellings) has(dim int, number uint32, node int) bool {
	first, ok := s.known[dim][number]
	return ok && first.node <= node
}

// hasAll reports whether has is true for all values of a node.
func (s *spellings) hasAll(node int, numbers []uint32) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for dim, number := range numbers {
		if number != snapshot.None && !s.has(dim, number, node) {
			return false
		}
	}
	return true
}

// asOnNodes returns when with its values in the spelling of the nodes. JSON keeps the stored form.
func (v *view) asOnNodes(when report.Terms) report.Terms {
	if v.asJSON || !isClosed(v.d.census.ready) {
		return when
	}
	out := slices.Clone(when)
	for i, t := range out {
		hasName := func(d snapshot.Dimension) bool { return d.Name == t.Name }
		dim := slices.IndexFunc(v.d.file.Dimensions(), hasName)
		if dim < 0 {
			continue
		}
		if as := v.d.census.spelled.known[dim][v.d.file.ValueNumber(dim, t.Value)]; as.text != "" {
			out[i].Value = as.text
		}
	}
	return out
}
