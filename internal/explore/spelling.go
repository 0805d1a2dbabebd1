package explore

import (
	"slices"
	"strings"
	"sync"

	"bindc/internal/lookup"
	"bindc/internal/report"
	"bindc/snapshot"
)

// spellings holds the values of dimensions as nodes spell them, by dimension and number. Conditions that ignore case
// are in lower case.
type spellings struct {
	mu    sync.RWMutex
	known []map[uint32]spelling
}

// spelling is a value as the first node spells it. The text is "" if the value is in lower case, or if case matters.
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

// add adds the values of a node.
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

// has reports whether the value of a node, or of an earlier node, is known.
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

// asOnNodes returns a condition with the values as nodes spell them.
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
