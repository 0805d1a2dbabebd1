package snapshot

import (
	"encoding/binary"
	"slices"
)

// A dictionary numbers the values of a dimension that conditions name. Section dicts contains the dictionaries, at
// multiples of 4. Each one contains its perfect hash, n+1 text offsets u32 and the strings in the order of their
// numbers, padded to a multiple of 4.
type dictionary struct {
	at      uint64 // offset in section dicts
	hash    perfect
	offsets string
	text    string
}

// numbering is a dictionary that is being written.
type numbering struct {
	hash perfect
	at   int // offset in section dicts
	seed uint64
}

// number returns the number of text, which must be in the dictionary.
func (n *numbering) number(text string) uint32 { return n.hash.find(hashText(text, n.seed)) }

func (w *writer) dictionaries() error {
	var out []byte
	w.dicts = make([]numbering, len(w.c.Dimensions))
	for d, texts := range w.occurringValues() {
		hash, encoded, numbers, err := w.perfect(texts)
		if err != nil {
			return err
		}
		w.dicts[d] = numbering{hash, len(out), w.seed}
		ordered := make([]string, len(texts))
		for i, t := range texts {
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

// occurringValues returns, per dimension, the sorted values that conditions name.
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

// view finds the parts of d at the start of b. The caller has set the numbers in d.hash.
func (d *dictionary) view(b string) bool {
	rest, _ := d.hash.view(b) // rest is empty if b is too short for the hash
	offsets := 4 * (uint64(d.hash.n) + 1)
	if offsets > uint64(len(rest)) {
		return false
	}
	d.offsets, d.text = rest[:offsets], rest[offsets:]
	return true
}

// find returns the number of a value, or None.
func (d *dictionary) find(text string, seed uint64) uint32 {
	n := d.hash.find(hashText(text, seed))
	if n >= d.hash.n {
		return None // the dictionary is empty, or damaged, which Verify reports
	}
	if got, ok := d.value(n); !ok || got != text {
		return None
	}
	return n
}

// value returns the text of value n, which must be below d.hash.n. Its offsets are inside the section, because view has
// checked that.
func (d *dictionary) value(n uint32) (string, bool) {
	from, to := uint64(at32(d.offsets, 4*uint64(n))), uint64(at32(d.offsets, 4*uint64(n)+4))
	if from > to || to > uint64(len(d.text)) {
		return "", false
	}
	return d.text[from:to], true
}
