package snapshot

import (
	"encoding/binary"
	"slices"
)

// Where bindings are written, and those that no lookup finds, is cold: kept in compressed blocks that nothing but a
// report reads. The origins of a scope lie together, in the order of its keys, so that a binding takes about a byte.
//
// Section origintab is an entry per block, in order; section origins the blocks, zstd frames. Blocks of scopes come
// first, level by level, those of keys behind them. A block holds whole records: of the scopes of a level in the
// order of their places, or of keys in the order of their numbers.
const (
	coldEntry = 24
	coldBlock = 64 << 10 // a block is ended from so many bytes on
	coldKeys  = 1<<32 - 1
)

// What a record of a key says of a binding.
const (
	coldDefault      = iota // the unconditional binding that counts
	coldHidden              // one that something higher hides in every request
	coldContribution        // one of those that a multibinding collects
)

// coldWriter collects records in blocks.
type coldWriter struct {
	raw, packed, tab []byte
	level, first     uint32 // of the block in raw
	place, input     uint32 // of the record before, in this block
}

// begin has the next record belong to a level and be the one of a place, or of a key.
func (c *coldWriter) begin(level, place uint32) {
	if c.level != level || len(c.raw) >= coldBlock {
		c.flush()
	}
	if len(c.raw) == 0 {
		c.level, c.first, c.place, c.input = level, place, 0, 0
	}
}

func (c *coldWriter) flush() {
	if len(c.raw) == 0 {
		return
	}
	c.tab, c.packed = appendFrame(c.tab, c.packed, c.raw)
	c.tab = binary.LittleEndian.AppendUint32(c.tab, c.level)
	c.tab = binary.LittleEndian.AppendUint32(c.tab, c.first)
	c.raw = c.raw[:0]
}

// origins writes where everything is written that is in no scope, behind what directories has written of the scopes.
func (w *writer) origins() {
	c := &w.cold
	for n, i := range w.byNumber() {
		c.begin(coldKeys, uint32(n))
		c.raw = w.appendKey(c.raw, &w.c.Keys[i])
	}
	c.flush()
	w.out[secOriginTab], w.out[secOrigins] = c.tab, c.packed
}

// addScope appends the record of a scope: its place, the number of its entries, of a narrow level the numbers of the
// keys, each less the one before, then the origins: inputs, lines, columns. Place and inputs are less those of the
// record before: the files of nodes follow one another as the nodes do, and then take no space.
func (w *writer) addScope(s Scope, order []int, place uint32, narrow bool) {
	c := &w.cold
	c.raw = appendNumbers(c.raw, int(place-c.place), len(order))
	if narrow {
		before := uint32(0)
		for _, i := range order {
			n := w.numbers[s.Entries[i].Key]
			c.raw = binary.AppendUvarint(c.raw, uint64(n-before))
			before = n
		}
	}
	c.raw = appendColumn(c.raw, order, func(i int) uint32 { return zigzag(s.origin(i).Input - c.input) })
	c.raw = appendColumn(c.raw, order, func(i int) uint32 { return s.origin(i).Line })
	c.raw = appendColumn(c.raw, order, func(i int) uint32 { return s.origin(i).Col })
	c.place = place
	if len(order) > 0 {
		c.input = s.origin(order[0]).Input
	}
}

// zigzag is a difference of which small ones of either sign are small; unzigzag undoes it.
func zigzag(d uint32) uint32   { return d<<1 ^ uint32(int32(d)>>31) }
func unzigzag(z uint32) uint32 { return z>>1 ^ -(z & 1) }

// inOrder is the entries of a scope in the order of the numbers of their keys.
func (w *writer) inOrder(s Scope) []int {
	packed := make([]uint64, len(s.Entries)) // the number of the key, and in the lower half the entry
	for i, e := range s.Entries {
		packed[i] = uint64(w.numbers[e.Key])<<32 | uint64(i)
	}
	slices.Sort(packed)
	order := make([]int, len(packed))
	for i, p := range packed {
		order[i] = int(uint32(p))
	}
	return order
}

// appendColumn appends one number per entry: if all are the same that number plus one, else zero and all of them.
func appendColumn(out []byte, order []int, numberOf func(entry int) uint32) []byte {
	same := true
	for _, i := range order {
		same = same && numberOf(i) == numberOf(order[0])
	}
	if same && len(order) > 0 {
		return binary.AppendUvarint(out, uint64(numberOf(order[0]))+1)
	}
	out = append(out, 0)
	for _, i := range order {
		out = binary.AppendUvarint(out, uint64(numberOf(i)))
	}
	return out
}

// appendKey appends the record of a key: the number of its bindings that no scope has, and these. Terms are numbers,
// of the dimension and of its value.
func (w *writer) appendKey(out []byte, k *Key) []byte {
	out = appendNumbers(out, len(k.Cold))
	for i, kind := range k.coldKinds() {
		b := &k.Cold[i]
		out = appendNumbers(append(out, kind), b.Above, b.Layer)
		out = appendNumbers(out, int(b.Origin.Input), int(b.Origin.Line), int(b.Origin.Col), len(b.Terms))
		for _, t := range b.Terms {
			out = appendNumbers(out, t.Dimension, int(w.dicts[t.Dimension].numbers[t.Value]))
		}
		if kind == coldHidden {
			v := w.c.Values[b.Value]
			out = appendText(append(out, flag(v.Computed, 1)), v.Bytes)
		}
	}
	return out
}

// coldKinds says of each cold binding what it is.
func (k *Key) coldKinds() []byte {
	out, pending := make([]byte, len(k.Cold)), k.Default >= 0
	for i, b := range k.Cold {
		switch {
		case b.Contribution:
			out[i] = coldContribution
		case pending && len(b.Terms) == 0:
			out[i], pending = coldDefault, false
		default:
			out[i] = coldHidden
		}
	}
	return out
}

// hidden tells whether there are candidates that are in no scope, beside the default.
func (k *Key) hidden() bool { return slices.Contains(k.coldKinds(), coldHidden) }
