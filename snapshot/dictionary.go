package snapshot

import (
	"encoding/binary"
	"slices"
)

// A dictionary numbers the values of a dimension that conditions name. In section dicts, at a multiple of 4: its
// perfect hash, n+1 offsets of texts u32, the texts in the order of their numbers, padded to a multiple of 4.
type dictionary struct {
	at      uint64 // where it begins in section dicts
	hash    perfect
	offsets string
	text    string
}

// numbering is a dictionary while it is written.
type numbering struct {
	hash    perfect
	at      int // where it begins in section dicts
	numbers map[string]uint32
}

// dictionaries numbers the values of every dimension.
func (w *writer) dictionaries() error {
	var out []byte
	w.dicts = make([]numbering, len(w.c.Dimensions))
	for d, texts := range w.occurringValues() {
		hash, encoded, numbers, err := w.perfect(texts)
		if err != nil {
			return err
		}
		w.dicts[d] = numbering{hash, len(out), make(map[string]uint32, len(texts))}
		ordered := make([]string, len(texts))
		for i, t := range texts {
			w.dicts[d].numbers[t] = numbers[i]
			ordered[numbers[i]] = t
		}
		out = appendTexts(append(out, encoded...), ordered)
	}
	w.out[secDicts] = out
	return nil
}

func appendTexts(out []byte, texts []string) []byte {
	at := uint32(0)
	for _, t := range texts {
		out = binary.LittleEndian.AppendUint32(out, at)
		at += uint32(len(t))
	}
	out = binary.LittleEndian.AppendUint32(out, at)
	for _, t := range texts {
		out = append(out, t...)
	}
	return pad(out, 4)
}

// occurringValues is, per dimension, the values that conditions name, sorted.
func (w *writer) occurringValues() [][]string {
	out := make([][]string, len(w.c.Dimensions))
	for _, l := range w.c.Levels {
		for _, s := range l.Scopes {
			for i, d := range l.Dimensions {
				out[d] = append(out[d], s.Values[i])
			}
		}
	}
	for i := range w.c.Keys {
		for _, b := range w.c.Keys[i].Cold {
			for _, t := range b.Terms {
				out[t.Dimension] = append(out[t.Dimension], t.Value)
			}
		}
	}
	for d := range out {
		slices.Sort(out[d])
		out[d] = slices.Compact(out[d])
	}
	return out
}

// view finds the parts of d, whose hash has its numbers, at the start of b.
func (d *dictionary) view(b string) bool {
	rest, _ := d.hash.view(b) // nothing, where there is no room for it
	offsets := 4 * (uint64(d.hash.n) + 1)
	if offsets > uint64(len(rest)) {
		return false
	}
	d.offsets, d.text = rest[:offsets], rest[offsets:]
	return true
}

// find is the number of a value, or None.
func (d *dictionary) find(text string, seed uint64) uint32 {
	n := d.hash.find(hashText(text, seed))
	if n >= d.hash.n {
		return None // no values at all, or damaged; Verify says so
	}
	if got, ok := d.value(n); !ok || got != text {
		return None
	}
	return n
}

// value is the text of value n, which is below d.hash.n: for these view found the offsets inside the section.
func (d *dictionary) value(n uint32) (string, bool) {
	from, to := uint64(at32(d.offsets, 4*uint64(n))), uint64(at32(d.offsets, 4*uint64(n)+4))
	if from > to || to > uint64(len(d.text)) {
		return "", false
	}
	return d.text[from:to], true
}
