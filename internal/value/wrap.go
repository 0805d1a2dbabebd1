package value

import (
	"encoding/binary"
	"slices"
)

// Wrap turns the encoded values in dst[start:] into one encoded Array or Hash. They are its elements, or its
// alternating keys and values. The result is the same as that of Append, but needs no Value in memory.
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
