package datafile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"

	"github.com/cespare/xxhash/v2"

	"bindc/internal/fsx"
	"bindc/internal/recipe"
)

// packReader decodes a pack while reading it, because the bytes of a whole pack might need as much
// memory as its content. After a failure, all methods do nothing and return zero values.
type packReader struct {
	r      io.Reader
	sum    *xxhash.Digest
	left   uint64 // bytes left before the checksum
	buf    []byte
	failed bool
	err    error // first read error other than an unexpected end
}

// newPackReader returns a reader of a pack of the given size in bytes.
func newPackReader(r io.Reader, size int64) *packReader {
	p := &packReader{r: r, sum: xxhash.New(), buf: make([]byte, packBuffer)}
	if size < packSum {
		p.failed = true
	} else {
		p.left = uint64(size) - packSum
	}
	return p
}

func decodePack(raw string, program Program) (pack, bool) {
	return newPackReader(strings.NewReader(raw), int64(len(raw))).pack(program)
}

// pack decodes the pack. It returns false if the pack is damaged or was written by another program.
func (p *packReader) pack(program Program) (out pack, ok bool) {
	head := p.next(packHead)
	if !bytes.HasPrefix(head, append([]byte(packMagic), program[:]...)) {
		return pack{}, false
	}
	var counts [4]uint32
	for i := range counts {
		counts[i] = binary.LittleEndian.Uint32(head[packHead-4*4+4*i:])
	}
	keys, values, files, entries := counts[0], counts[1], counts[2], counts[3]
	keyEnds, valueEnds := p.ends(keys), p.ends(values)
	if !p.fits(entries, packEntry) {
		return pack{}, false
	}
	list := make([]Entry, entries)
	out.files = p.files(files, list)
	p.entries(list, keys, values)
	out.keys, out.values = p.texts(keyEnds), p.texts(valueEnds)
	p.failed = p.failed || p.left > 0 || !p.checkSum()
	for _, key := range out.keys {
		p.failed = p.failed || key == "" || key[0] == 0 && key != recipe.LookupOptionsKey // the only internal key
	}
	for _, v := range out.values {
		p.failed = p.failed || v == ""
	}
	return out, !p.failed
}

// next returns the next n bytes. n must not exceed packBuffer. The bytes are valid only until the
// next call.
func (p *packReader) next(n int) []byte {
	if p.failed || uint64(n) > p.left {
		p.failed = true
		return nil
	}
	p.left -= uint64(n)
	p.read(p.buf[:n])
	p.sum.Write(p.buf[:n]) // never fails
	return p.buf[:n]
}

func (p *packReader) read(b []byte) {
	if _, err := io.ReadFull(p.r, b); err != nil {
		p.failed = true
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			p.err = err
		}
	}
}

// checkSum reads the checksum at the end of the pack. It reports whether the checksum matches the
// bytes before it.
func (p *packReader) checkSum() bool {
	p.read(p.buf[:packSum])
	return !p.failed && binary.LittleEndian.Uint64(p.buf) == p.sum.Sum64()
}

// fits reports whether the rest of the pack is long enough for count items of the given size.
// Memory is allocated only if it is.
func (p *packReader) fits(count uint32, size uint64) bool {
	p.failed = p.failed || uint64(count)*size > p.left
	return !p.failed
}

// each calls do with the next count items of the given size, as many at a time as fit in the
// buffer.
func (p *packReader) each(count uint32, size int, do func(items []byte)) {
	for count > 0 && !p.failed {
		n := min(count, uint32(packBuffer/size))
		if items := p.next(int(n) * size); !p.failed {
			do(items)
		}
		count -= n
	}
}

// ends reads the lengths of strings. It returns the offsets of their ends in the joined text.
func (p *packReader) ends(count uint32) []uint64 {
	if !p.fits(count, 4) {
		return nil
	}
	out, end := make([]uint64, 0, count), uint64(0)
	p.each(count, 4, func(lengths []byte) {
		for ; len(lengths) > 0; lengths = lengths[4:] {
			end += uint64(binary.LittleEndian.Uint32(lengths))
			out = append(out, end)
		}
	})
	return out
}

// texts reads strings whose joined text has the given end offsets. They share memory.
func (p *packReader) texts(ends []uint64) []string {
	if p.failed || len(ends) == 0 {
		return nil
	}
	size := ends[len(ends)-1]
	if size > p.left {
		p.failed = true
		return nil
	}
	var all strings.Builder
	all.Grow(int(size))
	for size > 0 && !p.failed {
		n := min(size, packBuffer)
		all.Write(p.next(int(n))) // never fails
		size -= n
	}
	if p.failed {
		return nil
	}
	out, start := make([]string, len(ends)), uint64(0)
	for i, end := range ends {
		out[i], start = all.String()[start:end], end
	}
	return out
}

// files reads the records of files. It slices their entries from list, whose elements are read
// later.
func (p *packReader) files(count uint32, list []Entry) []File {
	if !p.fits(count, packFile) {
		return nil
	}
	out := make([]File, 0, count)
	take := func(n uint64) []Entry {
		if n > uint64(len(list)) {
			p.failed = true
			return nil
		}
		taken := list[:n:n]
		list = list[n:]
		return taken
	}
	p.each(count, packFile, func(records []byte) {
		for ; len(records) > 0; records = records[packFile:] {
			f := File{kind: Format(records[32]), silent: true, cached: true}
			copy(f.digest[:], records)
			var n [9]uint64
			for i := range n {
				n[i] = binary.LittleEndian.Uint64(records[33+8*i:])
			}
			f.Size, f.Hash = int64(n[0]), n[1]
			f.id = fsx.FileID{Device: n[2], Inode: n[3], Size: int64(n[4]), Modified: int64(n[5]), Change: int64(n[6])}
			f.Entries, f.Options = take(n[7]), take(n[8])
			out = append(out, f)
		}
	})
	p.failed = p.failed || len(list) > 0
	return out
}

// entries reads the entries of all files into list. It fails if a key or value is out of range.
func (p *packReader) entries(list []Entry, keys, values uint32) {
	le := binary.LittleEndian
	p.each(uint32(len(list)), packEntry, func(items []byte) {
		for ; len(items) > 0; items = items[packEntry:] {
			e := Entry{le.Uint32(items), le.Uint32(items[4:]), le.Uint32(items[8:]), le.Uint32(items[12:])}
			p.failed = p.failed || e.Key >= keys || e.Value >= values
			list[0], list = e, list[1:]
		}
	})
}
