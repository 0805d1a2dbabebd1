package snapshot

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"

	"bindc/internal/value"
)

// Dump writes every record of the file in order: its offset in the file, its bytes in hex, the first of them where they
// are many, and what they mean in the words of format.md. recipe and program say what an encoded recipe and an encoded
// expression are. Of a damaged section it shows what comes before the damage. The error is that of out.
func (s *Snapshot) Dump(out io.Writer, recipe, program func(encoded string) string) error {
	d := &dumper{Snapshot: s, out: bufio.NewWriter(out), recipe: recipe, program: program, scopes: map[uint32]string{}}
	d.end = headerSize
	d.header()
	for i, walk := range [sectionCount]func(){
		secMeta: d.meta, secPilots: d.pilots, secKeys: d.keys, secKeyText: d.keyText, secLevels: d.levels, secDicts: d.dicts,
		secMasks: d.masks, secTables: d.tables, secHeap: d.heap, secBlockTab: d.blockTab, secBlocks: d.blocks,
		secRecipeTab: d.recipeTab, secRecipes: d.recipes, secInputs: d.inputs,
	} {
		d.section(section(i), walk)
	}
	return d.out.Flush()
}

// dumper writes the rows of one section after the other. Where a section does not hold what it should, failed is set and
// no further row of it is written.
type dumper struct {
	*Snapshot
	out             *bufio.Writer
	recipe, program func(string) string
	scopes          map[uint32]string // what the table at an offset/4 holds

	start, at, end uint64 // of the section: where it begins, what is next, and where it ends, in the file
	failed         bool
}

func (d *dumper) section(sec section, walk func()) {
	d.start = d.fileOffset(sec)
	d.at, d.end, d.failed = d.start, d.start+uint64(len(d.sections[sec])), false
	fmt.Fprintf(d.out, "\nsection %s, %d bytes\n", sec, d.end-d.start)
	walk()
	if d.failed {
		fmt.Fprintf(d.out, "%08x  damaged\n", d.at)
		return
	}
	d.seek(d.end - d.start)
}

func (d *dumper) fileOffset(sec section) uint64 {
	return load64(d.data[offSectionTab+sectionEntry*int(sec):]) // checked by Open
}

// shownBytes is how many bytes of a record are shown where not all are.
const shownBytes = 15

// row writes the next n bytes with their meaning.
func (d *dumper) row(n uint64, format string, args ...any) {
	if d.failed = d.failed || n > d.end-d.at; d.failed {
		return
	}
	hex := fmt.Sprintf("% x", d.data[d.at:d.at+min(n, shownBytes+1)])
	if n > shownBytes+1 {
		hex = hex[:3*shownBytes] + ".."
	}
	fmt.Fprintf(d.out, "%08x  %-47s  %s\n", d.at, hex, fmt.Sprintf(format, args...))
	d.at += n
}

// next is the next n bytes, before a row says what they mean; zeros where they are not there. n is at most 64.
func (d *dumper) next(n uint64) string {
	if d.failed = d.failed || n > d.end-d.at; d.failed {
		return strings.Repeat("\x00", int(n))
	}
	return d.data[d.at : d.at+n]
}

// read writes a row for what take takes off the section.
func (d *dumper) read(take func(r *reader) string) {
	r := reader{b: d.data[d.at:d.end]}
	meaning := take(&r)
	d.failed = d.failed || r.failed
	d.row(d.end-d.at-uint64(len(r.b)), "%s", meaning)
}

func (d *dumper) number(name string) (n uint64) {
	d.read(func(r *reader) string {
		n = r.number()
		return fmt.Sprintf("%s %d", name, n)
	})
	return n
}

// seek goes on at an offset of the section. Records stand in order: going back is damage.
func (d *dumper) seek(off uint64) {
	at := d.start + off
	if d.failed = d.failed || at < d.at || at > d.end; d.failed || at == d.at {
		return
	}
	meaning := "padding"
	if strings.Trim(d.data[d.at:at], "\x00") != "" {
		meaning = "not referred to"
	}
	d.row(at-d.at, "%s", meaning)
}

