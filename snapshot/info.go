package snapshot

import (
	"errors"
	"iter"
	"strings"
)

// SectionInfo describes one section of the file, for reports.
type SectionInfo struct {
	Name   string
	Offset uint64
	Bytes  uint64
}

// Info describes a snapshot, for reports.
type Info struct {
	Version    int
	Digest     Digest
	Size       int
	Keys       int // without internal keys
	Bindings   uint64
	Levels     int
	Layers     []string
	Dimensions []Dimension
	Slice      []Term // if set, the file only answers requests with these values
	Sections   []SectionInfo
}

// Info returns a description of the snapshot. It iterates over all keys.
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

// Digest returns the digest of the snapshot, which identifies it.
func (s *Snapshot) Digest() Digest { return s.digest }

// Layers returns the labels of the layers, highest first. The caller must not change them.
func (s *Snapshot) Layers() []string { return s.layers }

// Dimensions returns the categories, highest first, followed by the guards. The caller must not change them.
func (s *Snapshot) Dimensions() []Dimension { return s.dimensions }

// Hiera returns the place of each layer in the Hiera 5 hierarchies, or nil if no layer belongs to Hiera 5. The caller
// must not change it.
func (s *Snapshot) Hiera() []HieraPlace { return s.hiera }

// ARM8 reports whether recipes may use operations that only ARM-8 has, such as renaming a key.
func (s *Snapshot) ARM8() bool { return load64(s.data[offFeatures:])&featureARM8 != 0 }

// Slice returns the category values that a request must have. It returns nil if the snapshot answers every request.
// The caller must not change them.
func (s *Snapshot) Slice() []Term { return s.slice }

// Keys returns an iterator over the keys that are not internal, in no particular order.
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

// HasValues reports whether any condition names a value of the dimension.
func (s *Snapshot) HasValues(dimension int) bool { return s.dicts[dimension].hash.n > 0 }

// ValuesOf returns an iterator over the values of a dimension that conditions name, in no particular order.
func (s *Snapshot) ValuesOf(dimension int) iter.Seq[string] {
	return func(yield func(string) bool) {
		d := &s.dicts[dimension]
		for n := range d.hash.n {
			if text, ok := d.value(n); ok && !yield(text) { // Verify reports damaged strings
				return
			}
		}
	}
}

func (s *Snapshot) sectionCount() int {
	if s.sealed {
		return int(sectionCount)
	}
	return int(secSeal)
}

// Seal returns the encrypted key that opens the sealed recipes. It returns false if no recipe is sealed. The string
// refers to the mapped file.
func (s *Snapshot) Seal() (string, bool) { return s.sections[secSeal], s.sealed }

// AllRecipes returns an iterator over the encoded recipes that keys are bound to, including recipes of hidden
// bindings. An error is a *DamageError and ends the iteration.
func (s *Snapshot) AllRecipes() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for n := range s.Recipes() {
			if text, err := s.Recipe(n); !yield(text, err) || err != nil {
				return
			}
		}
		err := s.eachHidden(func(_ uint32, b *coldBinding) error {
			if b.stored.Computed && !yield(b.stored.Bytes, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && err != errStopped {
			yield("", err)
		}
	}
}

// errStopped ends an iteration through the file without an error.
var errStopped = errors.New("stopped")

// Strict reports whether using an unknown variable is an error.
func (s *Snapshot) Strict() bool { return s.strict }

// Inputs returns the files that the site was read from. They do not refer to the mapped file. The error is a
// *DamageError.
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
