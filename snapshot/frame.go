package snapshot

import (
	"encoding/binary"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// maxExpansion bounds what a byte of a frame decodes to, so that a small file has nothing large made of it. Of bytes
// that repeat themselves more than that, compress makes a longer frame than zstd would.
const maxExpansion = 64

// maxValue bounds an encoded value.
const maxValue = 1 << 29

var encoder = sync.OnceValue(func() *zstd.Encoder {
	level := zstd.WithEncoderLevel(zstd.SpeedBetterCompression)
	e, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), level) // fails for bad options only
	return e
})

// decoder allocates nothing for what it decodes: a forged frame would have it make room for a gigabyte.
var decoder = sync.OnceValue(func() *zstd.Decoder {
	// fails for bad options only
	d, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
	return d
})

// A skippable frame (RFC 8878, 3.1.2) is a magic number u32, a length u32, and bytes of this number, which mean
// nothing.
const (
	skippable     = 0x184d2a50
	skippableHead = 8
)

// compress makes frames of raw, of at least 1/maxExpansion of its bytes.
func compress(raw []byte) []byte {
	out, le := encoder().EncodeAll(raw, nil), binary.LittleEndian
	if missing := (len(raw)+maxExpansion-1)/maxExpansion - len(out); missing > 0 {
		more := max(0, missing-skippableHead)
		out = le.AppendUint32(le.AppendUint32(out, skippable), uint32(more))
		out = append(out, make([]byte, more)...)
	}
	return out
}

// decompress decodes packed, which is to hold length bytes.
func decompress(packed string, length uint64) (string, bool) {
	if length > min(maxExpansion*uint64(len(packed)), maxValue+blockSize) {
		return "", false
	}
	raw, err := decoder().DecodeAll([]byte(packed), make([]byte, 0, length))
	return string(raw), err == nil && uint64(len(raw)) == length
}

// appendFrame compresses raw and appends it to frames, and the entry that says where it lies to table.
func appendFrame(table, frames, raw []byte) (newTable, newFrames []byte) {
	packed, le := compress(raw), binary.LittleEndian
	table = le.AppendUint64(table, uint64(len(frames)))
	table = le.AppendUint32(table, uint32(len(packed)))
	table = le.AppendUint32(table, uint32(len(raw)))
	return table, append(frames, packed...)
}

// frameOf is the frame that an entry tells of, and how many bytes it decodes to; not ok where it cannot be in frames.
func frameOf(entry, frames string) (packed string, length uint64, ok bool) {
	off, bytes, length := load64(entry), uint64(load32(entry[8:])), uint64(load32(entry[12:]))
	if off > uint64(len(frames)) || bytes > uint64(len(frames))-off || length > bytes*maxExpansion {
		return "", 0, false
	}
	return frames[off : off+bytes], length, true
}