func (d *dumper) header() {
	fmt.Fprintf(d.out, "header, %d bytes\n", headerSize)
	d.row(offVersion, "magic")
	for _, f := range []struct {
		name      string
		from, end int
	}{
		{"version", offVersion, offSections}, {"sections", offSections, offSize}, {"size", offSize, offSeed}, {"seed", offSeed, offDigest},
	} {
		d.field(f.name, f.end-f.from)
	}
	d.row(offKeys-offDigest, "digest %s", d.digest)
	d.field("keys", offLevels-offKeys)
	d.field("levels", offBlockVals-offLevels)
	d.field("block values", offRecipes-offBlockVals)
	d.field("recipes", offBindings-offRecipes)
	d.field("bindings", offSectionTab-offBindings)
	for i := range d.sections {
		e := d.next(sectionEntry)
		d.row(sectionEntry, "section %s: offset %08x, length %d, checksum %016x", section(i), load64(e), load64(e[8:]), load64(e[16:]))
	}
	d.row(offHeaderSum-d.at, "reserved")
	d.row(headerSize-offHeaderSum, "header checksum")
}

// field is a number of four or eight bytes.
func (d *dumper) field(name string, width int) {
	n := d.next(uint64(width))
	if width == 4 {
		d.row(4, "%s %d", name, load32(n))
		return
	}
	d.row(8, "%s %d", name, load64(n))
}

func (d *dumper) meta() {
	d.read(func(r *reader) string { return fmt.Sprintf("flags %#x", r.byte()) })
	for n := d.number("layers"); n > 0 && !d.failed; n-- {
		d.read(func(r *reader) string { return fmt.Sprintf("layer %q", r.text()) })
	}
	dimensions := d.number("dimensions")
	for n := range dimensions {
		if d.failed {
			return
		}
		d.read(func(r *reader) string { return fmt.Sprintf("dimension %d: name %q", n, r.text()) })
		d.number("  category")
		d.read(func(r *reader) string { return fmt.Sprintf("  guard %d", r.byte()) })
		d.read(func(r *reader) string { return "  program " + d.program(r.text()) })
	}
}

func (d *dumper) pilots() { d.perfect() }

func (d *dumper) perfect() {
	p, _, ok := viewPerfect(d.data[d.at:d.end])
	if d.failed = d.failed || !ok; d.failed {
		return
	}
	d.field("n", 4)
	d.field("buckets", 4)
	d.field("slots", 4)
	d.row(uint64(len(p.pilots)+3)&^3, "pilots of %d buckets", p.buckets)
	d.row(uint64(len(p.remap)), "remap of %d slots", p.slots-p.n)
}

func (d *dumper) keys() {
	levels := "levels"
	if d.words > 1 {
		levels = "levels modulo 64"
	}
	for n := range d.keyCount {
		r := d.next(keyRecord)
		d.row(recDefault-recMask, "key %d: mask, %s%s", n, levels, bitList(r[:recDefault]))
		d.row(recMasks-recDefault, "  default: %s", d.ref(load32(r[recDefault:])))
		d.row(recLength-recMasks, "  masks %d", load32(r[recMasks:]))
		d.row(recText-recLength, "  length %d", r[recLength])
		if r[recLength] == longKey {
			d.row(recLongLen-recText, "  padding")
			d.row(recLongOff-recLongLen, "  long length %d", load32(r[recLongLen:]))
			d.row(8, "  long offset: %08x", d.fileOffset(secKeyText)+load64(r[recLongOff:]))
			d.row(keyRecord-recLongOff-8, "  padding")
			continue
		}
		d.row(keyRecord-recText, "  text %q", d.key(n))
	}
}

// key is the name of key n.
func (d *dumper) key(n uint32) string {
	if n >= d.keyCount {
		return "no such key"
	}
	name, _ := d.keyName(n)
	return name
}

// bitList is the numbers of the bits that are set in words of 64.
func bitList(words string) string {
	var out strings.Builder
	for w := 0; w+8 <= len(words); w += 8 {
		for m := load64(words[w:]); m != 0; m &= m - 1 {
			fmt.Fprintf(&out, " %d", 8*w+bits.TrailingZeros64(m))
		}
	}
	return cmp.Or(out.String(), " none")
}

