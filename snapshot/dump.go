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
func (s *Snapshot) Dump(out io.Writer, recipe RecipeText, program func(encoded string) string) error {
	d := &dumper{Snapshot: s, out: bufio.NewWriter(out), recipe: recipe, program: program, tableOf: map[uint32]string{}}
	d.end = headerSize
	d.header()
	for i, walk := range []func(){
		secMeta: d.meta, secPilots: d.pilots, secKeys: d.records, secDicts: d.dictionaries, secScopes: d.directories,
		secTables: d.scopeTables, secBlockTab: d.blockTab, secBlocks: d.blocks, secRecipeTab: d.recipeTab,
		secRecipes: d.recipes, secInputs: d.inputs, secOriginTab: d.originTab, secOrigins: d.origins,
		secSeal: d.seal,
	}[:d.sectionCount()] {
		d.section(section(i), walk)
	}
	return d.out.Flush()
}

// RecipeText says in one line what an encoded recipe is. Of a secret one Dump shows no bytes but kind and flags.
type RecipeText func(encoded string) (meaning string, secret bool)

// recipeHead is the kind of a recipe, and its flags.
const recipeHead = 2

// dumper writes the rows of one section after the other. Where a section does not hold what it should, failed is set
// and no further row of it is written.
type dumper struct {
	*Snapshot
	out     *bufio.Writer
	recipe  RecipeText
	program func(string) string
	tableOf map[uint32]string // the scope that the table at an offset/4 is of

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
	shown := uint64(shownBytes)
	if n == shownBytes+1 {
		shown = n
	}
	d.rowOf(n, shown, format, args...)
}

