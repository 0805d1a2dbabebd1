package lookup

import (
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"

	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/snapshot"
)

// Explanation says why a lookup has its outcome. It stays valid after the snapshot is closed.
type Explanation struct {
	Key           string
	Root          string // the key that is bound, where Key leads into its value
	Outcome       Outcome
	Options       *Candidate     // of lookup_options, what they say of the key or, as its Name, of a pattern
	Candidates    []Candidate    // all bindings of the key, in order of precedence
	Contributions []Candidate    // to the multibinding that wins, in order of precedence
	Lookups       []*Explanation // those that computing the value took
	Unexplained   int            // number of lookups left out of the whole explanation, which records 1000
	Locations     []Location     // where Hiera 5 may find the key, in order; nil in a snapshot without hierarchies

	multibind *recipe.Recipe // that wins
}

// Outcome is the result of a lookup or of one binding: a value, not found, or an error.
type Outcome struct {
	Value Value
	Found bool
	Err   error
}

// Candidate is a binding of a key, or a contribution to a multibinding.
type Candidate struct {
	Layer   string
	When    []Term   // its condition
	At      string   // path:line:col of its source, relative to the site
	Name    string   // of a contribution that has one
	Outcome Outcome  // the outcome of the request if this candidate wins
	State   string   // Wins, Hidden or NotEffective
	Why     string   // why it does not win, or has its value from another key
	Unset   []string // variables that the request lacks, if its condition fails for no other reason

	// In Locations alone:
	Text      string      // the value with its interpolations, if it is a text of Hiera 5 that has some
	Variables []Candidate // that it interpolates: Name with its keys, and Outcome, found if the variable is set
}

// The states of a Candidate.
const (
	Wins         = "wins"
	Merged       = "merged"        // its value is part of a merged one
	Declined     = "declined"      // it is optional or an alias and has no value: lower candidates count
	Hidden       = "hidden"        // another effective one has precedence
	Renames      = "renames"       // it renames other contributions
	NotEffective = "not effective" // its condition does not hold
)

// Term is a condition on a category, on a variable ($name), or on an expression in a path.
type Term struct{ Name, Value string }

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
	x := explainer{r: r, base: l, recorder: rec, known: map[string]Explanation{}}
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

// declined tells whether there is neither a value nor an error.
func (o Outcome) declined() bool { return !o.Found && o.Err == nil }

// Categories returns the request's values of the categories, highest first, as the facts have them. It omits categories
// without a value.
func (r *Request) Categories() []Term {
	var out []Term
	for i := range r.snap.dimensions {
		if text, ok := r.text(i); ok && !r.snap.dimensions[i].guard {
			out = append(out, Term{strings.Clone(r.snap.dimensions[i].name), text})
		}
	}
	return out
}

// Dimensions returns the request's value of every category and then of every guard, in the order of the file. The text
// is "" if the request has no value.
func (r *Request) Dimensions() []Term {
	out := make([]Term, len(r.snap.dimensions))
	for i := range out {
		text, _ := r.text(i)
		out[i] = Term{strings.Clone(r.snap.dimensions[i].name), text}
	}
	return out
}

// text returns the request's value of a dimension, as the facts have it.
func (r *Request) text(dimension int) (string, bool) {
	if r.closed.Load() || !r.has[dimension] {
		return "", false
	}
	defer runtime.KeepAlive(r)
	text, err := r.snap.dimensions[dimension].text(r.facts)
	return strings.Clone(text), err == nil
}

// recorder is what a lookup notes while it is explained.
type recorder struct {
	at      *Explanation // of the lookup that is running; nil: not recorded
	left    int          // how many more lookups to record
	omitted int          // how many lookups were not recorded
	counted map[*Explanation][]contributed
	derived map[*Explanation]bool // the key may be computed from something sensitive
}

// contributed is a contribution that a multibinding took, and what came of it.
type contributed struct {
	part    recipe.Part
	outcome Outcome
}

