package snapshot

import (
	"cmp"
	"slices"

	"bindc/internal/value"
)

// Content returns the content that a verified file was written from, so that the caller can change it and write it
// again. Writing it unchanged gives the same file. The content refers to the mapped file, and Sensitive is not set. The
// error is a *DamageError.
func (s *Snapshot) Content() (*Content, error) {
	all, err := s.AllBindings()
	if err != nil {
		return nil, err
	}
	c := &Content{Layers: slices.Clone(s.layers), Hiera: slices.Clone(s.hiera), Dimensions: slices.Clone(s.dimensions),
		Strict: s.strict, Bindings: int(s.bindings), Slice: slices.Clone(s.slice),
		ARM8: s.ARM8()}
	if seal, ok := s.Seal(); ok {
		c.Seal = []byte(seal)
	}
	if c.Inputs, err = s.Inputs(); err != nil {
		return nil, err
	}
	r := contentReader{s: s, all: all, c: c, stored: map[Stored]uint32{}}
	if err := r.levels(); err != nil {
		return nil, err
	}
	return c, r.keys()
}

type contentReader struct {
	s      *Snapshot
	all    *AllBindings
	c      *Content
	scopes []*Scope          // scopes[i] is all.scopes[i] in the content
	stored map[Stored]uint32 // index of each value in Values
}

// levels reads the levels and their scopes. The scopes have no entries yet.
func (r *contentReader) levels() error {
	for _, l := range r.s.levels {
		level := Level{Layer: l.layer, Entry: l.entry}
		for _, d := range l.dims {
			level.Dimensions = append(level.Dimensions, int(d))
		}
		r.c.Levels = append(r.c.Levels, level)
	}
	counts := make([]int, len(r.c.Levels))
	for _, at := range r.all.scopes {
		counts[at.level]++
	}
	for l, n := range counts {
		r.c.Levels[l].Scopes = make([]Scope, 0, n)
	}
	for _, at := range r.all.scopes {
		terms, err := r.s.conditionOf(&r.s.levels[at.level], at.slot)
		if err != nil {
			return err
		}
		scope := Scope{Values: make([]string, len(terms))}
		for i, t := range terms {
			scope.Values[i] = t.Value
		}
		level := &r.c.Levels[at.level]
		level.Scopes = append(level.Scopes, scope)
		r.scopes = append(r.scopes, &level.Scopes[len(level.Scopes)-1])
	}
	return nil
}

func (r *contentReader) keys() error {
	numbers := make([]uint32, r.s.hash.n)
	for n := range numbers {
		name, ok := r.s.keyName(uint32(n))
		if !ok {
			return r.s.damaged(secKeys, keyRecord*uint64(n), "a key name")
		}
		numbers[n] = uint32(n)
		r.c.Keys = append(r.c.Keys, Key{Name: name, Default: -1})
	}
	slices.SortFunc(numbers, func(a, b uint32) int { return cmp.Compare(r.c.Keys[a].Name, r.c.Keys[b].Name) })
	slices.SortFunc(r.c.Keys, func(a, b Key) int { return cmp.Compare(a.Name, b.Name) })
	for i, n := range numbers {
		if err := r.key(uint32(i), n); err != nil {
			return err
		}
	}
	return nil
}

// key reads the bindings of a key, which is number n in the file and Keys[i] in the content.
func (r *contentReader) key(i, n uint32) error {
	k := &r.c.Keys[i]
	if ref := Ref(at32(r.s.keys, keyRecord*uint64(n)+recDefault)); ref != noRef {
		v, err := r.value(ref)
		if err != nil {
			return err
		}
		k.Default = int(v)
	}
	for _, l := range r.all.lines[r.all.first[n]:r.all.first[n+1]] {
		if !l.cold {
			v, err := r.value(l.ref)
			if err == nil {
				err = r.origin(l.origin)
			}
			if err != nil {
				return err
			}
			scope := r.scopes[l.from]
			scope.Entries = append(scope.Entries, Entry{i, v})
			scope.Origins = append(scope.Origins, l.origin)
			continue
		}
		cold, err := r.cold(&r.all.cold[l.from], k.Default)
		if err != nil {
			return err
		}
		k.Cold = append(k.Cold, cold)
	}
	return nil
}

// cold converts a cold binding of a key. byDefault is the index of the value of the key's default, or -1.
func (r *contentReader) cold(b *coldBinding, byDefault int) (Cold, error) {
	terms, err := r.s.terms(b.terms)
	switch {
	case err != nil:
		return Cold{}, err
	case int(b.above) > len(r.s.levels), b.kind == coldDefault && byDefault < 0:
		return Cold{}, r.s.broken(secOrigins, "a binding below at most %d levels", len(r.s.levels))
	}
	out := Cold{Above: int(b.above), Layer: int(b.layer), Terms: terms, Origin: b.origin,
		Contribution: b.kind == coldContribution}
	switch b.kind {
	case coldDefault:
		out.Value = uint32(byDefault)
	case coldHidden:
		out.Value = r.number(b.stored)
	}
	return out, r.origin(b.origin)
}

// origin returns an error if o refers to an input that does not exist.
func (r *contentReader) origin(o Origin) error {
	if o.Line > 0 && int(o.Input) >= len(r.c.Inputs) {
		return r.s.broken(secOrigins, "an input number below %d", len(r.c.Inputs))
	}
	return nil
}

// value returns the index in Values of the value that ref refers to.
func (r *contentReader) value(ref Ref) (uint32, error) {
	stored, err := r.s.stored(ref)
	return r.number(stored), err
}

func (r *contentReader) number(v Stored) uint32 {
	n, ok := r.stored[v]
	if !ok {
		n = uint32(len(r.c.Values))
		r.c.Values, r.stored[v] = append(r.c.Values, v), n
	}
	return n
}

// stored returns the value that ref refers to, as Write received it.
func (s *Snapshot) stored(ref Ref) (Stored, error) {
	if n, ok := ref.Recipe(); ok {
		text, err := s.Recipe(n)
		return Stored{Computed: true, Bytes: text}, err
	}
	if ref&refKind == refInline {
		return Stored{Bytes: string(value.Append(nil, value.FromInline(uint32(ref))))}, nil
	}
	text, err := s.Encoded(ref)
	if err != nil {
		return Stored{}, err
	}
	_, rest, err := value.View(text)
	if err != nil {
		return Stored{}, s.badValue(ref)
	}
	return Stored{Bytes: text[:len(text)-len(rest)]}, nil
}
