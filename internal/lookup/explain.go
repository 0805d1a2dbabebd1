package lookup

import (
	"io/fs"
	"runtime"
	"slices"
	"strings"

	"bindc/internal/recipe"
	"bindc/snapshot"
)

// maxExplained limits the number of lookups in an explanation, because each lists all bindings of its key.
const maxExplained = 1000

// Explain looks up key as Lookup does, and explains the result. An error of the winning binding is in the Outcome.
// Explain itself only fails if the snapshot is damaged or closed.
func (r *Request) Explain(key string) (*Explanation, error) {
	return r.explain(key, explainer{})
}

// Index is decoded data of a snapshot that several calls of ExplainBriefly can use.
type Index struct {
	Bindings *snapshot.AllBindings // nil to read them from the snapshot
	Inputs   []snapshot.Input
}

// Index decodes the bindings and inputs of s. The result takes 40 bytes of memory for each binding.
func (s *Snapshot) Index() (Index, error) {
	bindings, err := s.file.AllBindings()
	if err != nil {
		return Index{}, err
	}
	inputs, err := s.file.Inputs()
	if err != nil {
		return Index{}, err
	}
	return Index{bindings, inputs}, nil
}

// ExplainBriefly is like Explain, but faster for a key with many bindings. In each level, it explains at most the given
// number of other bindings: those whose condition does not hold. If others is not 0, the fields Left and LeftParts
// count the bindings that it omits. With mapped_paths it omits none: their bindings may look the same, and reports show
// them once. It does not return Locations. index may be the zero Index.
func (r *Request) ExplainBriefly(key string, others int, index Index) (*Explanation, error) {
	x := explainer{brief: true, files: index.Inputs, filter: snapshot.Filter{Others: others,
		Possible: func(d int, number uint32) bool { return number == r.numbers[d] }}}
	if others > 0 && r.snap.hasNamesakes() {
		x.filter = snapshot.Filter{}
	}
	if index.Bindings != nil {
		x.source = index.Bindings
	}
	return r.explain(key, x)
}

// hasNamesakes reports whether several dimensions have the same name in messages, as the elements of mapped_paths do.
func (s *Snapshot) hasNamesakes() bool {
	names := map[string]bool{}
	for i := range s.dimensions {
		names[s.dimensions[i].shown()] = true
	}
	return len(names) < len(s.dimensions)
}

// ExplainUnset is like Explain, but faster. It omits most bindings for a category value other than the request's, which
// would not hold even if the unset variables were set. In positions, it gives the number of a file in place of its
// name.
func (r *Request) ExplainUnset(key string) (*Explanation, error) {
	if r.closed.Load() {
		return nil, fs.ErrClosed
	}
	unset := make([]bool, len(r.snap.dimensions))
	for i := range unset {
		// Keep bindings with a guard of a category. The method candidate finds out whether the guard or the category
		// fails.
		unset[i] = r.snap.dimensions[i].category >= 0 || len(r.lacks(i)) > 0
	}
	possible := func(d int, number uint32) bool { return unset[d] || number == r.numbers[d] }
	return r.explain(key, explainer{brief: true, numbered: true, filter: snapshot.Filter{Possible: possible}})
}

// explain implements the Explain methods. x selects the bindings to explain.
func (r *Request) explain(key string, x explainer) (*Explanation, error) {
	if r.closed.Load() {
		return nil, fs.ErrClosed
	}
	defer runtime.KeepAlive(r)
	root := &Explanation{}
	rec := &recorder{at: root, left: maxExplained, counted: map[*Explanation][]contributed{},
		derived: map[*Explanation]bool{}}
	l := r.start()
	l.record = rec
	l.find(key) // rec records the outcome
	l.done()
	l = r.start() // evaluates the other bindings
	defer l.done()
	x.r, x.base, x.recorder, x.filled = r, l, rec, map[string]Explanation{}
	if x.source == nil {
		x.source = r.file
	}
	if err := x.fill(root.Lookups[0]); err != nil {
		return nil, err
	}
	root.Lookups[0].Unexplained = rec.omitted
	return root.Lookups[0], nil
}

