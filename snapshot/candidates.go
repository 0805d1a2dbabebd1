package snapshot

import (
	"iter"
)

// Candidate is a binding of a key that is effective in a request.
type Candidate struct {
	Ref    Ref  // what the key is bound to, if it is not hidden
	Hidden bool // something higher hides it in every request: no lookup finds it, and Stored is its value
	Stored Stored
	Level  int // the level that has it, see Level; -1: it is the default, or hidden

	place uint32  // of its scope
	cold  Binding // of what is hidden
}

// Candidates ranges over the bindings of key that are effective where the request stands, those of the highest
// precedence first; numbers are those Resolve was given. The first that is not hidden is the one that Find finds. Of
// an internal key they are what is contributed to a multibinding.
//
// Most keys have none that are hidden, and then a candidate costs about what a lookup does; of the others, a block of
// 64 KB is decompressed. Candidates that no scope can tell apart come in the order of Key.Cold. The error is a
// *DamageError, and nothing follows it.
func (s *Snapshot) Candidates(key string, numbers []uint32, at *Scopes) iter.Seq2[Candidate, error] {
	return func(yield func(Candidate, error) bool) {
		n, ok := s.keyNumber(key)
		if !ok {
			return
		}
		cold, err := s.hiddenCandidates(n, numbers)
		if err != nil {
			yield(Candidate{}, err)
			return
		}
		for b, err := range s.inScopes(n, at) {
			level := s.levelOf(b.column)
			for ; len(cold) > 0 && int(cold[0].above) <= level; cold = cold[1:] {
				if !yield(cold[0].Candidate, nil) {
					return
				}
			}
			if !yield(Candidate{Ref: b.ref, Level: level, place: at.placeIn(b.column)}, err) || err != nil {
				return
			}
		}
		for _, c := range cold {
			if !yield(c.Candidate, nil) {
				return
			}
		}
		if ref := Ref(at32(s.keys, keyRecord*uint64(n)+recDefault)); ref != noRef && !s.hidden(n) {
			yield(Candidate{Ref: ref, Level: -1}, nil)
		}
	}
}

// Behind ranges over the bindings of key that are effective where the request stands, those of the highest precedence
// first, in the levels behind a level, -1 for all, and then its default: not over those that something higher always
// hides. So what a candidate that declines leaves to others is found at the cost of as many lookups. The error is a
// *DamageError, and nothing follows it.
func (s *Snapshot) Behind(key string, level int, at *Scopes) iter.Seq2[Candidate, error] {
	return func(yield func(Candidate, error) bool) {
		n, ok := s.keyNumber(key)
		if !ok {
			return
		}
		for b, err := range s.inScopes(n, at) {
			l := s.levelOf(b.column)
			if l <= level && err == nil {
				continue
			}
			if !yield(Candidate{Ref: b.ref, Level: l, place: at.placeIn(b.column)}, err) || err != nil {
				return
			}
		}
		if ref := Ref(at32(s.keys, keyRecord*uint64(n)+recDefault)); ref != noRef {
			yield(Candidate{Ref: ref, Level: -1}, nil)
		}
	}
}

// coldCandidate is a candidate that is in no scope.
type coldCandidate struct {
	Candidate
	above uint32 // how many levels stand above it
}

// hiddenCandidates are, of a key that has hidden ones, these and its default, in order of precedence.
func (s *Snapshot) hiddenCandidates(n uint32, numbers []uint32) (out []coldCandidate, err error) {
	if !s.hidden(n) {
		return nil, nil
	}
	err = s.coldBindings(n, func(b *coldBinding) (err error) {
		if b.kind == coldContribution || !effective(b.terms, numbers) {
			return nil
		}
		c := coldCandidate{Candidate{Level: -1, Hidden: b.kind == coldHidden, Stored: b.stored}, b.above}
		c.cold, err = s.binding(b, n)
		c.Ref = c.cold.Ref
		out = append(out, c)
		return err
	})
	return out, err
}

// effective tells whether a condition holds in a request.
func effective(terms []coldTerm, numbers []uint32) bool {
	for _, t := range terms {
		if numbers[t.dimension] != t.value {
			return false
		}
	}
	return true
}

// levelOf is the level of a column.
func (s *Snapshot) levelOf(column int) int {
	from, to := 0, len(s.levels)
	for to-from > 1 {
		if mid := (from + to) / 2; s.levels[mid].first <= column {
			from = mid
		} else {
			to = mid
		}
	}
	return from
}

// placeIn is that of the scope, of the level of a column, that the request is in.
func (at *Scopes) placeIn(column int) uint32 {
	if at.more != nil {
		return at.more.tables[column] + 1
	}
	return at.tables[column%maxColumns] + 1
}

// LevelInfo is what is said of a level as a whole.
type LevelInfo struct {
	Layer int
	Entry int // number of the entry of the layer's hierarchy
}

// Level is the layer and the entry of a level.
func (s *Snapshot) Level(i int) LevelInfo { return LevelInfo{s.levels[i].layer, s.levels[i].entry} }

// Binding is candidate c of key with its condition, and where it is written. It decompresses a block, also where
// Candidates does not. The error is a *DamageError.
func (s *Snapshot) Binding(key string, c Candidate) (Binding, error) {
	n, ok := s.keyNumber(key)
	switch {
	case c.Hidden:
		return c.cold, nil
	case !ok:
		return Binding{}, s.broken(secKeys, "the key of a candidate")
	case c.Level < 0:
		return s.defaultBinding(n)
	}
	l := &s.levels[c.Level]
	b := Binding{Layer: l.layer, Ref: c.Ref}
	var err error
	for slot := range l.slots {
		if l.placeAt(slot) == c.place {
			b.Terms, err = s.conditionOf(l, slot)
			break
		}
	}
	if err != nil {
		return Binding{}, err
	}
	b.Origin, err = s.scopeOrigin(c.Level, c.place, n)
	return b, err
}

// defaultBinding is the unconditional binding of key number n.
func (s *Snapshot) defaultBinding(n uint32) (out Binding, err error) {
	err = s.coldBindings(n, func(b *coldBinding) (err error) {
		if b.kind == coldDefault {
			out, err = s.binding(b, n)
		}
		return err
	})
	return out, err
}

// scopeOrigin is where key number n is bound in the scope of a level that has a place.
func (s *Snapshot) scopeOrigin(level int, place, n uint32) (out Origin, err error) {
	block, found := s.coldBlockOf(uint32(level), place), false
	if block >= 0 {
		err = s.eachScope(block, func(p uint32, o *scopeOrigins) {
			if p == place {
				out, found = o.originOf(s, &s.levels[level], place, n)
			}
		})
	}
	if err == nil && !found {
		err = s.broken(secOrigins, "the origin of a binding in level %d", level)
	}
	return out, err
}
