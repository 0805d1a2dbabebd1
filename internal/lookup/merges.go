package lookup

import (
	"strings"
	"sync"

	"bindc/internal/expr"
	"bindc/internal/value"
)

// merges keeps what a request has merged of constants alone, so that a hash that many keys dig in is merged once. They
// are kept as long as the request, or until it is reset. A computed, encrypted or sensitive value is never kept.
type merges struct {
	mu   sync.Mutex
	kept map[mergeOf]value.Value
	room expr.Total // what they may still take
}

// mergeOf identifies a merge: of the bindings of root by the lookup options of key, or of default_hierarchy.
type mergeOf struct {
	root, key string
	defaults  bool
	from      int // the first level that counts
}

// maxMerges limits the merges of one request, in bytes as expr.Total counts them.
const maxMerges = 8 << 20

func (m *merges) get(id mergeOf) (value.Value, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.kept[id]
	return v, ok
}

// keep keeps v if there is room. Its keys are not text of the caller's, or of the file.
func (m *merges) keep(id mergeOf, v value.Value) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept, m.room = map[mergeOf]value.Value{}, expr.Total{Size: maxMerges}
	}
	if m.room.Add(v) == nil {
		m.kept[mergeOf{strings.Clone(id.root), strings.Clone(id.key), id.defaults, id.from}] = v
	}
}

// forget drops all merges. No other goroutine may use the request.
func (m *merges) forget() { m.kept = nil }
