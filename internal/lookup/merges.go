package lookup

import (
	"strings"
	"sync"

	"bindc/internal/expr"
	"bindc/internal/value"
)

// merges caches values that a request merged from constants, so that a hash that many keys dig into is merged once. It
// never caches computed, encrypted or sensitive values. Reset empties it.
type merges struct {
	mu   sync.Mutex
	kept map[mergeOf]value.Value
	room expr.Total
}

// mergeOf identifies a cached value: the bindings of root in the hierarchies or in the default_hierarchy, merged by the
// lookup options of key.
type mergeOf struct {
	root, key string
	defaults  bool
	from      int
}

// maxMerges is the largest size of the cache of one request, in bytes as expr.Total counts them.
const maxMerges = 8 << 20

func (m *merges) get(id mergeOf) (value.Value, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.kept[id]
	return v, ok
}

// keep adds v to the cache if there is space. It clones the strings in id, which may refer to the mapped file.
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

// forget empties the cache. No other goroutine may use the request during the call.
func (m *merges) forget() { m.kept = nil }
