package lookup

import (
	"strings"
	"sync"

	"bindc/internal/expr"
	"bindc/internal/value"
)

// merges caches the merges of constants in a request, so that a hash that many keys dig into is
// merged once. The cache lives until the request is reset. Computed, encrypted and sensitive values
// are never cached.
type merges struct {
	mu   sync.Mutex
	kept map[mergeOf]value.Value
	room expr.Total // remaining space in the cache
}

// mergeOf identifies a cached merge: the bindings of root in the hierarchies or in the default_hierarchy, merged by
// the lookup options of key.
type mergeOf struct {
	root, key string
	defaults  bool
	from      int // the first level included
}

// maxMerges limits the merges of one request, in bytes as expr.Total counts them.
const maxMerges = 8 << 20

func (m *merges) get(id mergeOf) (value.Value, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.kept[id]
	return v, ok
}

// keep adds v if there is space. The cached keys must not refer to text of the caller or of the
// file.
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

// forget empties the cache. No other goroutine may use the request.
func (m *merges) forget() { m.kept = nil }
