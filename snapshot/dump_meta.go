package snapshot

import (
	"cmp"
	"fmt"
)

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
		d.row(1, "layer %d: Hiera 5 part: %s", i, inHiera(place))
		d.uvarint("  entry")
	}
}

// inHiera describes the place of a layer in the hierarchies, without the number of its entry.
func inHiera(p HieraPlace) string {
	out := [...]string{"none", "global", "environment", "module", "default_hierarchy"}[p.Part]
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
	d.offset("  dictionary", secDicts)
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
	d.read(func(r *reader) string { return fmt.Sprintf("  columns %d, first column %d", r.u32(), l.first) })
	d.offset("  directory", secScopes)
	d.uvarint("  slots")
}

func (d *dumper) dimensionName(n uint32) string {
	if n >= uint32(len(d.dimensions)) {
		return "unknown dimension"
	}
	return cut(d.dimensions[n].Name)
}

// flags writes a row for a byte of flags. bits has the names of the flags, lowest bit first.
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

// offset writes a row for a number that is an offset in sec divided by 4.
func (d *dumper) offset(name string, sec section) {
	d.read(func(r *reader) string { return fmt.Sprintf("%s at %08x", name, d.fileOffset(sec)+4*uint64(r.u32())) })
}