// Candidates returns all bindings of key in order of precedence, including those that do not apply to the request. It
// returns the same errors as Explain.
func (r *Request) Candidates(key string) ([]Candidate, error) {
	if r.closed.Load() {
		return nil, fs.ErrClosed
	}
	defer runtime.KeepAlive(r)
	l := r.start()
	defer l.done()
	x := explainer{r: r, base: l, source: r.file}
	e, err := x.bound(key)
	if err != nil {
		return nil, err
	}
	return e.Candidates, nil
}

// fill adds the bindings of e.Key to e, and does the same for nested lookups. If the key may be computed from sensitive
// data and is not bound, fill hides it.
func (x *explainer) fill(e *Explanation) (err error) {
	if damaged(e.Outcome.Err) {
		return e.Outcome.Err
	}
	all, ok := x.filled[e.Key]
	if !ok {
		if all, err = x.bound(e.Key); err != nil {
			return err
		}
	}
	key := e.Key
	if len(all.Candidates) == 0 && x.derived[e] {
		e.Key = Redacted
	}
	e.Root, e.Options, e.multibind, e.Left = all.Root, all.Options, all.multibind, all.Left
	if e.Locations, err = x.locations(e.Key, e.Root); err != nil {
		return err
	}
	if same := ok && all.Outcome.Err == nil && e.Outcome.Err == nil; same {
		e.Candidates, e.Contributions, e.LeftParts = all.Candidates, all.Contributions, all.LeftParts
	} else if err := x.fillCandidates(e, all.Candidates); err != nil {
		return err
	}
	all.Outcome, all.Candidates, all.Contributions = e.Outcome, e.Candidates, e.Contributions
	all.LeftParts = e.LeftParts
	x.filled[key] = all
	for _, inner := range e.Lookups {
		if err := x.fill(inner); err != nil {
			return err
		}
	}
	return nil
}

// fillCandidates adds the candidates in bound and the contributions to e. It copies the candidates, because every key
// of a loop has a different error.
func (x *explainer) fillCandidates(e *Explanation, bound []Candidate) (err error) {
	e.Candidates = slices.Clone(bound)
	for i := range e.Candidates {
		if c := &e.Candidates[i]; c.State == Wins && e.Root == "" && e.Options == nil {
			c.Outcome = e.Outcome
		}
	}
	e.Contributions, err = x.contributions(e)
	return err
}

// bound returns an Explanation of key without the outcome and the nested lookups. For a dotted key, the candidates are
// those of the root.
func (x *explainer) bound(key string) (out Explanation, err error) {
	if internal(key) {
		return Explanation{}, nil
	}
	root, parsed := x.r.rules.root(key)
	if len(parsed.Path) > 0 {
		out.Root = strings.Clone(root)
	}
	bs, left, err := x.bindings(root)
	if out.Left = left; err != nil {
		return Explanation{}, err
	}
	out.Candidates = make([]Candidate, len(bs))
	winner := ""
	for i, b := range bs {
		if out.Candidates[i], err = x.candidate(b.Binding, &winner); err != nil {
			return Explanation{}, err
		}
		c := &out.Candidates[i]
		var r *recipe.Recipe
		if c.Outcome, r, err = x.evaluate(root, b, b.Level()); err != nil {
			return Explanation{}, err
		}
		if c.State != Wins || r == nil {
			continue
		}
		if r.Kind == recipe.Multibind {
			out.multibind = r
		}
		if c.Outcome.declined() && r.Declines() {
			c.State, c.Why, winner = Declined, whyDeclined(root, r), ""
		}
		switch {
		case r.Kind == recipe.Erased:
			c.Why = "'" + strings.Clone(root) + "' is renamed from here down"
		case r.Kind == recipe.Below && r.Name != root && c.State == Wins:
			c.Why = "its value is that of '" + strings.Clone(r.Name) + "' below this"
		}
	}
	out.Options, err = x.hieraCandidates(root, parsed, bs, out.Candidates)
	return out, err
}

func whyDeclined(key string, r *recipe.Recipe) string {
	switch {
	case r.Kind == recipe.AliasOf:
		return "'" + strings.Clone(r.Targets[0].Key) + "' is not bound for this request"
	case r.Kind == recipe.Below && r.Name == key:
		return "nothing below it is bound for this request"
	case r.Kind == recipe.Below:
		return "'" + strings.Clone(r.Name) + "' is not bound below it for this request"
	}
	return "it is optional, and its value is undef"
}
