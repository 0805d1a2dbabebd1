package snapshot

import (
	"encoding/binary"

	"bindc/internal/value"
)

// keys writes the key records in the order of key numbers, and the data that they refer to in the same order.
func (w *writer) keys() {
	w.records = make([]byte, keyRecord*len(w.c.Keys), keyRecord*len(w.c.Keys)+w.cellBytes())
	w.cells = w.records[len(w.records):]
	exact := map[string]uint32{}
	for n, i := range w.byNumber() {
		r := recordWriter{writer: w, bytes: w.records[keyRecord*n:][:keyRecord],
			first: uint32(keyRecord / cellUnit * n)}
		r.text(w.c.Keys[i].Name)
		mask, folded := w.masks[w.words*n:][:w.words], uint64(0)
		for _, word := range mask {
			folded |= word
		}
		le := binary.LittleEndian
		le.PutUint64(r.bytes[recMask:], folded)
		list := uint32(0)
		if w.words > 1 {
			list = cellUnit * w.exactMask(mask, exact)
		} else if len(w.lists[n]) > 0 {
			list = cellUnit * r.list(w.lists[n])
		}
		if w.c.Keys[i].hidden() {
			list |= listHidden
		}
		le.PutUint32(r.bytes[recList:], list)
		le.PutUint32(r.bytes[recDefault:], r.defaultRef(w.c.Keys[i].Default))
	}
}

// cellBytes estimates the size of all cells, to allocate them at once.
func (w *writer) cellBytes() int {
	out := sectionAlign
	for i := range w.c.Values {
		if v := &w.c.Values[i]; !v.Computed && len(v.Bytes) < blockFrom {
			out += (len(v.Bytes) + cellUnit - 1) &^ (cellUnit - 1)
		}
	}
	return out
}

// byNumber returns the indices of the keys in the order of their numbers.
func (w *writer) byNumber() []int {
	order := make([]int, len(w.c.Keys))
	for i, n := range w.numbers {
		order[n] = i
	}
	return order
}

type recordWriter struct {
	*writer
	bytes []byte
	first uint32 // number of the cell at which the record begins
	tail  int    // where the free space in the record begins
}

// store puts b into the free space of the record if it fits, and otherwise after the records. It returns the cell of
// b. If store is called again for the same record, the previous b must have an even length, as lists do.
func (r *recordWriter) store(b []byte) uint32 {
	if r.tail+len(b) > keyRecord {
		return r.cell(string(b))
	}
	at := r.tail
	r.tail += copy(r.bytes[at:], b)
	return r.first + uint32(at/cellUnit)
}

func (r *recordWriter) text(name string) {
	if len(name) <= maxInlineKey {
		r.bytes[recLength] = byte(len(name))
		r.tail = (recText + copy(r.bytes[recText:], name) + cellUnit - 1) &^ (cellUnit - 1)
		return
	}
	r.bytes[recLength] = longKey
	binary.LittleEndian.PutUint32(r.bytes[recLongLen:], uint32(len(name)))
	binary.LittleEndian.PutUint32(r.bytes[recLongCell:], r.cell(name))
	r.tail = recLongTail
}

// list stores the references of a key's values in narrow columns, and returns their cell.
func (r *recordWriter) list(values []uint32) uint32 {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, r.ref(v))
	}
	return r.store(b)
}

// defaultRef returns the reference of the unconditional value. If there is room, it copies the value into the record,
// so that a lookup touches nothing else.
func (r *recordWriter) defaultRef(v int) uint32 {
	if v < 0 {
		return noRef
	}
	stored := r.c.Values[v]
	if stored.Computed || r.tail+len(stored.Bytes) > keyRecord {
		return r.ref(uint32(v))
	}
	if ref, ok := inlineRef(stored.Bytes); ok {
		return ref
	}
	return refCell | r.store([]byte(stored.Bytes))
}

// cell stores b after the records, at a multiple of cellUnit, and returns its cell.
func (w *writer) cell(b string) uint32 {
	at := len(w.records) + len(w.cells)
	w.cells = pad(append(w.cells, b...), cellUnit)
	return uint32(at / cellUnit)
}

// exactMask returns the cell of a mask of several words. Equal masks are stored once.
func (w *writer) exactMask(words []uint64, seen map[string]uint32) uint32 {
	var b []byte
	for _, word := range words {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	at, ok := seen[string(b)]
	if !ok {
		at = w.cell(string(b))
		seen[string(b)] = at
	}
	return at
}

// ref returns the reference of value v. Its first call for v stores the value in the section for its kind and size.
func (w *writer) ref(v uint32) uint32 {
	if w.refs[v] == noRef {
		w.refs[v] = w.encode(w.c.Values[v])
	}
	return w.refs[v]
}

func (w *writer) encode(v Stored) uint32 {
	switch {
	case v.Computed:
		w.out[secRecipeTab] = binary.LittleEndian.AppendUint64(w.out[secRecipeTab], uint64(len(w.out[secRecipes])))
		w.out[secRecipes] = append(w.out[secRecipes], v.Bytes...)
		w.recipes++
		return refRecipe | uint32(w.recipes-1)
	case len(v.Bytes) >= blockFrom:
		return refBlock | uint32(w.blocks.add(v.Bytes))
	}
	if ref, ok := inlineRef(v.Bytes); ok {
		return ref
	}
	return refCell | w.cell(v.Bytes)
}

func (w *writer) finishValues() {
	w.out[secKeys] = append(w.records, w.cells...)
	w.out[secBlockTab], w.out[secBlocks] = w.blocks.finish()
	w.out[secRecipeTab] = binary.LittleEndian.AppendUint64(w.out[secRecipeTab], uint64(len(w.out[secRecipes])))
}

// maxInlineBytes is the length of the longest encoded value that a reference can contain: a tag and an integer of less
// than 32 bits.
const maxInlineBytes = 1 + binary.MaxVarintLen32

// inlineRef returns a reference that contains the value itself. It returns false if the value is too large for that.
func inlineRef(encoded string) (uint32, bool) {
	if len(encoded) > maxInlineBytes {
		return 0, false // the usual case, found without decoding
	}
	v, _, err := value.View(encoded)
	if err != nil {
		return 0, false
	}
	switch v.Kind() {
	case value.Undef:
		return refInline | inlineSpecial, true
	case value.Bool:
		n := uint32(1)
		if v.Bool() {
			n = 2
		}
		return refInline | n<<2 | inlineSpecial, true
	case value.Default:
		return refInline | 3<<2 | inlineSpecial, true
	case value.Int:
		if n := v.Int(); n >= inlineMin && n <= inlineMax {
			return refInline | uint32(n)<<2&^refKind | inlineInt, true
		}
	}
	return 0, false
}
