package serve

import (
	"container/list"
	"crypto/sha256"
	"sync"
)

// maxHistory is the largest size of a history, in bytes as sizeOf estimates them.
const maxHistory = 2 << 20

// Estimated memory that a history takes in addition to its texts, in bytes.
const (
	keyBytes   = 16 // size of a string header
	groupBytes = 64
	kindBytes  = 256 // for an entry of kinds and an element of order
)

// sessionKind identifies sessions that get the same answers.
type sessionKind struct {
	path    string
	entries string // range of entries that the client asks for
	alike   uint64 // see lookup.Request.Alike
}

// history remembers which keys the last session of each kind asked for. The next session of that kind gets their values
// before it asks. Beyond maxHistory, the history forgets the kinds that were not used for the longest time.
type history struct {
	mu    sync.Mutex
	kinds map[sessionKind]*list.Element // elements of order
	order list.List                     // of *remembered, the most recently used first
	lists map[[sha256.Size]byte]*keyList
	bytes int
}

type remembered struct {
	kind sessionKind
	keys *keyList
}

// keyList is a list of keys, shared by all kinds whose sessions asked for these keys.
type keyList struct {
	digest [sha256.Size]byte
	groups []group
	bytes  int
	uses   int
}

// get returns the keys that the last session of kind k asked for, or nil if the history has none.
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

// put records the keys that a session of kind k asked for. It ignores a list that takes more than half of maxHistory.
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

// forget removes a kind, and its keys if no other kind shares them. The caller must hold mu.
func (h *history) forget(e *list.Element) {
	r := h.order.Remove(e).(*remembered)
	delete(h.kinds, r.kind)
	h.bytes -= kindBytes
	if r.keys.uses--; r.keys.uses == 0 {
		delete(h.lists, r.keys.digest)
		h.bytes -= r.keys.bytes
	}
}
