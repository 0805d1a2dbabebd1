package snapshot

import (
	"iter"
	"strings"
)

// SectionInfo is one part of the file, for reports.
type SectionInfo struct {
	Name   string
	Offset uint64
	Bytes  uint64
}

// Info is what a snapshot is, for reports.
type Info struct {
	Version    int
	Digest     Digest
	Size       int
	Keys       int // that can be looked up
	Bindings   uint64
	Levels     int
	Layers     []string
	Dimensions []Dimension
	Slice      []Term // the requests it is for; none: all
	Sections   []SectionInfo
}

// Info describes the snapshot; it costs a pass over the keys.
func (s *Snapshot) Info() Info {
	in := Info{Version: Version, Digest: s.digest, Size: len(s.data), Bindings: s.bindings,
		Levels: len(s.levels), Layers: s.layers, Dimensions: s.dimensions, Slice: s.slice}
	for range s.Keys() {
		in.Keys++
	}
	for i := range s.sectionCount() {
		at := s.data[offSectionTab+sectionEntry*i:]
		in.Sections = append(in.Sections, SectionInfo{section(i).String(), load64(at), load64(at[8:])})
	}
	return in
}

// Digest identifies the snapshot.
func (s *Snapshot) Digest() Digest { return s.digest }

// Layers are the labels of the layers, highest first. The caller must not change them.
func (s *Snapshot) Layers() []string { return s.layers }

// Dimensions are the categories, highest first, and the guards behind them. The caller must not change them.
func (s *Snapshot) Dimensions() []Dimension { return s.dimensions }

// Hiera is what each of the layers is to Hiera 5, nil where none is of it. The caller must not change it.
func (s *Snapshot) Hiera() []HieraPlace { return s.hiera }

// ARM8 tells whether recipes may be those of ARM-8's operations, as the one that a key has another name.
func (s *Snapshot) ARM8() bool { return load64(s.data[offFeatures:])&featureARM8 != 0 }

// Slice are the values that a request must have of categories to be answered; none where all are. The caller must not
// change them.
func (s *Snapshot) Slice() []Term { return s.slice }

// Keys ranges over the keys that can be looked up, in no particular order.
func (s *Snapshot) Keys() iter.Seq[string] {
	return func(yield func(string) bool) {
		for n := range s.hash.n {
			key, ok := s.keyName(n)
			if ok && !strings.HasPrefix(key, "\x00") && !yield(key) {
				return
			}
		}
	}
}

// HasValues reports whether any condition names a value of a dimension.
func (s *Snapshot) HasValues(dimension int) bool { return s.dicts[dimension].hash.n > 0 }

// ValuesOf ranges over the values of a dimension that conditions name, in no particular order.
func (s *Snapshot) ValuesOf(dimension int) iter.Seq[string] {
	return func(yield func(string) bool) {
		d := &s.dicts[dimension]
		for n := range d.hash.n {
			if text, ok := d.value(n); ok && !yield(text) { // Verify reports damage
				return
			}
		}
	}
}

// sectionCount is the number of sections.
func (s *Snapshot) sectionCount() int {
	if s.sealed {
		return int(sectionCount)
	}
	return int(secSeal)
}

// Seal is what opens the recipes that are encrypted, for who may; false if none is. It refers to the mapped file.
func (s *Snapshot) Seal() (string, bool) { return s.sections[secSeal], s.sealed }

// AllRecipes ranges over the encoded recipes that keys are bound to, those of hidden bindings too. An error is a
// *DamageError, and nothing follows it.
func (s *Snapshot) AllRecipes() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for n := range s.Recipes() {
			if text, err := s.Recipe(n); !yield(text, err) || err != nil {
				return
			}
		}
		more := true
		for block := 0; block < s.coldBlocks() && more; block++ {
			if s.coldLevel(block) != coldKeys {
				continue
			}
			err := s.eachKey(block, func(_ uint32, b *coldBinding) {
				if b != nil && b.stored.Computed {
					more = more && yield(b.stored.Bytes, nil)
				}
			})
			if err != nil {
				yield("", err)
				return
			}
		}
	}
}

// Strict tells whether the use of an unknown variable is an error.
func (s *Snapshot) Strict() bool { return s.strict }

// Inputs are the files the site was read from. They do not refer to the mapped file. The error is a *DamageError.
func (s *Snapshot) Inputs() ([]Input, error) {
	sec := s.sections[secInputs]
	if len(sec) < inputsHead {
		return nil, s.broken(secInputs, "a length")
	}
	list, ok := decompress(sec[inputsHead:], uint64(load32(sec)))
	if !ok {
		return nil, s.broken(secInputs, "a zstd frame")
	}
	r := reader{b: list}
	var out []Input
	for n := r.count(inputBytes); n > 0; n-- {
		out = append(out, Input{Path: r.text()})
	}
	for i := range out {
		out[i].Size = int64(r.uvarint())
	}
	for i := range out {
		out[i].Hash = r.u64()
	}
	if r.failed || r.b != "" {
		return nil, s.damaged(secInputs, uint64(len(list)), "a list of files")
	}
	return out, nil
}
