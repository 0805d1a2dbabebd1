package snapshot

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"bindc/internal/value"
)

// This file reads what origins.go writes.

func (s *Snapshot) coldBlocks() int { return len(s.sections[secOriginTab]) / coldEntry }

func (s *Snapshot) coldEntry(block int) string {
	return s.sections[secOriginTab][coldEntry*block:][:coldEntry]
}

// coldLevel returns the level of a block of scopes, or coldKeys for a block of keys.
func (s *Snapshot) coldLevel(block int) uint32 { return load32(s.coldEntry(block)[16:]) }

// coldFirst returns the place of the first scope, or the number of the first key, in a block.
func (s *Snapshot) coldFirst(block int) uint32 { return load32(s.coldEntry(block)[20:]) }

// coldBlockOf returns the block with the record of the scope at place first of level, or -1. If level is coldKeys, it
// returns the block with the record of key number first.
func (s *Snapshot) coldBlockOf(level, first uint32) int {
	after := sort.Search(s.coldBlocks(), func(b int) bool {
		l := s.coldLevel(b)
		return l > level || l == level && s.coldFirst(b) > first
	})
	if after == 0 || s.coldLevel(after-1) != level {
		return -1
	}
	return after - 1
}

// coldFrame returns the zstd frame of a block and its decoded length.
func (s *Snapshot) coldFrame(block int) (packed string, length uint64, err error) {
	packed, length, ok := frameOf(s.coldEntry(block), s.sections[secOrigins])
	if !ok {
		return "", 0, s.damaged(secOriginTab, uint64(coldEntry*block), "a block inside section %s", secOrigins)
	}
	return packed, length, nil
}

// cold decodes a block of section origins. It does not cache the result.
func (s *Snapshot) cold(block int) (reader, error) {
	packed, length, err := s.coldFrame(block)
	if err != nil {
		return reader{}, err
	}
	raw, ok := decompress(packed, length)
	if !ok {
		return reader{}, s.badBlock(block, "a zstd frame")
	}
	return reader{b: raw}, nil
}

func (s *Snapshot) badBlock(block int, expected string) error {
	return s.damaged(secOrigins, load64(s.coldEntry(block)), "%s", expected)
}

// scopeOrigins is the record of a scope in section origins.
type scopeOrigins struct {
	n                uint32
	keys             []uint32 // numbers of the keys; only in narrow levels
	input, line, col originColumn
}

// originColumn contains the input, line or column of each entry of a scope.
type originColumn struct {
	uniform bool // all numbers are equal to same
	same    uint32
	all     []uint32
}

func (c *originColumn) at(i uint32) uint32 {
	if c.uniform {
		return c.same
	}
	return c.all[i]
}

// relativeTo decodes inputs that are stored as differences from the first input of the previous record.
func (c *originColumn) relativeTo(input uint32) {
	c.same = input + unzigzag(c.same)
	for i, z := range c.all {
		c.all[i] = input + unzigzag(z)
	}
}

// originOf returns the origin of the binding of key number n in a scope. It returns false if the scope has no such
// binding.
func (o *scopeOrigins) originOf(s *Snapshot, l *levelView, place, n uint32) (Origin, bool) {
	var i uint32
	var ok bool
	if l.narrow {
		at, found := slices.BinarySearch(o.keys, n)
		i, ok = uint32(at), found
	} else if t, err := s.table(place - 1); err == nil && t.n == o.n {
		i, ok = t.position(n, s.hash.n)
	}
	if !ok {
		return Origin{}, false
	}
	return Origin{o.input.at(i), o.line.at(i), o.col.at(i)}, true
}

// eachScope calls yield for each record in a block of scopes. It reuses o after yield returns.
func (s *Snapshot) eachScope(block int, yield func(place uint32, o *scopeOrigins)) error {
	level := s.coldLevel(block)
	if uint64(level) >= uint64(len(s.levels)) {
		return s.badBlock(block, "a level")
	}
	r, err := s.cold(block)
	var o scopeOrigins
	place, input := uint32(0), uint32(0)
	for err == nil && r.b != "" {
		place += r.u32()
		r.readScope(&o, s.levels[level].narrow)
		if r.failed {
			break
		}
		o.input.relativeTo(input)
		if o.n > 0 {
			input = o.input.at(0)
		}
		yield(place, &o)
	}
	if err == nil && r.failed {
		err = s.badBlock(block, "the origins of scopes")
	}
	return err
}

