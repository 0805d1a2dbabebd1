package snapshot

import (
	"cmp"
	"fmt"
)

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
	label := fmt.Sprintf("level %d", level)
	for i, dim := range l.dims {
		n := uint32(slot)
		if !l.direct {
			n = load32(bytes[4*i:])
		}
		label += fmt.Sprintf(", %s %q", d.dimensionName(dim), d.dictValue(dim, n))
	}
	if l.narrow {
		d.row(uint64(len(bytes)), "%s: column %d", label, uint64(l.first)+uint64(place-1))
		return
	}
	d.tableOf[place-1] = label
	d.row(uint64(len(bytes)), "%s: table %08x", label, d.fileOffset(secTables)+4*uint64(place-1))
}

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
		d.row(4, "%s: %d entries", cmp.Or(d.tableOf[at], "unused table"), t.n)
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
