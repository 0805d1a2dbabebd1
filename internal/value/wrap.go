package value

import (
	"encoding/binary"
	"slices"
)

// Wrap makes one array or hash of the encodings that stand in dst from start on: entries elements, or entries keys each
// with its value behind it. It yields what Append does for the same value without building that first.
func Wrap(dst []byte, start int, kind Kind, entries int) []byte {
	tag := tagArray
	if kind == Hash {
		tag = tagHash
	}
	var buf [1 + 2*binary.MaxVarintLen64]byte
	count := binary.AppendUvarint(buf[:0], uint64(entries))
	length := uint64(len(count) + len(dst) - start)
	head := binary.AppendUvarint(append(buf[:0], tag), length)
	return slices.Insert(dst, start, binary.AppendUvarint(head, uint64(entries))...)
}
