package snapshot

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"bindc/internal/value"
)

// Dump writes every record of the file in order: its offset in the file, its bytes in hex (only the first ones of a
// long record) and their meaning, in the terms of format.md. The functions recipe and program describe encoded recipes
// and expressions. If a section is damaged, Dump shows the records before the damage. It only returns errors from
// writing to out.
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

// RecipeText describes an encoded recipe in one line. Dump hides the bytes of a secret recipe, except its kind and
// flags.
type RecipeText func(encoded string) (meaning string, secret bool)

// recipeHead is the size of a recipe's kind and flags.
const recipeHead = 2

// dumper writes the rows of one section after another. If a section is damaged, failed is set and the rest of the
// section is skipped.
type dumper struct {
	*Snapshot
	out     *bufio.Writer
	recipe  RecipeText
	program func(string) string
	tableOf map[uint32]string // the scope of each table, by the table's offset/4

	start, at, end uint64 // offsets in the file: start of the section, next row, end of the section
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

// shownBytes is the maximum number of bytes that are shown of a record.
const shownBytes = 15

// row writes the next n bytes with their meaning.
func (d *dumper) row(n uint64, format string, args ...any) {
	shown := uint64(shownBytes)
	if n == shownBytes+1 {
		shown = n
	}
	d.rowOf(n, shown, format, args...)
}

// rowOf is like row, but shows at most the given number of bytes.
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

// next returns the next n bytes (at most 64) without advancing, or zeros if the section is too short.
func (d *dumper) next(n uint64) string {
	if d.failed = d.failed || n > d.end-d.at; d.failed {
		return strings.Repeat("\x00", int(n))
	}
	return d.data[d.at : d.at+n]
}

// read calls take to read from the section and writes a row with its result.
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

// seek skips to offset off in the section. Records are in order, so going back means damage.
func (d *dumper) seek(off uint64) {
	at := d.start + off
	if d.failed = d.failed || at < d.at || at > d.end; d.failed || at == d.at {
		return
	}
	meaning := "padding"
	if strings.Trim(d.data[d.at:at], "\x00") != "" {
		meaning = "unreferenced"
	}
	d.row(at-d.at, "%s", meaning)
}

func (d *dumper) blockTab() {
	blocks := load32(d.next(4))
	d.row(4, "%d blocks", blocks)
	for n := uint32(0); n < blocks && !d.failed; n++ {
		e := d.next(blockEntry)
		d.row(blockEntry, "block %d: offset %08x, packed %d, length %d",
			n, d.fileOffset(secBlocks)+load64(e), load32(e[8:]), load32(e[12:]))
	}
	block, end := uint32(0), uint32(0) // block and end of the previous value
	for n := uint32(0); n < d.blockValues && !d.failed; n++ {
		e := d.next(blockValueEntry)
		at, off := load32(e), load32(e[4:])
		if d.failed = at < block || at == block && off < end; d.failed {
			return // never decode anything twice
		}
		block, end = at, off
		text := "damaged"
		if encoded, err := d.Encoded(Ref(refBlock | n)); err == nil {
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

func (d *dumper) seal() { d.row(d.end-d.at, "encrypted key of the sealed recipes") }

func (d *dumper) originTab() {
	for n := 0; d.at < d.end && !d.failed; n++ {
		e := d.next(coldEntry)
		where := fmt.Sprintf("level %d, place %d", load32(e[16:]), load32(e[20:]))
		if load32(e[16:]) == coldKeys {
			where = fmt.Sprintf("keys, number %d", load32(e[20:]))
		}
		d.row(coldEntry, "block %d: offset %08x, packed %d, length %d, from %s",
			n, d.fileOffset(secOrigins)+load64(e), load32(e[8:]), load32(e[12:]), where)
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

// detail writes a line about the content of a compressed block.
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

// shownOrigins is the maximum number of entries that are shown of a scope.
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
