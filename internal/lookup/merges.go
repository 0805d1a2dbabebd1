package lookup

import (
	"strings"
	"sync"

	"bindc/internal/expr"
	"bindc/internal/value"
)

// merges are what a request has merged of constants alone, which is the same each time: a hash that one key after the
// other digs in is merged once. They are kept as long as the request, or until it is reset. What is computed, encrypted
// or sensitive is never among them.
type merges struct {
	mu    sync.Mutex
	known map[mergeOf]value.Value
	room  expr.Total // what they may still take
}

// maxMerges is what the merges of one request take at most, in bytes as expr.Total counts them.
const maxMerges = 8 << 20

// mergeOf is what a merge is of: what root is bound to by the lookup options of key, or of default_hierarchy.
type mergeOf struct {
	root, key string
	defaults  bool
	from      int // the first level that counts
}

func (m *merges) get(of mergeOf) (value.Value, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.known[of]
	return v, ok
}

// keep keeps v if there is room. Its keys are not text of the caller's, or of the file.
func (m *merges) keep(of mergeOf, v value.Value) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known, m.room = map[mergeOf]value.Value{}, expr.Total{Size: maxMerges}
	}
	if m.room.Add(v) == nil {
		m.known[mergeOf{strings.Clone(of.root), strings.Clone(of.key), of.defaults, of.from}] = v
	}
}

// forget is for who alone has the request.
func (m *merges) forget() { m.known = nil }
