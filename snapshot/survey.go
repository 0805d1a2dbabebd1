package snapshot

import (
	"cmp"
	"encoding/binary"
)

// Bound is a value that a key is bound to.
type Bound struct {
	Key    uint32 // key number
	Ref    Ref    // the value; unset if Hidden
	Hidden bool
	Stored Stored
}

// Survey calls yield for every value that a key is bound to, in no particular order. It includes internal keys. It
// stops at the first error, which is a *DamageError unless it comes from yield.
func (s *Snapshot) Survey(yield func(b Bound) error) error {
	for n := range s.hash.n {
		if err := s.inRecord(n, yield); err != nil {
			return err
		}
	}
	if err := s.inTables(yield); err != nil {
		return err
	}
	return s.eachHidden(func(key uint32, b *coldBinding) error {
		return yield(Bound{Key: key, Hidden: true, Stored: b.stored})
	})
}

// KeyName returns the name of key number n, or "" in a damaged file.
func (s *Snapshot) KeyName(n uint32) string {
	name, _ := s.keyName(n)
	return name
}

// inRecord calls yield for the default of key number n and for its values in narrow columns.
func (s *Snapshot) inRecord(n uint32, yield func(b Bound) error) error {
	if ref := Ref(at32(s.keys, keyRecord*uint64(n)+recDefault)); ref != noRef {
		if err := yield(Bound{Key: n, Ref: ref}); err != nil {
			return err
		}
	}
	if s.narrow == 0 {
		return nil
	}
	for ref, err := range s.inScopes(n, &Scopes{active: s.narrow}) {
		if err == nil {
			err = yield(Bound{Key: n, Ref: ref.ref})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inTables calls yield for the values in the tables of wide levels. It limits the bytes that it reads, because in a
// forged file many scopes could share one large table.
func (s *Snapshot) inTables(yield func(b Bound) error) error {
	left := len(s.tables)
	for i := range s.levels {
		l := &s.levels[i]
		if l.narrow {
			continue
		}
		for slot := range l.slots {
			place := l.placeAt(slot)
			if place == 0 {
				continue
			}
			t, err := s.table(place - 1)
			if left -= 4 + len(t.keys) + len(t.refs); err == nil && left < 0 {
				err = s.damaged(secTables, 4*uint64(place-1), "a separate table for each scope")
			}
			for j := uint32(0); err == nil && j < t.n; j++ {
				err = s.inTable(&t, j, yield)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Snapshot) inTable(t *tableView, i uint32, yield func(b Bound) error) error {
	if t.key(i) >= s.hash.n {
		return s.broken(secTables, "valid key numbers")
	}
	return yield(Bound{Key: t.key(i), Ref: Ref(load32(t.refs[4*uint64(i):]))})
}

// eachHidden calls yield for each binding that is always hidden, key by key. An error of yield ends it.
func (s *Snapshot) eachHidden(yield func(key uint32, b *coldBinding) error) error {
	end := uint64(0)
	for block := range s.coldBlocks() {
		if s.coldLevel(block) != coldKeys {
			continue
		}
		packed, _, err := s.coldFrame(block)
		off, failed := load64(s.coldEntry(block)), error(nil)
		if err == nil && off < end { // blocks overlap, see AllBindings
			err = s.badBlock(block, "a block after the previous one")
		}
		end = off + uint64(len(packed))
		if err == nil {
			err = s.eachKey(block, func(key uint32, b *coldBinding) {
				if failed == nil && b != nil && b.kind == coldHidden {
					failed = yield(key, b)
				}
			})
		}
		if err = cmp.Or(failed, err); err != nil {
			return err
		}
	}
	return nil
}

// Depths returns, for each key number, an upper bound for the number of candidates that the key can have in one
// request. The error is a *DamageError.
func (s *Snapshot) Depths() ([]int, error) {
	out := make([]int, s.hash.n)
	for n := range s.hash.n {
		if Ref(at32(s.keys, keyRecord*uint64(n)+recDefault)) != noRef {
			out[n]++
		}
		for i := range s.levels {
			l := &s.levels[i]
			mask, err := s.maskWord(n, l.first/64)
			if err != nil {
				return nil, err
			}
			if mask&l.bits() != 0 { // a request is in at most one scope of a level
				out[n]++
			}
		}
	}
	var depth hiddenDepth
	err := s.eachHidden(func(key uint32, b *coldBinding) error {
		if key != depth.key {
			depth = hiddenDepth{key: key}
		}
		out[key] += depth.add(b)
		return nil
	})
	return out, err
}

// hiddenDepth counts how many hidden bindings of a key can apply to one request. Of several conditions on the same
// dimensions, only one can hold. Then all bindings with this condition apply.
type hiddenDepth struct {
	key   uint32
	under map[string]int // number of bindings, by condition
	most  map[string]int // largest number of bindings with one condition, by the dimensions of the condition
}

// add counts b. It returns the number by which the depth grows, 0 or 1.
func (h *hiddenDepth) add(b *coldBinding) int {
	if h.under == nil {
		h.under, h.most = map[string]int{}, map[string]int{}
	}
	le := binary.LittleEndian
	dimensions := le.AppendUint32(le.AppendUint32(nil, b.layer), b.above)
	var condition []byte
	for _, t := range b.terms {
		dimensions, condition = le.AppendUint32(dimensions, t.dimension), le.AppendUint32(condition, t.value)
	}
	over := string(dimensions)
	under := over + string(condition)
	if h.under[under]++; h.under[under] <= h.most[over] {
		return 0
	}
	h.most[over]++
	return 1
}