// maxExplained limits the lookups in one explanation: each lists all bindings of its key.
const maxExplained = 1000

// recorded is answer, noted.
func (l *lookup) recorded(key string) (value.Value, bool, error) {
	rec := l.record
	around := rec.at
	defer func() { rec.at = around }()
	if rec.left == 0 {
		rec.omitted++
		rec.at = nil
		return l.answer(key)
	}
	rec.left--
	rec.at = &Explanation{Key: strings.Clone(key)}
	rec.derived[rec.at] = l.sensitive
	around.Lookups = append(around.Lookups, rec.at)
	v, found, err := l.answer(key)
	rec.at.Outcome = l.outcome(v, found, err)
	return v, found, err
}

// counts notes what came of a contribution.
func (l *lookup) counts(p recipe.Part, v value.Value, there bool, err error) {
	if rec := l.record; rec != nil && rec.at != nil {
		rec.counted[rec.at] = append(rec.counted[rec.at], contributed{p, l.outcome(v, there, err)})
	}
}

// explainer adds to the lookups that were recorded what else is bound.
type explainer struct {
	*recorder
	r     *Request
	base  *lookup                // evaluations use its bounds
	known map[string]Explanation // by key, what bound finds
	files []snapshot.Input
}

// fill adds what is bound. A name that nothing binds is no key but text, and may be sensitive as such.
func (x *explainer) fill(e *Explanation) (err error) {
	if damaged(e.Outcome.Err) {
		return e.Outcome.Err
	}
	all, ok := x.known[e.Key]
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
	x.known[key] = all
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
	root, parsed := x.root(key)
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
	return x.r.snap.dimensions[dimension].shown() + " is " + x.said(dimension)
}

// shown returns the name of a dimension for messages: $name for a guard that is a single variable.
func (d *dimension) shown() string {
	if d.guard && d.variable != "" {
		return "$" + d.variable
	}
	return strings.Clone(d.name)
}

