package value

import (
	"encoding/binary"
	"slices"
)

// Wrap turns the encodings in dst from start on into one array or hash. They are the elements, or alternating keys and
// values. The result equals Append, which needs the value in memory.
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
