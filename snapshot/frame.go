package snapshot

import (
	"encoding/binary"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// maxExpansion is the maximum number of bytes that a frame may decode to, per byte of the frame. It keeps a small
// file from exhausting memory. If data compresses better, compress pads the frame.
const maxExpansion = 64

// maxValue is the maximum length of an encoded value in bytes.
const maxValue = 1 << 29

var encoder = sync.OnceValue(func() *zstd.Encoder {
	level := zstd.WithEncoderLevel(zstd.SpeedBetterCompression)
	// NewWriter only fails for invalid options
	e, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), level)
	return e
})

// decoder ignores the size that a frame declares when it allocates memory, because a forged frame could declare a
// gigabyte.
var decoder = sync.OnceValue(func() *zstd.Decoder {
	// NewReader only fails for invalid options
	d, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
	return d
})

// A skippable frame (RFC 8878, 3.1.2) consists of a magic number u32, a length u32, and that many bytes without
// meaning.
const (
	skippable     = 0x184d2a50
	skippableHead = 8
)

// compress compresses raw into frames of at least 1/maxExpansion of its length.
func compress(raw []byte) []byte {
	out, le := encoder().EncodeAll(raw, nil), binary.LittleEndian
	if missing := (len(raw)+maxExpansion-1)/maxExpansion - len(out); missing > 0 {
		more := max(0, missing-skippableHead)
		out = le.AppendUint32(le.AppendUint32(out, skippable), uint32(more))
		out = append(out, make([]byte, more)...)
	}
	return out
}

// decompress decodes packed. It returns false unless the result has exactly length bytes.
func decompress(packed string, length uint64) (string, bool) {
	if length > min(maxExpansion*uint64(len(packed)), maxValue+blockSize) {
		return "", false
	}
	raw, err := decoder().DecodeAll([]byte(packed), make([]byte, 0, length))
	return string(raw), err == nil && uint64(len(raw)) == length
}

// appendFrame compresses raw, appends the result to frames, and appends an entry with its location to table.
func appendFrame(table, frames, raw []byte) (newTable, newFrames []byte) {
	packed, le := compress(raw), binary.LittleEndian
	table = le.AppendUint64(table, uint64(len(frames)))
	table = le.AppendUint32(table, uint32(len(packed)))
	table = le.AppendUint32(table, uint32(len(raw)))
	return table, append(frames, packed...)
}

// frameWriter compresses each block while its caller fills the next one, because writing a snapshot otherwise uses only
// one processor.
type frameWriter struct {
	table, packed []byte // complete after finish
	queue         chan rawFrame
	done          chan struct{}
}

// rawFrame is a block to compress, with the numbers to append to its entry in the table.
type rawFrame struct {
	raw   []byte
	after []uint32
}

// add compresses raw in the background. The caller must not use raw afterwards.
func (f *frameWriter) add(raw []byte, after ...uint32) {
	if f.queue == nil {
		f.queue, f.done = make(chan rawFrame, 1), make(chan struct{})
		go f.compress()
	}
	f.queue <- rawFrame{raw, after}
}

func (f *frameWriter) compress() {
	for next := range f.queue {
		f.table, f.packed = appendFrame(f.table, f.packed, next.raw)
		for _, n := range next.after {
			f.table = binary.LittleEndian.AppendUint32(f.table, n)
		}
	}
	close(f.done)
}

// finish waits for the last block, and returns the table and the frames.
func (f *frameWriter) finish() (table, packed []byte) {
	if f.queue != nil {
		close(f.queue)
		<-f.done
	}
	return f.table, f.packed
}

// frameOf returns the frame that an entry describes, and its decoded length. ok is false if the frame is not inside
// frames or its decoded length is too large.
func frameOf(entry, frames string) (packed string, length uint64, ok bool) {
	off, bytes, length := load64(entry), uint64(load32(entry[8:])), uint64(load32(entry[12:]))
	if off > uint64(len(frames)) || bytes > uint64(len(frames))-off || length > bytes*maxExpansion {
		return "", 0, false
	}
	return frames[off : off+bytes], length, true
}
