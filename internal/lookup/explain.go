package lookup

import (
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"

	"bindc/internal/recipe"
	"bindc/snapshot"
)

// Explain is Lookup with the reasons. It runs the same code and records the steps. It returns an error only if the
// snapshot is damaged or closed; an error of the binding that wins is in the outcome.
func (r *Request) Explain(key string) (*Explanation, error) {
	if r.closed.Load() {
		return nil, fs.ErrClosed
	}
	defer runtime.KeepAlive(r)
	root := &Explanation{}
	rec := &recorder{at: root, left: maxExplained, counted: map[*Explanation][]contributed{},
		derived: map[*Explanation]bool{}}
	l := r.start()
	l.record = rec
	l.find(key) // the outcome is recorded
	l.done()
	l = r.start() // for the other bindings; Lookup made the answer above
	defer l.done()
	x := explainer{r: r, base: l, recorder: rec, filled: map[string]Explanation{}}
	if err := x.fill(root.Lookups[0]); err != nil {
		return nil, err
	}
	root.Lookups[0].Unexplained = rec.omitted
	return root.Lookups[0], nil
}

// Candidates returns all bindings of key in order of precedence, including those that are not effective in the request.
// The error is as in Explain.
func (r *Request) Candidates(key string) ([]Candidate, error) {
	if r.closed.Load() {
		return nil, fs.ErrClosed
	}
	defer runtime.KeepAlive(r)
	l := r.start()
	defer l.done()
	x := explainer{r: r, base: l}
	e, err := x.bound(key)
	if err != nil {
		return nil, err
	}
	return e.Candidates, nil
}

// Effective returns the outcomes of the bindings of key that are effective in the request, in order of precedence: the
// one that Lookup uses and those that it hides. It omits the explanations of Candidates and costs about as much as one
// lookup for each. The error is as in Explain.
func (r *Request) Effective(key string) ([]Outcome, error) {
	if r.closed.Load() {
		return nil, fs.ErrClosed
	}
	defer runtime.KeepAlive(r)
	if internal(key) {
		return nil, nil
	}
	var out []Outcome
	l := r.start()
	defer l.done()
	x := explainer{r: r, base: l}
	for c, err := range r.file.Candidates(key, r.numbers, &r.scopes) {
		if err != nil {
			return nil, err
		}
		b := snapshot.Binding{Ref: c.Ref, Hidden: c.Hidden, Stored: c.Stored}
		o, r, err := x.evaluate(key, filed{b, key}, c.Level)
		if err != nil {
			return nil, err
		}
		if r != nil && r.Kind == recipe.Erased {
			break
		}
		if !o.declined() {
			out = append(out, o)
		}
	}
	return out, nil
}

// explainer adds to the lookups that were recorded what else is bound.
type explainer struct {
	*recorder
	r      *Request
	base   *lookup                // evaluations use its bounds
	filled map[string]Explanation // by key, what bound finds
	files  []snapshot.Input
}

// fill adds what is bound. A name that nothing binds is no key but text, and may be sensitive as such.
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
	e.Root, e.Options, e.multibind = all.Root, all.Options, all.multibind
	if e.Locations, err = x.locations(e.Key, e.Root); err != nil {
		return err
	}
	if same := ok && all.Outcome.Err == nil && e.Outcome.Err == nil; same {
		e.Candidates, e.Contributions = all.Candidates, all.Contributions
	} else if err := x.fillCandidates(e, all.Candidates); err != nil {
		return err
	}
	all.Outcome, all.Candidates, all.Contributions = e.Outcome, e.Candidates, e.Contributions
	x.filled[key] = all
	for _, inner := range e.Lookups {
		if err := x.fill(inner); err != nil {
			return err
		}
	}
	return nil
}

// fillCandidates adds the bindings of the key of e and the contributions to the multibinding found. Successful lookups
// share them; failed ones do not, because each key of a loop has a different error.
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

// bound has the bindings of key as candidates. What the first effective one is bound to is what a lookup finds, or a
// part of that.
func (x *explainer) bound(key string) (out Explanation, err error) {
	if internal(key) {
		return Explanation{}, nil
	}
	root, parsed := x.r.rules.root(key)
	if len(parsed.Path) > 0 {
		out.Root = strings.Clone(root)
	}
	bs, err := x.bindings(root)
	if err != nil {
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
			c.Why = "'" + strings.Clone(root) + "' has another name from here on down"
		case r.Kind == recipe.Below && r.Name != root && c.State == Wins:
			c.Why = "it is what '" + strings.Clone(r.Name) + "' is below this"
		}
	}
	out.Options, err = x.hieraCandidates(root, parsed, bs, out.Candidates)
	return out, err
}

