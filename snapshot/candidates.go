package snapshot

import (
	"iter"
)

// Candidate is a binding of a key that applies to a request.
type Candidate struct {
	Ref    Ref    // the value, unless the candidate is hidden
	Hidden bool   // higher bindings hide it in every request, so no lookup finds it
	Stored Stored // the value of a hidden candidate
	Level  int    // index of its level, see Snapshot.Level; -1 for the default and for hidden candidates

	place uint32  // place of its scope in the directory of the level
	cold  Binding // binding of a hidden candidate
}

// Candidates returns an iterator over the bindings of key that apply to the request, highest precedence first.
// numbers must be the slice that was passed to Resolve. The first candidate that is not hidden is the one that Find
// returns. For an internal key, the candidates are contributions to a multibinding.
//
// If the key has no hidden candidates, like most keys, each candidate costs about as much as a lookup. Otherwise,
// Candidates also decompresses a block of about 64 KB. Candidates between the same two levels come in the order of
// Key.Cold. An error is a *DamageError and ends the iteration.
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

// CandidatesAfter returns an iterator over the bindings of key that apply to the request, highest precedence first.
// It starts after the given level (-1: with the first candidate) and ends with the default. It skips bindings that
// are hidden in every request. Callers use it to continue after a candidate that declines. Each candidate costs about
// as much as a lookup. An error is a *DamageError and ends the iteration.
func (s *Snapshot) CandidatesAfter(key string, level int, at *Scopes) iter.Seq2[Candidate, error] {
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
	above uint32 // number of levels above the candidate
}

// hiddenCandidates returns the hidden candidates of key number n and its default, in order of precedence. If the key
// has no hidden candidates, it returns nil.
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

// effective reports whether all terms hold in a request. numbers has the value numbers of the request.
func effective(terms []coldTerm, numbers []uint32) bool {
	for _, t := range terms {
		if numbers[t.dimension] != t.value {
			return false
		}
	}
	return true
}

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

// placeIn returns the place of the request's scope in the level that contains column.
func (at *Scopes) placeIn(column int) uint32 {
	if at.more != nil {
		return at.more.tables[column] + 1
	}
	return at.tables[column%maxColumns] + 1
}

// LevelInfo identifies the layer of a level, and its entry in the hierarchy.
type LevelInfo struct {
	Layer int
	Entry int // number of the entry in the layer's hierarchy
}

// Level returns the layer and the entry of level i.
func (s *Snapshot) Level(i int) LevelInfo { return LevelInfo{s.levels[i].layer, s.levels[i].entry} }

// Binding returns candidate c of key as a Binding, with its condition and its origin. Unless the candidate is hidden,
// Binding decompresses a block, even if Candidates did not. The error is a *DamageError.
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

// defaultBinding returns the unconditional binding of key number n.
func (s *Snapshot) defaultBinding(n uint32) (out Binding, err error) {
	err = s.coldBindings(n, func(b *coldBinding) (err error) {
		if b.kind == coldDefault {
			out, err = s.binding(b, n)
		}
		return err
	})
	return out, err
}

// scopeOrigin returns the origin of the binding of key number n in the scope at place of level.
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
