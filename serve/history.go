package serve

import (
	"container/list"
	"crypto/sha256"
	"sync"
)

// maxHistory is the largest size of a history in bytes, as estimated by sizeOf.
const maxHistory = 2 << 20

// Estimates in bytes of the memory that a history takes in addition to its texts.
const (
	keyBytes   = 16 // size of a string header
	groupBytes = 64
	kindBytes  = 256 // size of a kind, including its elements in kinds and order
)

// sessionKind describes sessions that get the same answers.
type sessionKind struct {
	path    string // path of the snapshot
	entries string // the range of entries that the client asks for
	alike   uint64 // see lookup.Request.Alike
}

// history remembers which keys the last session of each kind asked for, so that the next session of the kind gets their
// values with the first answer. Beyond maxHistory, it forgets the kinds that were not used for the longest time.
type history struct {
	mu    sync.Mutex
	kinds map[sessionKind]*list.Element // elements of order, by kind
	order list.List                     // elements are of type *remembered, the most recently used first
	lists map[[sha256.Size]byte]*keyList
	bytes int
}

// remembered is a kind and the keys that its last session asked for.
type remembered struct {
	kind sessionKind
	keys *keyList
}

// keyList lists keys. All kinds that asked for the same keys share one keyList.
type keyList struct {
	digest [sha256.Size]byte
	groups []group
	bytes  int
	uses   int
}

// get returns the keys that the last session of a kind asked for, or nil if the history has none.
func (h *history) get(k sessionKind) []group {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.kinds[k]
	if e == nil {
		return nil
	}
	h.order.MoveToFront(e)
	return e.Value.(*remembered).keys.groups
}

// put records the keys that a session of a kind asked for. It ignores lists that take more than half of maxHistory.
func (h *history) put(k sessionKind, groups []group) {
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
		h.kinds, h.lists = map[sessionKind]*list.Element{}, map[[sha256.Size]byte]*keyList{}
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

// forget removes a kind, and its keys if no other kind shares them. The caller holds mu.
func (h *history) forget(e *list.Element) {
	r := h.order.Remove(e).(*remembered)
	delete(h.kinds, r.kind)
	h.bytes -= kindBytes
	if r.keys.uses--; r.keys.uses == 0 {
		delete(h.lists, r.keys.digest)
		h.bytes -= r.keys.bytes
	}
}