// whyDeclined says why a binding of key has no answer.
func whyDeclined(key string, r *recipe.Recipe) string {
	switch {
	case r.Kind == recipe.AliasOf:
		return "'" + strings.Clone(r.Targets[0].Key) + "' is not bound for this request"
	case r.Kind == recipe.Below && r.Name == key:
		return "nothing below it is bound for this request"
	case r.Kind == recipe.Below:
		return "'" + strings.Clone(r.Name) + "' is not bound below it for this request"
	}
	return "it is optional, and yields undef"
}

// candidate is b without its outcome. winner is where the first that is effective stands.
func (x *explainer) candidate(b snapshot.Binding, winner *string) (c Candidate, err error) {
	c = Candidate{Layer: strings.Clone(x.r.file.Layers()[b.Layer]), State: Wins}
	if c.At, err = x.at(b.Origin); err != nil {
		return c, err
	}
	var fails []string
	complete := false // a term fails for a reason other than a missing variable
	for _, t := range b.Terms {
		d := &x.r.snap.dimensions[t.Dimension]
		name := d.shown()
		c.When = append(c.When, Term{name, t.Value})
		if x.r.file.ValueNumber(t.Dimension, t.Value) == x.r.numbers[t.Dimension] {
			continue
		}
		why, lacks := x.failure(t.Dimension), x.r.lacks(t.Dimension)
		if slices.Contains(fails, why) {
			continue // two guards share a category
		}
		fails = append(fails, why)
		c.Unset, complete = append(c.Unset, lacks...), complete || len(lacks) == 0
	}
	if complete {
		c.Unset = nil
	}
	switch {
	case len(fails) > 0:
		c.State, c.Why = NotEffective, "condition does not hold: "+strings.Join(fails, ", ")
	case *winner != "":
		c.State, c.Why = Hidden, "hidden by "+*winner
	default:
		*winner = c.At
	}
	return c, nil
}

// failure says why a term about a dimension does not hold. If a guard is idle, the reason is the value of its category.
func (x *explainer) failure(dimension int) string {
	if d := &x.r.snap.dimensions[dimension]; x.r.isIdle(d) {
		dimension = d.category
	}
	return x.r.snap.dimensions[dimension].shown() + " is " + x.shownValue(dimension)
}

// shownValue returns the request's value of a dimension for messages.
func (x *explainer) shownValue(dimension int) string {
	text, ok := x.r.text(dimension)
	switch {
	case !ok:
		return "not set"
	case text == "":
		return "empty"
	}
	return text
}

// readFiles reads the list of files that the snapshot was built from.
func (x *explainer) readFiles() (err error) {
	if x.files == nil {
		x.files, err = x.r.file.Inputs()
	}
	return err
}

// at formats a position like a diagnostic.
func (x *explainer) at(o snapshot.Origin) (string, error) {
	if err := x.readFiles(); err != nil {
		return "", err
	}
	if o.Line == 0 || int64(o.Input) >= int64(len(x.files)) {
		return "an unknown place", nil
	}
	return fmt.Sprintf("%s:%d:%d", x.files[o.Input].Path, o.Line, o.Col), nil
}

// evaluate returns the outcome of a binding of key, whether it wins or not, and its recipe if it has one. The error
// reports a damaged file.
func (x *explainer) evaluate(key string, b filed, level int) (Outcome, *recipe.Recipe, error) {
	v, r, err := x.r.snap.content(b.key, b.Binding)
	if damaged(err) {
		return Outcome{}, nil, err
	}
	if err != nil {
		return Outcome{Err: err}, nil, nil
	}
	if r == nil {
		return Outcome{Value{v, x.r.file}, true, nil}, nil, nil
	}
	o, err := x.follow(key, key, r, level)
	return o, r, err
}

// follow is what a recipe of key in a level comes to, which is entered under a name.
func (x *explainer) follow(key, name string, r *recipe.Recipe, level int) (Outcome, error) {
	l := x.base.aside(name)
	if r.Kind == recipe.Erased {
		return Outcome{}, nil
	}
	v, found, err := l.attempt(key, r, level)
	if damaged(err) {
		return Outcome{}, err
	}
	return l.outcome(v, found, err), nil
}

// damaged reports whether err is about the file and not about a binding.
func damaged(err error) bool {
	_, known := err.(*Error)
	return err != nil && !known
}
