package snapshot

// Open reads only the header and section meta. The method meta in write_meta.go writes the section.

// dimensionBytes is the minimum size of an encoded dimension.
const dimensionBytes = 8

// sliceBytes is the minimum size of an encoded slice term.
const sliceBytes = 2

// levelView is a level of an open snapshot.
type levelView struct {
	layer, entry int
	dims         []uint32
	columns
	direct    bool
	at        uint64 // offset of the directory in section scopes
	directory string
	slots     uint32
}

func (l *levelView) slotBytes() int {
	if l.direct {
		return 4
	}
	return 4 * (len(l.dims) + 1)
}

func (s *Snapshot) readMeta(meta string, levels uint32) error {
	r := reader{b: meta}
	err := s.readParts(&r, levels)
	if err == nil && (r.failed || r.b != "") {
		err = s.damaged(secMeta, uint64(len(meta)-len(r.b)), "layers, dimensions and levels")
	}
	return err
}

func (s *Snapshot) readParts(r *reader, levels uint32) error {
	s.strict = r.flags(metaStrict)&metaStrict != 0
	for n := r.count(1); n > 0; n-- {
		s.layers = append(s.layers, r.text())
	}
	for n := r.count(dimensionBytes); n > 0; n-- {
		if err := s.readDimension(r); err != nil {
			return err
		}
	}
	s.hash.buckets, s.hash.slots = r.u32(), r.u32()
	prints, ok := s.hash.view(s.sections[secPilots])
	if !r.failed && (!ok || uint64(len(prints)) != uint64(s.hash.n)) {
		return s.broken(secPilots, "a perfect hash of %d keys", s.hash.n)
	}
	s.prints = prints
	for ; levels > 0 && !r.failed; levels-- {
		if err := s.readLevel(r); err != nil {
			return err
		}
	}
	s.readSlice(r)
	s.readHiera(r)
	s.words = max(1, (s.columns+maxColumns-1)/maxColumns)
	for _, l := range s.levels {
		if l.narrow {
			r.failed = r.failed || s.words > 1
			s.narrow |= (1<<l.count - 1) << l.first
		}
	}
	return nil
}

func (s *Snapshot) readDimension(r *reader) error {
	d := Dimension{Name: r.text(), Category: r.int() - 1}
	flags := r.flags(dimensionGuard | dimensionExact)
	d.Guard, d.Exact = flags&dimensionGuard != 0, flags&dimensionExact != 0
	d.Program = []byte(r.text())
	if d.Category >= len(s.dimensions) {
		r.failed = true // a category comes before its guards
	}
	dict := dictionary{at: 4 * uint64(r.u32()), hash: perfect{n: r.u32(), buckets: r.u32(), slots: r.u32()}}
	sec := s.sections[secDicts]
	if !r.failed && (dict.at > uint64(len(sec)) || !dict.view(sec[dict.at:])) {
		return s.damaged(secDicts, dict.at, "a dictionary of %d values", dict.hash.n)
	}
	s.dimensions, s.dicts = append(s.dimensions, d), append(s.dicts, dict)
	return nil
}

func (s *Snapshot) readLevel(r *reader) error {
	l := levelView{layer: r.int(), entry: r.int(), dims: s.readDims(r)}
	flags := r.flags(levelNarrow | levelDirect)
	l.narrow, l.direct = flags&levelNarrow != 0, flags&levelDirect != 0
	l.first, l.count, l.at, l.slots = s.columns, r.int(), 4*uint64(r.u32()), r.u32()
	if l.layer >= len(s.layers) || l.narrow && l.count > maxColumns || !l.narrow && l.count != 1 {
		r.failed = true
	}
	if r.failed {
		return nil
	}
	if expected := s.checkDirectory(&l); expected != "" {
		return s.damaged(secScopes, l.at, "%s", expected)
	}
	l.directory = s.sections[secScopes][l.at:][:uint64(l.slotBytes())*uint64(l.slots)]
	s.columns += l.count
	s.levels = append(s.levels, l)
	return nil
}

// readDims reads the dimensions of a level. Their numbers must ascend.
func (s *Snapshot) readDims(r *reader) (dims []uint32) {
	for n := r.count(1); n > 0; n-- {
		d := r.u32()
		if d >= uint32(len(s.dimensions)) || len(dims) > 0 && d <= dims[len(dims)-1] {
			r.failed = true
		}
		dims = append(dims, d)
	}
	return dims
}

// checkDirectory returns "" if the directory of l is valid. Otherwise it describes what was expected.
func (s *Snapshot) checkDirectory(l *levelView) (expected string) {
	room := uint64(len(s.sections[secScopes]))
	switch {
	case len(l.dims) == 0 && (!l.direct || l.slots != 1):
		return "a directory of one place"
	case l.direct && len(l.dims) > 1, l.direct && len(l.dims) == 1 && l.slots != s.dicts[l.dims[0]].hash.n:
		return "a directory indexed by a dimension"
	case !l.direct && (l.slots == 0 || l.slots&(l.slots-1) != 0):
		return "a directory of a power of two of slots"
	case l.at > room || uint64(l.slotBytes())*uint64(l.slots) > room-l.at:
		return "a directory inside the section"
	}
	return ""
}

// readSlice reads the terms that requests must satisfy, if the file has featureSlice.
func (s *Snapshot) readSlice(r *reader) {
	if load64(s.data[offFeatures:])&featureSlice == 0 {
		return
	}
	n := r.count(sliceBytes)
	r.failed = r.failed || n == 0
	for ; n > 0; n-- {
		t := Term{Dimension: r.int(), Value: r.text()}
		r.failed = r.failed || t.Dimension >= len(s.dimensions) || s.dimensions[t.Dimension].Guard
		s.slice = append(s.slice, t)
	}
}

// readHiera reads the place of each layer in the Hiera 5 hierarchies, if the file has featureHiera.
func (s *Snapshot) readHiera(r *reader) {
	if load64(s.data[offFeatures:])&featureHiera == 0 {
		return
	}
	for range s.layers {
		part := r.byte()
		p := HieraPlace{HieraPart(part &^ (hieraOnlyPath | hieraOnlyEntry)), r.int(),
			part&hieraOnlyPath != 0, part&hieraOnlyEntry != 0}
		r.failed = r.failed || p.Part >= hieraParts
		s.hiera = append(s.hiera, p)
	}
}