// ref is what a value reference refers to.
func (d *dumper) ref(ref uint32) string {
	n := uint64(ref &^ refKind)
	switch {
	case ref == noRef:
		return "no value"
	case ref&refKind == refRecipe:
		return fmt.Sprintf("recipe %d", n)
	}
	text := "damaged"
	if v, err := d.Value(Ref(ref)); err == nil {
		text = shorten(v)
	}
	switch ref & refKind {
	case refHeap:
		return fmt.Sprintf("heap at %08x: %s", d.fileOffset(secHeap)+4*n, text)
	case refInline:
		return "inline " + text
	}
	return fmt.Sprintf("block value %d: %s", n, text)
}

// maxText is how many bytes of a value's text are shown.
const maxText = 80

func shorten(v value.Value) string {
	text := string(value.AppendJSON(nil, v))
	if len(text) > maxText {
		return strings.ToValidUTF8(text[:maxText], "") + ".."
	}
	return text
}

func (d *dumper) keyText() {
	var long []uint32
	for n := range d.keyCount {
		if d.sections[secKeys][keyRecord*uint64(n)+recLength] == longKey {
			long = append(long, n)
		}
	}
	place := func(n uint32) uint64 { return load64(d.sections[secKeys][keyRecord*uint64(n)+recLongOff:]) }
	slices.SortFunc(long, func(a, b uint32) int { return cmp.Compare(place(a), place(b)) })
	for _, n := range long {
		d.seek(place(n))
		d.row(uint64(len(d.key(n))), "text of key %d: %q", n, d.key(n))
	}
}

func (d *dumper) levels() {
	for i, l := range d.Snapshot.levels {
		r := d.next(levelRecord)
		if len(l.dims) == 0 {
			d.row(levelRecord, "level %d: layer %d, dims 0, %s", i, l.layer, d.table(l.fixed))
			d.scopes[l.fixed] = fmt.Sprintf("level %d", i)
			continue
		}
		d.row(levelRecord, "level %d: layer %d, dims %d, first %08x, directory %08x, slots %d", i, l.layer, len(l.dims)/4,
			d.start+4*uint64(load32(r[4:])), d.start+4*uint64(load32(r[8:])), l.slots)
	}
	for i, l := range d.Snapshot.levels {
		if r := d.sections[secLevels][levelRecord*i:]; len(l.dims) > 0 {
			d.seek(4 * uint64(load32(r[4:])))
			for at := 0; at < len(l.dims); at += 4 {
				d.row(4, "level %d: dimension %s", i, d.dimensions[load32(l.dims[at:])].Name)
			}
			d.seek(4 * uint64(load32(r[8:])))
			d.directory(i, l)
		}
	}
}

func (d *dumper) directory(level int, l levelView) {
	width := len(l.dims) + 4
	for slot := range int(l.slots) {
		if d.failed {
			return
		}
		cell := l.directory[width*slot:][:width]
		table := load32(cell[width-4:])
		if table == 0 {
			d.row(uint64(width), "  slot %d: free", slot)
			continue
		}
		scope := fmt.Sprintf("level %d", level)
		for at := 0; at < len(l.dims); at += 4 {
			dim := load32(l.dims[at:])
			scope += fmt.Sprintf(", %s %q", d.dimensions[dim].Name, d.dictValue(dim, load32(cell[at:])))
		}
		d.scopes[table-1] = scope
		d.row(uint64(width), "  slot %d: %s, %s", slot, scope, d.table(table-1))
	}
}

func (d *dumper) table(n uint32) string {
	if n == noRef {
		return "no scope"
	}
	return fmt.Sprintf("table %08x", d.fileOffset(secTables)+4*uint64(n))
}

// dictValue is value n of a dimension.
func (d *dumper) dictValue(dim, n uint32) string {
	dict := &d.Snapshot.dicts[dim]
	if n >= dict.hash.n {
		return "no such value"
	}
	from, to := uint64(load32(dict.offsets[4*n:])), uint64(load32(dict.offsets[4*n+4:]))
	if from > to || to > uint64(len(dict.text)) {
		return "damaged"
	}
	return dict.text[from:to]
}

