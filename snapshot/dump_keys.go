package snapshot

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"bindc/internal/value"
)

func (d *dumper) pilots() {
	d.perfect(&d.hash)
	for n := range d.hash.n {
		d.row(1, "fingerprint of key %d", n)
	}
}

func (d *dumper) perfect(p *perfect) {
	d.row((2*uint64(p.buckets)+3)&^3, "pilots of %d buckets", p.buckets)
	d.row(4*uint64(p.slots-p.n), "remap of %d slots", p.slots-p.n)
}

// A cell is data in section keys that a record or a table refers to.
type cell struct {
	at      uint64 // offset in section keys
	bytes   uint64
	meaning string
}

// records writes the key records, and each cell at its position within or after the records.
func (d *dumper) records() {
	cells := d.cells()
	for n := range d.hash.n {
		r := d.next(keyRecord)
		d.row(recDefault-recMask, "key %d: mask, columns%s", n, bitList(r[:recDefault]))
		d.row(recList-recDefault, "  default: %s", d.ref(load32(r[recDefault:])))
		d.row(recLength-recList, "  list %s", d.list(n))
		d.row(recText-recLength, "  length %d", r[recLength])
		if r[recLength] == longKey {
			d.row(recLongLen-recText, "  padding")
			d.row(recLongCell-recLongLen, "  long length %d", load32(r[recLongLen:]))
			d.row(recLongTail-recLongCell, "  long cell %08x", d.start+cellUnit*uint64(load32(r[recLongCell:])))
		} else if length := uint64(r[recLength]); length > 0 {
			d.row(min(length, maxInlineKey), "  text %q", d.key(n))
		}
		cells = d.cellsUntil(cells, keyRecord*(uint64(n)+1))
	}
	d.cellsUntil(cells, d.end-d.start)
}

func (d *dumper) cellsUntil(cells []cell, end uint64) []cell {
	for len(cells) > 0 && cells[0].at < end {
		d.seek(cells[0].at)
		d.row(cells[0].bytes, "  %s", cells[0].meaning)
		cells = cells[1:]
	}
	d.seek(end)
	return cells
}

func (d *dumper) list(n uint32) string {
	out := "none"
	if at := d.Snapshot.list(n); at != 0 {
		out = fmt.Sprintf("at %08x", d.start+at)
	}
	if d.hidden(n) {
		out += ", with hidden candidates"
	}
	return out
}

// cells returns all cells that records and tables refer to, sorted and without duplicates.
func (d *dumper) cells() []cell {
	var out []cell
	seen := map[uint32]bool{}
	add := func(ref uint32) {
		if ref&refKind != refCell || seen[ref] {
			return
		}
		seen[ref] = true
		if v, size, ok := d.small(Ref(ref)); ok {
			out = append(out, cell{cellUnit * uint64(ref), size, fmt.Sprintf("%s %s", v.Kind(), shorten(v))})
		}
	}
	for n := range d.hash.n {
		out = append(out, d.cellsOf(n, add)...)
	}
	for at := uint64(0); at < uint64(len(d.tables)); {
		t, err := d.table(uint32(at / 4))
		if err != nil {
			break
		}
		for i := range t.n {
			add(load32(t.refs[4*uint64(i):]))
		}
		at += 4 + uint64(len(t.keys)+len(t.refs))
	}
	slices.SortStableFunc(out, func(a, b cell) int { return cmp.Compare(a.at, b.at) })
	return slices.CompactFunc(out, func(a, b cell) bool { return a.at == b.at })
}

// cellsOf returns the cells of key number n: its text, its exact mask and its list. It calls add with every value
// reference.
func (d *dumper) cellsOf(n uint32, add func(ref uint32)) (out []cell) {
	r := d.keys[keyRecord*uint64(n):][:keyRecord]
	add(load32(r[recDefault:]))
	if name, ok := d.longKey(r); ok {
		at := cellUnit * uint64(load32(r[recLongCell:]))
		out = append(out, cell{at, uint64(len(name)), fmt.Sprintf("text of key %d: %q", n, cut(name))})
	}
	list := d.Snapshot.list(n)
	left := d.keys[min(list, uint64(len(d.keys))):]
	if size := 8 * d.words; d.words > 1 {
		if size <= len(left) {
			out = append(out, cell{list, uint64(size), "exact mask: columns" + bitList(left[:size])})
		}
		return out
	}
	for m := load64(r[recMask:]) & d.narrow; m != 0 && len(left) >= 4; m &= m - 1 {
		ref := load32(left)
		add(ref)
		out = append(out, cell{list, 4, fmt.Sprintf("in column %d: %s", bits.TrailingZeros64(m), d.ref(ref))})
		list, left = list+4, left[4:]
	}
	return out
}

func (d *dumper) key(n uint32) string {
	if n >= d.hash.n {
		return "no such key"
	}
	name, _ := d.keyName(n)
	return cut(name)
}

// bitList lists the numbers of the set bits in 64-bit words.
func bitList(words string) string {
	var out strings.Builder
	for w := 0; w+8 <= len(words); w += 8 {
		for m := load64(words[w:]); m != 0; m &= m - 1 {
			fmt.Fprintf(&out, " %d", 8*w+bits.TrailingZeros64(m))
		}
	}
	return cmp.Or(out.String(), " none")
}

func (d *dumper) ref(ref uint32) string {
	n := uint64(ref &^ refKind)
	switch {
	case ref == noRef:
		return "no value"
	case ref&refKind == refRecipe:
		return fmt.Sprintf("recipe %d", n)
	}
	switch ref & refKind {
	case refInline:
		return "inline " + shorten(value.FromInline(uint32(n)))
	case refBlock:
		return fmt.Sprintf("block value %d", n)
	}
	text := "damaged"
	if v, _, ok := d.small(Ref(ref)); ok {
		text = shorten(v)
	}
	return fmt.Sprintf("cell %08x: %s", d.fileOffset(secKeys)+cellUnit*n, text)
}

// maxText is the maximum number of bytes that are shown of a value.
const maxText = 80

// small returns the value in a cell, and its size. It reads at most blockFrom bytes, because cells contain only
// smaller values and a forged file may refer to a large one many times.
func (d *dumper) small(ref Ref) (v value.Value, size uint64, ok bool) {
	text, err := d.Encoded(ref)
	if err != nil {
		return v, 0, false
	}
	text = text[:min(len(text), blockFrom)]
	v, rest, err := value.View(text)
	return v, uint64(len(text) - len(rest)), err == nil
}

func shorten(v value.Value) string {
	return cut(string(value.AppendJSON(nil, v)))
}

func cut(text string) string {
	if len(text) > maxText {
		return strings.ToValidUTF8(text[:maxText], "") + ".."
	}
	return text
}
