package serve

import (
	"container/list"
	"crypto/sha256"
	"sync"
)

// maxHistory is the memory that a history may take, in bytes.
const maxHistory = 2 << 20

// Estimates of what the parts of a history take beside their texts, in bytes.
const (
	keyBytes   = 16 // a string
	groupBytes = 64
	kindBytes  = 256 // a kind, with its places in a map and a list
)

// kind describes sessions that are answered alike.
type kind struct {
	path    string // of the snapshot
	entries string // of the hierarchy that the client asks for
	alike   uint64 // see lookup.Request.Alike
}

// history remembers which keys the last session of each kind asked for, so that the first answer of the next one can
// have their values. It has an upper bound; beyond it, the kinds used longest ago are forgotten.
type history struct {
	mu    sync.Mutex
	kinds map[kind]*list.Element // of order
	order list.List              // of *remembered, the most recently used first
	lists map[[sha256.Size]byte]*keyList
	bytes int
}

// remembered is a kind with the keys it asked for.
type remembered struct {
	kind kind
	keys *keyList
}

// keyList is shared by all kinds that asked for the same keys.
type keyList struct {
	digest [sha256.Size]byte
	groups []group
	bytes  int
	uses   int
}

// get returns the keys that the last session of a kind asked for, nil if it is not known.
func (h *history) get(k kind) []group {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.kinds[k]
	if e == nil {
		return nil
	}
	h.order.MoveToFront(e)
	return e.Value.(*remembered).keys.groups
}

// put remembers the keys that a session of a kind asked for. Keys that alone take more than half of the memory are not
// remembered.
func (h *history) put(k kind, groups []group) {
	size, digest := sizeOf(groups), digestOf(groups)
	h.mu.Lock()
	defer h.mu.Unlock()
	if e := h.kinds[k]; e != nil {
		h.forget(e)
	}
	if size > maxHistory/2 {
		return
	}
	if h.kinds == nil {
		h.kinds, h.lists = map[kind]*list.Element{}, map[[sha256.Size]byte]*keyList{}
	}
	keys := h.lists[digest]
	if keys == nil {
		keys = &keyList{digest: digest, groups: groups, bytes: size}
		h.lists[digest] = keys
		h.bytes += size
	}
	keys.uses++
	h.kinds[k] = h.order.PushFront(&remembered{k, keys})
	h.bytes += kindBytes
	for h.bytes > maxHistory {
		h.forget(h.order.Back())
	}
}

// forget removes a kind, and its keys if no other kind has the same. The caller holds mu.
func (h *history) forget(e *list.Element) {
	r := h.order.Remove(e).(*remembered)
	delete(h.kinds, r.kind)
	h.bytes -= kindBytes
	if r.keys.uses--; r.keys.uses == 0 {
		delete(h.lists, r.keys.digest)
		h.bytes -= r.keys.bytes
	}
}