// readScope reads a record that addScope has written, except for the place.
func (r *reader) readScope(o *scopeOrigins, narrow bool) {
	o.n, o.keys = r.u32(), o.keys[:0]
	for before := uint32(0); narrow && uint32(len(o.keys)) < o.n && !r.failed; o.keys = append(o.keys, before) {
		before += r.u32()
	}
	for _, c := range []*originColumn{&o.input, &o.line, &o.col} {
		r.column(c, o.n)
	}
}

// column reads a column that appendColumn has written.
func (r *reader) column(c *originColumn, n uint32) {
	c.uniform, c.all = false, c.all[:0]
	if same := r.uvarint(); same > 0 {
		r.failed = r.failed || same > 1<<32
		c.uniform, c.same = true, uint32(same-1)
		return
	}
	for uint32(len(c.all)) < n && !r.failed {
		c.all = append(c.all, r.u32())
	}
}

// coldBinding is a binding that is in no scope. It is in the record of its key.
type coldBinding struct {
	kind         byte
	above, layer uint32
	origin       Origin
	terms        []coldTerm
	stored       Stored // only for hidden bindings
}

// coldTerm is a Term with the number of its value.
type coldTerm struct{ dimension, value uint32 }

// coldBindingBytes is the minimum size of an encoded binding in bytes.
const coldBindingBytes = 7

// eachKey reads the records in a block of keys. For each key, it calls yield with nil and then with each of its
// bindings. It reuses b after yield returns.
func (s *Snapshot) eachKey(block int, yield func(key uint32, b *coldBinding)) error {
	r, err := s.cold(block)
	var b coldBinding
	for key := s.coldFirst(block); err == nil && r.b != "" && !r.failed; key++ {
		r.failed = key >= s.hash.n
		n := r.count(coldBindingBytes)
		if !r.failed {
			yield(key, nil)
		}
		for ; n > 0 && !r.failed; n-- {
			s.coldBinding(&r, &b)
			if !r.failed {
				yield(key, &b)
			}
		}
	}
	if err == nil && r.failed {
		err = s.badBlock(block, "bindings of keys")
	}
	return err
}

func (s *Snapshot) coldBinding(r *reader, b *coldBinding) {
	b.kind, b.above, b.layer = r.byte(), r.u32(), r.u32()
	b.origin, b.terms, b.stored = Origin{r.u32(), r.u32(), r.u32()}, b.terms[:0], Stored{}
	for n := r.count(2); n > 0; n-- {
		t := coldTerm{r.u32(), r.u32()}
		if t.dimension >= uint32(len(s.dicts)) || t.value >= s.dicts[t.dimension].hash.n ||
			len(b.terms) > 0 && t.dimension <= b.terms[len(b.terms)-1].dimension {
			r.failed = true
			return
		}
		b.terms = append(b.terms, t)
	}
	if b.kind == coldHidden {
		b.stored = Stored{Computed: r.flags(1) == 1, Bytes: r.text()}
		_, rest, err := value.View(b.stored.Bytes)
		r.failed = r.failed || !b.stored.Computed && (err != nil || rest != "")
	}
	r.failed = r.failed || b.kind > coldContribution || uint64(b.layer) >= uint64(len(s.layers))
}

// coldBindings calls yield for each binding in the record of key number n. After yield returns an error, it is not
// called again.
func (s *Snapshot) coldBindings(n uint32, yield func(b *coldBinding) error) error {
	block, found, failed := s.coldBlockOf(coldKeys, n), false, error(nil)
	if block < 0 {
		return s.broken(secOriginTab, "a block of keys")
	}
	err := s.eachKey(block, func(key uint32, b *coldBinding) {
		switch {
		case key != n || failed != nil:
		case b == nil:
			found = true
		default:
			failed = yield(b)
		}
	})
	if err == nil && !found {
		err = s.badBlock(block, "the bindings of a key")
	}
	return cmp.Or(err, failed)
}

func (s *Snapshot) terms(ts []coldTerm) ([]Term, error) {
	var out []Term
	for _, t := range ts {
		text, ok := s.dicts[t.dimension].value(t.value)
		if !ok {
			return nil, s.damaged(secDicts, s.dicts[t.dimension].at, "a value of %s", s.dimensions[t.dimension].Name)
		}
		out = append(out, Term{int(t.dimension), strings.Clone(text)})
	}
	return out, nil
}