func (d *dumper) dicts() {
	for _, dim := range d.dimensions {
		d.row(4, "dictionary of %s at %08x", dim.Name, d.start+4*uint64(load32(d.next(4))))
	}
	for i, dict := range d.Snapshot.dicts {
		d.seek(4 * uint64(load32(d.sections[secDicts][4*i:])))
		d.perfect()
		d.row(uint64(len(dict.offsets)), "offsets of %d values of %s", dict.hash.n, d.dimensions[i].Name)
		for n := range dict.hash.n {
			if d.failed {
				return
			}
			text := d.dictValue(uint32(i), n)
			d.row(uint64(len(text)), "  value %d: %q", n, text)
		}
	}
}

func (d *dumper) masks() {
	width := 8 * uint64(d.words)
	for m := 0; d.at < d.end && !d.failed; m++ {
		text := ""
		if width <= d.end-d.at {
			text = bitList(d.data[d.at : d.at+width])
		}
		d.row(width, "mask %d: levels%s", m, text)
	}
}

func (d *dumper) tables() {
	for d.at < d.end && !d.failed {
		scope := d.scopes[uint32((d.at-d.start)/4)]
		n := uint64(load32(d.next(4)))
		d.row(4, "%s: %d entries", cmp.Or(scope, "of no scope"), n)
		if d.failed = d.failed || 8*n > d.end-d.at; d.failed {
			return
		}
		numbers := d.data[d.at : d.at+4*n]
		for i := range n {
			d.row(4, "  key %d %q", load32(numbers[4*i:]), d.key(load32(numbers[4*i:])))
		}
		for i := range n {
			d.row(4, "  of %q: %s", d.key(load32(numbers[4*i:])), d.ref(load32(d.next(4))))
		}
	}
}

func (d *dumper) heap() {
	for d.at < d.end && !d.failed {
		v, rest, err := value.View(d.data[d.at:d.end])
		if d.failed = err != nil; d.failed {
			return
		}
		d.row(d.end-d.at-uint64(len(rest)), "%s %s", v.Kind(), shorten(v))
		d.seek(min((d.at-d.start+3)&^3, d.end-d.start))
	}
}

func (d *dumper) blockTab() {
	blocks := load32(d.next(4))
	d.row(4, "%d blocks", blocks)
	for n := uint32(0); n < blocks && !d.failed; n++ {
		e := d.next(blockEntry)
		d.row(blockEntry, "block %d: offset %08x, packed %d, length %d", n, d.fileOffset(secBlocks)+load64(e), load32(e[8:]), load32(e[12:]))
	}
	for n := uint32(0); n < d.blockValues && !d.failed; n++ {
		e := d.next(blockValueEntry)
		d.row(blockValueEntry, "value %d: block %d, offset %d: %s", n, load32(e), load32(e[4:]), d.ref(refBlock|n))
	}
}

func (d *dumper) blocks() {
	tab := reader{b: d.sections[secBlockTab]}
	blocks := tab.u32()
	for n := uint32(0); n < blocks && !d.failed; n++ {
		off, packed, length := tab.u64(), tab.u32(), tab.u32()
		d.failed = tab.failed
		d.seek(off)
		d.row(uint64(packed), "block %d: a zstd frame of %d bytes", n, length)
	}
}

func (r *reader) u32() uint32 {
	if len(r.b) < 4 {
		r.failed = true
		return 0
	}
	n := load32(r.b)
	r.b = r.b[4:]
	return n
}

func (d *dumper) recipeTab() {
	for n := range d.recipeCount {
		d.row(8, "recipe %d at %08x", n, d.fileOffset(secRecipes)+load64(d.next(8)))
	}
	d.row(8, "end at %08x", d.fileOffset(secRecipes)+load64(d.next(8)))
}

func (d *dumper) recipes() {
	for n := range d.Recipes() {
		encoded, err := d.Recipe(n)
		if d.failed = d.failed || err != nil; d.failed {
			return
		}
		d.seek(load64(d.sections[secRecipeTab][8*n:]))
		d.row(uint64(len(encoded)), "recipe %d: %s", n, d.recipe(encoded))
	}
}

func (d *dumper) inputs() {
	files, err := d.Inputs()
	if d.failed = err != nil; d.failed {
		return
	}
	d.row(d.end-d.at, "a zstd frame, of %d files:", len(files))
	for _, f := range files {
		fmt.Fprintf(d.out, "%57s  path %q, size %d, hash %016x\n", "", f.Path, f.Size, f.Hash)
	}
}
