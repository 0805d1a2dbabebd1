package snapshot

import (
	"encoding/binary"
	"slices"
)

// The positions of bindings, and the bindings that no lookup finds, are called cold: they are stored in compressed
// blocks that only reports read. The origins of a scope are stored together, in the order of its keys, so that each
// binding takes about one byte.
//
// Section origintab has one entry per block, in order. Section origins contains the blocks, which are zstd frames.
// The blocks of scopes come first, level by level, followed by those of keys. A block contains whole records: scopes
// of one level in the order of their places, or keys in the order of their numbers.
const (
	coldEntry = 24
	coldBlock = 64 << 10 // a block is complete once it reaches this length
	coldKeys  = 1<<32 - 1
)

// The kinds of bindings in the record of a key.
const (
	coldDefault      = iota // the unconditional binding that lookups find
	coldHidden              // a binding hidden by higher-precedence ones in every request
	coldContribution        // a contribution to a multibinding
)

// coldWriter collects the records of section origins into blocks.
type coldWriter struct {
	raw          []byte
	level, first uint32 // level and first place or key of the block in raw
	place, input uint32 // place and input of the previous record in this block
	frames       frameWriter
}

// begin starts the record of the scope at place of level. If level is coldKeys, place is a key number.
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
	c.frames.add(c.raw, c.level, c.first)
	c.raw = make([]byte, 0, coldBlock+coldBlock/8)
}

// origins writes the records of keys after the records of scopes, which directories has written.
func (w *writer) origins() {
	c := &w.cold
	for n, i := range w.byNumber() {
		c.begin(coldKeys, uint32(n))
		c.raw = w.appendKey(c.raw, &w.c.Keys[i])
	}
	c.flush()
	w.out[secOriginTab], w.out[secOrigins] = c.frames.finish()
}

// addScope appends the record of a scope: its place, the number of its entries, and the inputs, lines and columns of
// the origins. In a narrow level, the numbers of the keys precede the inputs, as differences. Place and inputs are
// stored as differences from the previous record. These are small if each node has a file and the files are sorted like
// the nodes.
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

// zigzag encodes small differences of either sign as small numbers; unzigzag reverses it.
func zigzag(d uint32) uint32   { return d<<1 ^ uint32(int32(d)>>31) }
func unzigzag(z uint32) uint32 { return z>>1 ^ -(z & 1) }

// inOrder returns the indices of a scope's entries in the order of their key numbers. They are valid until
// the next call.
func (w *writer) inOrder(s Scope) []int {
	packed := w.packed[:0] // upper half: number of the key; lower half: index of the entry
	for i, e := range s.Entries {
		packed = append(packed, uint64(w.numbers[e.Key])<<32|uint64(i))
	}
	slices.Sort(packed)
	order := w.order[:0]
	for _, p := range packed {
		order = append(order, int(uint32(p)))
	}
	w.packed, w.order = packed, order
	return order
}

// appendColumn appends one number per entry. If all numbers are equal, it appends their value plus one. Otherwise it
// appends zero and then all of them.
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

// appendKey appends the record of a key: the number of its bindings that are in no scope, and the bindings. The terms
// of a binding are number pairs: dimension and value.
func (w *writer) appendKey(out []byte, k *Key) []byte {
	out = appendNumbers(out, len(k.Cold))
	for i, kind := range k.coldKinds() {
		b := &k.Cold[i]
		out = appendNumbers(append(out, kind), b.Above, b.Layer)
		out = appendNumbers(out, int(b.Origin.Input), int(b.Origin.Line), int(b.Origin.Col), len(b.Terms))
		for _, t := range b.Terms {
			out = appendNumbers(out, t.Dimension, int(w.dicts[t.Dimension].number(t.Value)))
		}
		if kind == coldHidden {
			v := w.c.Values[b.Value]
			out = appendText(append(out, flag(v.Computed, 1)), v.Bytes)
		}
	}
	return out
}

// coldKinds returns the kind of each cold binding. If the key has a default, it is the first binding without terms.
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

// hidden reports whether the key has candidates outside all scopes, apart from its default.
func (k *Key) hidden() bool { return slices.Contains(k.coldKinds(), coldHidden) }
