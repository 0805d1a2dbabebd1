package snapshot

import "encoding/binary"

// meta writes section meta, which contains everything that Open reads: a byte of flags; layers; dimensions; buckets
// and slots of the keys' hash; levels; the slice; and per layer, its part of Hiera 5 (u8) and its entry. Numbers are
// uvarints; strings are a uvarint length and bytes.
func (w *writer) meta(levels []byte) {
	out := binary.AppendUvarint([]byte{flag(w.c.Strict, metaStrict)}, uint64(len(w.c.Layers)))
	for _, name := range w.c.Layers {
		out = appendText(out, name)
	}
	out = binary.AppendUvarint(out, uint64(len(w.c.Dimensions)))
	for i, d := range w.c.Dimensions {
		out = appendNumbers(appendText(out, d.Name), d.Category+1)
		out = append(out, flag(d.Guard, dimensionGuard)|flag(d.Exact, dimensionExact))
		out = appendText(out, string(d.Program))
		dict := &w.dicts[i]
		out = appendNumbers(out, dict.at/4, int(dict.hash.n), int(dict.hash.buckets), int(dict.hash.slots))
	}
	out = appendNumbers(out, int(w.hash.buckets), int(w.hash.slots))
	out = append(out, levels...)
	if len(w.c.Slice) > 0 {
		out = appendNumbers(out, len(w.c.Slice))
		for _, t := range w.c.Slice {
			out = appendText(appendNumbers(out, t.Dimension), t.Value)
		}
	}
	for _, h := range w.c.Hiera {
		part := byte(h.Part) | flag(h.OnlyPath, hieraOnlyPath) | flag(h.OnlyEntry, hieraOnlyEntry)
		out = appendNumbers(append(out, part), h.Entry)
	}
	w.out[secMeta] = out
}

func flag(set bool, bit byte) byte {
	if set {
		return bit
	}
	return 0
}

func appendNumbers(out []byte, ns ...int) []byte {
	for _, n := range ns {
		out = binary.AppendUvarint(out, uint64(n))
	}
	return out
}

func appendText(out []byte, s string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(s))), s...)
}

// inputsHead is the size of the decoded length that precedes the frame in section inputs.
const inputsHead = 4

// inputBytes is the minimum size of a file in the list of inputs.
const inputBytes = 1 + 1 + 8

// inputs writes section inputs: the decoded length u32, then a zstd frame. The frame contains the number of files,
// their paths (uvarint length, bytes), their sizes (uvarint) and their xxhash64 u64. The hashes are separate because
// they do not compress.
func (w *writer) inputs() {
	size := binary.MaxVarintLen64
	for _, in := range w.c.Inputs {
		size += 2*binary.MaxVarintLen64 + len(in.Path) + 8
	}
	raw := appendNumbers(make([]byte, 0, size), len(w.c.Inputs))
	for _, in := range w.c.Inputs {
		raw = appendText(raw, in.Path)
	}
	for _, in := range w.c.Inputs {
		raw = binary.AppendUvarint(raw, uint64(in.Size))
	}
	for _, in := range w.c.Inputs {
		raw = binary.LittleEndian.AppendUint64(raw, in.Hash)
	}
	w.out[secInputs] = append(binary.LittleEndian.AppendUint32(nil, uint32(len(raw))), compress(raw)...)
}
