package lookup

import (
	"strings"
	"sync"

	"bindc/internal/expr"
	"bindc/internal/merge"
	"bindc/internal/value"
	"bindc/snapshot"
)

// merges caches values that a request merged from constants, so that a hash that many keys dig into is merged once. It
// also caches computed lookup_options, but no other computed values, and no encrypted or sensitive ones. Reset empties
// it.
type merges struct {
	mu      sync.Mutex
	kept    map[mergeOf]value.Value
	room    expr.Total
	options map[levelID]*merge.Level // computed lookup_options
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
	if m.hasRoom(v) {
		m.kept[mergeOf{strings.Clone(id.root), strings.Clone(id.key), id.defaults, id.from}] = v
	}
}

// hasRoom reports whether the cache has space for v, and counts v. The caller holds the lock.
func (m *merges) hasRoom(v value.Value) bool {
	if m.kept == nil {
		m.kept, m.options, m.room = map[mergeOf]value.Value{}, map[levelID]*merge.Level{}, expr.Total{Size: maxMerges}
	}
	return m.room.Add(v) == nil
}

// levelID identifies compiled lookup_options. Equal values share a Ref, and what is valid depends on the module.
type levelID struct {
	ref    snapshot.Ref
	module string
}

// clone clones the module, which may refer to the mapped file.
func (id levelID) clone() levelID { return levelID{id.ref, strings.Clone(id.module)} }

// level returns computed lookup_options, or nil if they are not in the cache.
func (m *merges) level(id levelID) *merge.Level {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.options[id]
}

// keepLevel adds level, compiled from v, to the cache if there is space.
func (m *merges) keepLevel(id levelID, v value.Value, level *merge.Level) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.hasRoom(v) {
		m.options[id] = level
	}
}

// forget empties the cache. No other goroutine may use the request during the call.
func (m *merges) forget() { m.kept, m.options = nil, nil }
