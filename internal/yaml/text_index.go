package yaml

import "hash/maphash"

// textIndex finds the string keys of a mapping in its kids. Compared with a map, it does not allocate for each mapping,
// as its memory can be used again.
type textIndex struct {
	slots []uint32 // open addressing: the index in kids plus one, 0: free
	size  int
}

// The sizes of an index, which are powers of two.
const (
	fewTexts  = 64      // slots of a new one
	keptTexts = 1 << 12 // slots of the largest one that is used again, as it has to be cleared for each file
)

var textSeed = maphash.MakeSeed()

// find returns the index in kids of a key.
func (x *textIndex) find(kids []Node, text string) (at int, ok bool) {
	if x.size == 0 {
		return 0, false
	}
	slot := x.slot(kids, text)
	return int(x.slots[slot]) - 1, x.slots[slot] != 0
}

// slot returns the slot that has a text, or the free one that it belongs in.
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

// add adds the key at an index in kids. Of two equal keys, it finds the last one.
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