// said returns the request's value of a dimension for messages.
func (x *explainer) said(dimension int) string {
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

// content returns the constant or the recipe that b binds key to. It returns an *Error if the recipe cannot be
// decrypted.
func (s *Snapshot) content(key string, b snapshot.Binding) (v value.Value, r *recipe.Recipe, err error) {
	n, computed := b.Ref.Recipe()
	switch {
	case b.Stored.Computed && recipe.IsSealed(b.Stored.Bytes):
		r, err = s.sealed(key, b.Stored.Bytes)
	case b.Stored.Computed:
		if r, err = recipe.Decode(b.Stored.Bytes); err != nil {
			err = &DamageError{Section: "origins", Expected: "a recipe: " + err.Error()}
		}
	case b.Hidden:
		v, _, err = value.View(b.Stored.Bytes)
	case computed:
		r, err = s.recipe(key, n)
	default:
		v, err = s.value(b.Ref)
	}
	return v, r, err
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

// contributions returns those to the multibinding that e found, if it found one.
func (x *explainer) contributions(e *Explanation) ([]Candidate, error) {
	r := e.multibind
	if r == nil {
		return nil, nil
	}
	bs, err := x.r.file.Bindings(r.Name)
	if err != nil {
		return nil, err
	}
	bs, parts, err := x.parts(r.Name, bs)
	if damaged(err) {
		return nil, err
	}
	if err != nil { // some are encrypted, and so is which contribution each is
		return nil, nil
	}
	out := make([]Candidate, len(bs))
	for i, b := range bs {
		if out[i], err = x.candidate(b, new(string)); err != nil {
			return nil, err
		}
		out[i].Name = strings.Clone(parts[i].Name)
		if p := parts[i].Recipe; p.Renames() {
			if out[i].State == Wins {
				out[i].State, out[i].Why = Renames, renames(p)
			}
			continue
		}
		if out[i].Outcome, err = x.follow(e.Key, r.Name, parts[i].Recipe, -1); err != nil {
			return nil, err
		}
	}
	hideContributions(out, parts, x.counted[e], r.Options)
	return out, nil
}

// renames says what a contribution is that gives others a name.
func renames(r *recipe.Recipe) string {
	if r.Kind == recipe.AliasedPart {
		return "contributions named '" + strings.Clone(r.Name) + "' have this name too"
	}
	return "contributions below it named '" + strings.Clone(r.Name) + "' have this name"
}

// parts returns the parts of all scopes in bs and the binding that each part came from. Within a scope it pairs
// contributions and parts in order. In a forged file a part may have no contribution; its origin is then unknown.
func (x *explainer) parts(name string, bs []snapshot.Binding) (at []snapshot.Binding, out []recipe.Part, err error) {
	inScope := map[string][]recipe.Part{}
	scope := func(b snapshot.Binding) string { return fmt.Sprintf("%d %#v", b.Layer, b.Terms) }
	for _, b := range bs {
		if n, computed := b.Ref.Recipe(); computed {
			r, err := x.r.snap.recipe(name, n)
			if err != nil {
				return nil, nil, err
			}
			inScope[scope(b)] = append(inScope[scope(b)], r.Parts...)
		}
	}
	take := func(b snapshot.Binding) {
		left := inScope[scope(b)]
		at, out, inScope[scope(b)] = append(at, b), append(out, left[0]), left[1:]
	}
	for _, b := range bs {
		if b.Contribution && len(inScope[scope(b)]) > 0 {
			take(b)
		}
	}
	for _, b := range bs {
		for b.Origin = (snapshot.Origin{}); len(inScope[scope(b)]) > 0; {
			take(b)
		}
	}
	return at, out, nil
}

// hideContributions says which of the effective contributions the multibinding did not take, and for which others, and
// which decline.
func hideContributions(out []Candidate, parts []recipe.Part, counted []contributed, o *recipe.Options) {
	at := make([]int, len(counted)) // which candidate each is
	seen := map[int]bool{}
	for i, c := range counted {
		at[i] = slices.IndexFunc(parts, func(p recipe.Part) bool {
			return p.Place == c.part.Place && p.Precedence == c.part.Precedence
		})
		if at[i] >= 0 {
			taken := &out[at[i]]
			taken.Outcome, seen[at[i]] = c.outcome, true
			if c.outcome.declined() {
				taken.State, taken.Why = Declined, "there is nothing that it could contribute"
			}
		}
	}
	for i := range out {
		if seen[i] || out[i].State != Wins {
			continue
		}
		k := slices.IndexFunc(counted, func(c contributed) bool { return c.part.Place == parts[i].Place })
		if k >= 0 && at[k] >= 0 {
			out[i].State, out[i].Why = Hidden, "hidden by "+out[at[k]].At
			continue
		}
		k = slices.IndexFunc(counted, func(c contributed) bool {
			return !c.outcome.declined() && c.part.Name == parts[i].Name && c.part.Named == parts[i].Named
		})
		if k >= 0 && at[k] >= 0 {
			besides(&out[i], out[at[k]].At, parts[i], counted[k].part, o)
		}
	}
}

// besides says why contribution p was not taken although another one, taken, was; at names the place of the latter.
func besides(c *Candidate, at string, p, taken recipe.Part, o *recipe.Options) {
	decides := o.Resolution == recipe.Priority
	if o.Array {
		decides = p.Named && o.PriorityOnNamed || !p.Named && o.PriorityOnUnnamed
	}
	first := !o.Array && (o.Resolution == recipe.Ignore || o.Resolution == recipe.Included)
	switch {
	case o.Combinator != nil:
	case first, decides && taken.Precedence != p.Precedence:
		c.State, c.Why = Hidden, "hidden by "+at
	case decides:
		c.Why = "it has the name and the precedence of " + at
	case !o.Array && o.Resolution == recipe.ErrorOnConflict:
		c.Why = "it has the name of " + at + ", and conflict_resolution is 'error'"
	}
}