// rowOf is row with no more than so many of the bytes.
func (d *dumper) rowOf(n, shown uint64, format string, args ...any) {
	if d.failed = d.failed || n > d.end-d.at; d.failed {
		return
	}
	hex := fmt.Sprintf("% x", d.data[d.at:d.at+min(n, shown)])
	if n > shown {
		hex += " .."
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

func (d *dumper) uvarint(name string) (n uint64) {
	d.read(func(r *reader) string {
		n = r.uvarint()
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
		{"version", offVersion, offSections}, {"sections", offSections, offSize},
		{"size", offSize, offSeed}, {"seed", offSeed, offDigest},
	} {
		d.field(f.name, f.end-f.from)
	}
	d.row(offKeys-offDigest, "digest %s", d.digest)
	d.field("keys", offLevels-offKeys)
	d.field("levels", offBlockVals-offLevels)
	d.field("block values", offRecipes-offBlockVals)
	d.field("recipes", offBindings-offRecipes)
	d.field("bindings", offFeatures-offBindings)
	d.field("features", offSectionTab-offFeatures)
	for i := range d.sectionCount() {
		e := d.next(sectionEntry)
		d.row(sectionEntry, "section %s: offset %08x, length %d, checksum %016x",
			section(i), load64(e), load64(e[8:]), load64(e[16:]))
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
	d.flags("flags", "strict")
	for n := d.uvarint("layers"); n > 0 && !d.failed; n-- {
		d.read(func(r *reader) string { return fmt.Sprintf("layer %q", r.text()) })
	}
	for n := d.uvarint("dimensions"); n > 0 && !d.failed; n-- {
		d.dimension(uint64(len(d.dimensions)) - n)
	}
	d.uvarint("buckets of the keys")
	d.uvarint("slots of the keys")
	for i := range d.levels {
		d.level(i)
	}
	if len(d.slice) > 0 {
		d.uvarint("slice: terms")
		for range d.slice {
			d.read(func(r *reader) string { return fmt.Sprintf("  %s is %q", d.dimensionName(r.u32()), r.text()) })
		}
	}
	for i, place := range d.hiera {
		d.row(1, "layer %d: of Hiera 5, %s", i, inHiera(place))
		d.uvarint("  entry")
	}
}

// inHiera is where a layer stands in the hierarchies, but for the number of its entry.
func inHiera(p HieraPlace) string {
	out := [...]string{"no part", "the global one", "the environment", "a module", "a default_hierarchy"}[p.Part]
	if p.OnlyPath {
		out += ", its only path"
	}
	if p.OnlyEntry {
		out += ", its only entry"
	}
	return out
}

func (d *dumper) dimension(n uint64) {
	d.read(func(r *reader) string { return fmt.Sprintf("dimension %d: name %q", n, r.text()) })
	d.uvarint("  category")
	d.flags("  flags", "guard", "exact")
	d.read(func(r *reader) string { return "  program " + d.program(r.text()) })
	d.place("  dictionary", secDicts)
	d.uvarint("  values")
	d.uvarint("  buckets")
	d.uvarint("  slots")
}

func (d *dumper) level(i int) {
	l := &d.levels[i]
	d.uvarint(fmt.Sprintf("level %d: layer", i))
	d.uvarint("  entry")
	d.uvarint("  dims")
	for range l.dims {
		d.read(func(r *reader) string { return "  dimension " + d.dimensionName(r.u32()) })
	}
	d.flags("  flags", "narrow", "direct")
	d.read(func(r *reader) string { return fmt.Sprintf("  columns %d, from %d on", r.u32(), l.first) })
	d.place("  directory", secScopes)
	d.uvarint("  slots")
}

func (d *dumper) dimensionName(n uint32) string {
	if n >= uint32(len(d.dimensions)) {
		return "of no such number"
	}
	return cut(d.dimensions[n].Name)
}

// flags is a byte of flags, whose names are those of its bits.
func (d *dumper) flags(name string, bits ...string) {
	d.read(func(r *reader) string {
		b, out := r.byte(), ""
		for i, bit := range bits {
			if b>>i&1 != 0 {
				out += " " + bit
			}
		}
		return fmt.Sprintf("%s %#x:%s", name, b, cmp.Or(out, " none"))
	})
}

// place is a uvarint that is an offset/4 in sec.
func (d *dumper) place(name string, sec section) {
	d.read(func(r *reader) string { return fmt.Sprintf("%s at %08x", name, d.fileOffset(sec)+4*uint64(r.u32())) })
}

func (d *dumper) pilots() {
	d.perfect(&d.hash)
	for n := range d.hash.n {
		d.row(1, "print of key %d", n)
	}
}

func (d *dumper) perfect(p *perfect) {
	d.row((2*uint64(p.buckets)+3)&^3, "pilots of %d buckets", p.buckets)
	d.row(4*uint64(p.slots-p.n), "remap of %d slots", p.slots-p.n)
}

// A cell is something in section keys that a record or a table refers to.
type cell struct {
	at      uint64 // in section keys
	bytes   uint64
	meaning string
}

// records writes the key records, and what is in cells, in the records or behind them, where it stands.
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

// cellsUntil writes the cells before the offset end, and returns the others.
func (d *dumper) cellsUntil(cells []cell, end uint64) []cell {
	for len(cells) > 0 && cells[0].at < end {
		d.seek(cells[0].at)
		d.row(cells[0].bytes, "  %s", cells[0].meaning)
		cells = cells[1:]
	}
	d.seek(end)
	return cells
}

// list says where the list or the exact mask of a key is.
func (d *dumper) list(n uint32) string {
	out := "none"
	if at := d.Snapshot.list(n); at != 0 {
		out = fmt.Sprintf("at %08x", d.start+at)
	}
	if d.hidden(n) {
		out += ", candidates are hidden"
	}
	return out
}

// cells is all that records and tables refer to, in order, each once.
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

// cellsOf is the text, the exact mask and the list of a key; add is called with every value reference.
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

// key is the name of key n, or how it begins.
func (d *dumper) key(n uint32) string {
	if n >= d.hash.n {
		return "no such key"
	}
	name, _ := d.keyName(n)
	return cut(name)
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
	switch ref & refKind {
	case refInline:
		return "inline " + shorten(inlineValue(uint32(n)))
	case refBlock:
		return fmt.Sprintf("block value %d", n)
	}
	text := "damaged"
	if v, _, ok := d.small(Ref(ref)); ok {
		text = shorten(v)
	}
	return fmt.Sprintf("cell %08x: %s", d.fileOffset(secKeys)+cellUnit*n, text)
}

// maxText is how many bytes of a value's text are shown.
const maxText = 80

// small is the value in a cell, which is less than blockFrom bytes long, and how long. More is not looked at: a
// forged file may refer to it again and again.
func (d *dumper) small(ref Ref) (v value.Value, size uint64, ok bool) {
	text, err := d.encoded(ref)
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

func (d *dumper) dictionaries() {
	for i := range d.dicts {
		dict := &d.dicts[i]
		d.seek(dict.at)
		fmt.Fprintf(d.out, "%57s  dictionary of %s:\n", "", d.dimensions[i].Name)
		d.perfect(&dict.hash)
		d.row(uint64(len(dict.offsets)), "offsets of %d values", dict.hash.n)
		for n := range dict.hash.n {
			text, ok := dict.value(n)
			d.failed = d.failed || !ok
			d.row(uint64(len(text)), "  value %d: %q", n, cut(text))
		}
	}
}

func (d *dumper) directories() {
	for i := range d.levels {
		l := &d.levels[i]
		d.seek(l.at)
		width := l.slotBytes()
		for slot := range int(l.slots) {
			if d.failed {
				return
			}
			d.slot(i, slot, l.directory[width*slot:][:width])
		}
	}
}

func (d *dumper) slot(level, slot int, bytes string) {
	l := &d.levels[level]
	place := load32(bytes[len(bytes)-4:])
	if place == 0 {
		d.row(uint64(len(bytes)), "level %d, slot %d: free", level, slot)
		return
	}
	scope := fmt.Sprintf("level %d", level)
	for i, dim := range l.dims {
		n := uint32(slot)
		if !l.direct {
			n = load32(bytes[4*i:])
		}
		scope += fmt.Sprintf(", %s %q", d.dimensionName(dim), d.dictValue(dim, n))
	}
	if l.narrow {
		d.row(uint64(len(bytes)), "%s: column %d", scope, uint64(l.first)+uint64(place-1))
		return
	}
	d.tableOf[place-1] = scope
	d.row(uint64(len(bytes)), "%s: table %08x", scope, d.fileOffset(secTables)+4*uint64(place-1))
}

// dictValue is value n of a dimension, or how it begins.
func (d *dumper) dictValue(dim, n uint32) string {
	if n < d.dicts[dim].hash.n {
		if text, ok := d.dicts[dim].value(n); ok {
			return cut(text)
		}
	}
	return "no such value"
}

func (d *dumper) scopeTables() {
	for d.at < d.end && !d.failed {
		at := uint32((d.at - d.start) / 4)
		t, err := d.table(at)
		d.failed = err != nil
		d.row(4, "%s: %d entries", cmp.Or(d.tableOf[at], "of no scope"), t.n)
		width := uint64(4)
		if t.short {
			width = 2
		}
		for i := range t.n {
			d.row(width, "  key %d %q", t.key(i), d.key(t.key(i)))
		}
		d.seek(4*uint64(at) + 4 + uint64(len(t.keys)))
		for i := range t.n {
			d.row(4, "  of %q: %s", d.key(t.key(i)), d.ref(load32(d.next(4))))
		}
	}
}

func (d *dumper) blockTab() {
	blocks := load32(d.next(4))
	d.row(4, "%d blocks", blocks)
	for n := uint32(0); n < blocks && !d.failed; n++ {
		e := d.next(blockEntry)
		d.row(blockEntry, "block %d: offset %08x, packed %d, length %d",
			n, d.fileOffset(secBlocks)+load64(e), load32(e[8:]), load32(e[12:]))
	}
	block, end := uint32(0), uint32(0) // of the value before
	for n := uint32(0); n < d.blockValues && !d.failed; n++ {
		e := d.next(blockValueEntry)
		at, off := load32(e), load32(e[4:])
		if d.failed = at < block || at == block && off < end; d.failed {
			return // nothing is decoded twice
		}
		block, end = at, off
		text := "damaged"
		if encoded, err := d.encoded(Ref(refBlock | n)); err == nil {
			if v, rest, err := value.View(encoded); err == nil {
				text, end = shorten(v), off+uint32(len(encoded)-len(rest))
			}
		}
		d.row(blockValueEntry, "value %d: block %d, offset %d: %s", n, at, off, text)
	}
}

func (d *dumper) blocks() {
	for n := uint32(0); d.at < d.end && !d.failed; n++ {
		packed, off, length, err := d.frame(n)
		d.failed = err != nil
		d.seek(off)
		d.row(uint64(len(packed)), "block %d: a zstd frame of %d bytes", n, length)
	}
}

func (d *dumper) recipeTab() {
	at := func() uint64 { return d.fileOffset(secRecipes) + load64(d.next(8)) }
	for n := range d.recipeCount {
		d.row(8, "recipe %d at %08x", n, at())
	}
	d.row(8, "end at %08x", at())
}

func (d *dumper) recipes() {
	for n := range d.Recipes() {
		encoded, err := d.Recipe(n)
		if d.failed = err != nil; d.failed {
			return
		}
		d.seek(load64(d.sections[secRecipeTab][8*n:]))
		if meaning, secret := d.recipe(encoded); secret {
			d.rowOf(uint64(len(encoded)), recipeHead, "recipe %d: %s", n, meaning)
		} else {
			d.row(uint64(len(encoded)), "recipe %d: %s", n, meaning)
		}
	}
}

func (d *dumper) inputs() {
	files, err := d.Inputs()
	if d.failed = err != nil; d.failed {
		return
	}
	d.row(inputsHead, "length %d", load32(d.next(inputsHead)))
	d.row(d.end-d.at, "a zstd frame, of %d files:", len(files))
	for _, f := range files {
		fmt.Fprintf(d.out, "%57s  path %q, size %d, hash %016x\n", "", f.Path, f.Size, f.Hash)
	}
}

func (d *dumper) seal() { d.row(d.end-d.at, "the key of what is sealed, encrypted") }

func (d *dumper) originTab() {
	for n := 0; d.at < d.end && !d.failed; n++ {
		e := d.next(coldEntry)
		of := fmt.Sprintf("level %d, place %d", load32(e[16:]), load32(e[20:]))
		if load32(e[16:]) == coldKeys {
			of = fmt.Sprintf("keys, number %d", load32(e[20:]))
		}
		d.row(coldEntry, "block %d: offset %08x, packed %d, length %d, from %s",
			n, d.fileOffset(secOrigins)+load64(e), load32(e[8:]), load32(e[12:]), of)
	}
}

func (d *dumper) origins() {
	for n := 0; n < d.coldBlocks() && !d.failed; n++ {
		packed, length, err := d.coldFrame(n)
		d.failed = err != nil
		d.seek(load64(d.coldEntry(n)))
		d.row(uint64(len(packed)), "block %d: a zstd frame of %d bytes:", n, length)
		if d.coldLevel(n) == coldKeys {
			err = d.eachKey(n, d.coldKey)
		} else {
			err = d.eachScope(n, d.coldScope)
		}
		d.failed = d.failed || err != nil
	}
}

// detail writes a line about what is inside a compressed block.
func (d *dumper) detail(format string, args ...any) {
	fmt.Fprintf(d.out, "%57s  %s\n", "", fmt.Sprintf(format, args...))
}

func (d *dumper) coldScope(place uint32, o *scopeOrigins) {
	for i := range o.n {
		if i == shownOrigins {
			d.detail("place %d: %d more", place, o.n-i)
			return
		}
		key := ""
		if i < uint32(len(o.keys)) {
			key = fmt.Sprintf(" of key %d", o.keys[i])
		}
		d.detail("place %d, entry %d%s: input %d, line %d, column %d",
			place, i, key, o.input.at(i), o.line.at(i), o.col.at(i))
	}
}

// shownOrigins is how many entries of a scope are shown.
const shownOrigins = 20

func (d *dumper) coldKey(key uint32, b *coldBinding) {
	if b == nil {
		return
	}
	where := ""
	for _, t := range b.terms {
		where += fmt.Sprintf(", %s %q", d.dimensionName(t.dimension), d.dictValue(t.dimension, t.value))
	}
	if b.kind == coldHidden {
		where += fmt.Sprintf(", %d bytes", len(b.stored.Bytes))
	}
	kind := [...]string{coldDefault: "unconditional", coldHidden: "hidden", coldContribution: "contribution"}[b.kind]
	d.detail("key %d: %s, below %d levels, layer %d%s: input %d, line %d, column %d",
		key, kind, b.above, b.layer, where, b.origin.Input, b.origin.Line, b.origin.Col)
}
