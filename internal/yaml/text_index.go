package yaml

import "hash/maphash"

// textIndex finds string keys of a mapping. Unlike a map, its memory can be reused for the next mapping.
type textIndex struct {
	slots []uint32 // open addressing: index in kids plus one, or 0 if free
	size  int
}

// Sizes of a textIndex in slots. They are powers of two.
const (
	fewTexts  = 64      // initial size
	keptTexts = 1 << 12 // larger indexes are not kept, because clearing them for each file takes time
)

var textSeed = maphash.MakeSeed()

func (x *textIndex) find(kids []Node, text string) (at int, ok bool) {
	if x.size == 0 {
		return 0, false
	}
	slot := x.slot(kids, text)
	return int(x.slots[slot]) - 1, x.slots[slot] != 0
}

// slot returns the slot of the key text, or the free slot for it.
func (x *textIndex) slot(kids []Node, text string) uint64 {
	mask := uint64(len(x.slots) - 1)
	slot := maphash.String(textSeed, text) & mask
	for x.slots[slot] != 0 {
		if found, _ := kids[x.slots[slot]-1].Text(); found == text {
			break
		}
		slot = (slot + 1) & mask
	}
	return slot
}

// add adds the key kids[at]. It replaces an equal key in the index.
func (x *textIndex) add(kids []Node, at int) {
	if 2*x.size >= len(x.slots) {
		x.grow(kids)
	}
	text, _ := kids[at].Text()
	slot := x.slot(kids, text)
	if x.slots[slot] == 0 {
		x.size++
	}
	x.slots[slot] = uint32(at) + 1
}

func (x *textIndex) grow(kids []Node) {
	before := x.slots
	x.slots = make([]uint32, max(fewTexts, 2*len(before)))
	for _, n := range before {
		if n != 0 {
			text, _ := kids[n-1].Text()
			x.slots[x.slot(kids, text)] = n
		}
	}
}

func (x *textIndex) clear() {
	if len(x.slots) > keptTexts {
		x.slots = nil
	}
	if x.size > 0 {
		clear(x.slots)
		x.size = 0
	}
}
