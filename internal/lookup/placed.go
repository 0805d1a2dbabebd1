package lookup

import (
	"iter"
	"strings"

	"bindc/internal/merge"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/snapshot"
)

type placed struct {
	snapshot.Candidate
	snapshot.HieraPlace
	layer int
}

// placed returns an iterator over the effective candidates of key, highest first. The caller must stop at an error.
func (l *lookup) placed(key string) iter.Seq2[placed, error] {
	return func(yield func(placed, error) bool) {
		for c, err := range l.r.file.Candidates(key, l.r.numbers, &l.r.view.Scopes) {
			p := placed{Candidate: c}
			if err == nil {
				p.layer, err = l.layer(key, c)
				p.HieraPlace = l.r.file.Hiera()[p.layer]
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

func (l *lookup) position(key string, c snapshot.Candidate) (snapshot.HieraPlace, error) {
	layer, err := l.layer(key, c)
	return l.r.file.Hiera()[layer], err
}

func (l *lookup) layer(key string, c snapshot.Candidate) (int, error) {
	if c.Level >= 0 {
		return l.r.file.Level(c.Level).Layer, nil
	}
	if layer, cached := l.r.snap.layers.Load(key); cached && !c.Hidden {
		return layer.(int), nil
	}
	b, err := l.r.file.Binding(key, c)
	if err == nil && !c.Hidden {
		l.r.snap.layers.Store(strings.Clone(key), b.Layer)
	}
	return b.Layer, err
}

// erases reports whether b renames key, so that the key has another name in lower bindings.
func (l *lookup) erases(key string, b snapshot.Binding) (bool, error) {
	_, r, err := l.r.snap.content(key, b)
	return r != nil && r.Kind == recipe.Erased, err
}

// evaluate returns the value of a candidate of root that is stored under key. found is false for a recipe that depends
// on other bindings. If key is internal, evaluate ignores the sensitive mark of the recipe: it only means that
// lookup_options may make the value sensitive.
func (l *lookup) evaluate(root, key string, c snapshot.Candidate) (v value.Value, found bool, err error) {
	v, r, err := l.r.snap.content(key, snapshot.Binding{Ref: c.Ref, Hidden: c.Hidden, Stored: c.Stored})
	if r == nil {
		return v, err == nil, err
	}
	if !r.StandsAlone() {
		return value.Value{}, false, nil
	}
	if r.Sensitive && internal(key) {
		open := *r
		open.Sensitive = false
		r = &open
	}
	v, err = l.follow(root, r)
	return v, err == nil, err
}

// candidate converts c, a candidate of root that is stored under key, to a merge.Candidate.
func (l *lookup) candidate(root, key string, c placed) merge.Candidate {
	return merge.Candidate{Layer: int(c.Part), Entry: c.Entry, OnlyPath: c.OnlyPath, OnlyEntry: c.OnlyEntry,
		Value: func() (value.Value, bool, error) { return l.evaluate(root, key, c.Candidate) }}
}
