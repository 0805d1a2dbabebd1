package datafile

import (
	"encoding/binary"
	"io"
	"iter"
	"math"

	"github.com/cespare/xxhash/v2"
)

// A pack has these parts. Numbers are in little endian. u64 and u32 are unsigned, i64 is signed.
//
//	magic     16 bytes
//	program   8 bytes
//	counts    u32 each: the numbers of keys, values, files and entries
//	lengths   u32 each: the lengths of the strings of keys, then of values
//	files     per file 105 bytes: digest 32, kind 1, size u64, hash u64, device u64, inode u64, size u64,
//	          modified i64, change i64, number of entries u64, number of options u64
//	entries   per entry 16 bytes: key u32, value u32, line u32, column u32; in the order of the files, the
//	          entries of a file before its options
//	texts     of the keys, then of the values
//	sum       u64, xxhash64 of everything before it
//
// A decoder checks the sum, which detects damage, and every number, so it rejects forged bytes. It cannot detect forged
// values: anyone who can write the cache can change the data.
const (
	packMagic  = "bindc datafile 3"
	packHead   = len(packMagic) + len(Program{}) + 4*4
	packFile   = 32 + 1 + 9*8
	packEntry  = 4 * 4
	packSum    = 8
	maxEntries = math.MaxUint32
)

type pack struct {
	keys, values []string
	files        []File
}

// writePack writes a pack of all files without diagnostics. It writes piece by piece, because the
// whole pack might need more memory than the rest of the build.
func writePack(w io.Writer, pools *Pools, files []*File, program Program) error {
	keys, values := renumbered{texts: pools.Keys.Texts()}, renumbered{texts: pools.Values.Texts()}
	var kept []*File
	entries := 0
	for _, f := range files {
		n := len(f.Entries) + len(f.Options)
		if !f.silent || uint64(entries)+uint64(n) > maxEntries {
			continue
		}
		kept, entries = append(kept, f), entries+n
		for e := range f.all() {
			keys.number(e.Key)
			values.number(e.Value)
		}
	}
	out := packWriter{w: w, sum: xxhash.New()}
	out.text(packMagic + string(program[:]))
	for _, n := range [...]int{len(keys.used), len(values.used), len(kept), entries} {
		out.number(uint32(n))
	}
	for _, r := range [...]*renumbered{&keys, &values} {
		for _, n := range r.used {
			out.number(uint32(len(r.texts[n])))
		}
	}
	for _, f := range kept {
		out.file(f)
	}
	for _, f := range kept {
		for e := range f.all() {
			for _, n := range [...]uint32{keys.number(e.Key), values.number(e.Value), e.Line, e.Col} {
				out.number(n)
			}
		}
	}
	for _, r := range [...]*renumbered{&keys, &values} {
		for _, n := range r.used {
			out.text(r.texts[n])
		}
	}
	return out.finish()
}

// all returns an iterator over the entries and then the options of f, which is their order in a
// pack.
func (f *File) all() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for _, list := range [...][]Entry{f.Entries, f.Options} {
			for _, e := range list {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// packWriter writes a pack piece by piece and computes its checksum.
type packWriter struct {
	w   io.Writer
	sum *xxhash.Digest
	buf []byte
	err error // the first error
}

const packBuffer = 64 << 10

func (p *packWriter) number(n uint32) {
	p.buf = binary.LittleEndian.AppendUint32(p.buf, n)
	if len(p.buf) >= packBuffer {
		p.flush()
	}
}

func (p *packWriter) text(s string) {
	p.buf = append(p.buf, s...)
	if len(p.buf) >= packBuffer {
		p.flush()
	}
}

func (p *packWriter) file(f *File) {
	p.text(string(f.digest[:]))
	p.buf = append(p.buf, byte(f.kind))
	for _, n := range [...]uint64{uint64(f.Size), f.Hash, f.id.Device, f.id.Inode, uint64(f.id.Size),
		uint64(f.id.Modified), uint64(f.id.Change), uint64(len(f.Entries)), uint64(len(f.Options))} {
		p.buf = binary.LittleEndian.AppendUint64(p.buf, n)
	}
}

func (p *packWriter) flush() {
	p.sum.Write(p.buf) // never fails
	if p.err == nil {
		_, p.err = p.w.Write(p.buf)
	}
	p.buf = p.buf[:0]
}

// finish writes the checksum. It returns the first error of any write.
func (p *packWriter) finish() error {
	p.flush()
	p.buf = binary.LittleEndian.AppendUint64(p.buf, p.sum.Sum64())
	p.flush()
	return p.err
}

// renumbered assigns new numbers to the strings of a pool that are used, in the order of their
// first use.
type renumbered struct {
	texts   []string
	numbers []uint32 // from the old number to the new number plus one; 0 if unused
	used    []uint32 // old numbers in the order of the new ones
}

func (r *renumbered) number(n uint32) uint32 {
	if r.numbers == nil {
		r.numbers = make([]uint32, len(r.texts))
	}
	if r.numbers[n] == 0 {
		r.used = append(r.used, n)
		r.numbers[n] = uint32(len(r.used))
	}
	return r.numbers[n] - 1
}
