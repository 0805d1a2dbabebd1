package runtime

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

// Explanation is why a lookup has its outcome. Its values are valid as long as those of a lookup are, the rest always.
type Explanation struct {
	Key           string
	Root          string // the key that is bound, where Key leads into its value
	Outcome       Outcome
	Options       *Candidate     // of lookup_options, what they say of the key or, as its Name, of a pattern
	Candidates    []Candidate    // all bindings of the key, in order of precedence
	Contributions []Candidate    // to the multibinding that wins, in order of precedence
	Lookups       []*Explanation // those that computing the value took

	multibind *recipe.Recipe // that wins
}

// Outcome is what comes of a lookup, or of one binding: a value, not found, or an error.
type Outcome struct {
	Value Value
	Found bool
	Err   error
}

// Candidate is a binding of a key, or a contribution to a multibinding.
type Candidate struct {
	Layer   string
	When    []Term  // its condition
	At      string  // path:line:col of where it is written, relative to the site
	Name    string  // of a contribution that has one
	Outcome Outcome // what the request gets where it wins
	State   string  // Wins, Hidden or NotEffective
	Why     string  // it does not win, or has its value from another key
}

// The states of a Candidate.
const (
	Wins         = "wins"
	Merged       = "merged"        // it is one of those that make the value
	Declined     = "declined"      // it is optional, or another name, and there is nothing: what is below it counts
	Hidden       = "hidden"        // another one that is effective has precedence
	Renames      = "renames"       // it gives other contributions a name
	NotEffective = "not effective" // its condition does not hold
)

// Term is a category and its value, or a variable, as $name, or an expression of several that a path has.
type Term struct{ Name, Value string }

// Explain is Lookup with the reasons. It is the same code that looks up, and notes what it comes by. The error is that
// of a snapshot that is damaged or closed; that of the binding which wins is in the outcome.
func (r *Request) Explain(key string) (*Explanation, error) {
	if r.closed.Load() {
		return nil, fs.ErrClosed
	}
	defer runtime.KeepAlive(r)
	root := &Explanation{}
	l := &lookup{r: r, total: bounds(), record: &recorder{at: root, counted: map[*Explanation][]contributed{},
		derived: map[*Explanation]bool{}}}
	l.find(key) // the outcome is recorded
	x := explainer{r: r, recorder: l.record, known: map[string]Explanation{}}
	if err := x.fill(root.Lookups[0]); err != nil {
		return nil, err
	}
	return root.Lookups[0], nil
}

// Candidates are all bindings of key in order of precedence, those that are not effective in the request too. The error
// is that of Explain.
func (r *Request) Candidates(key string) ([]Candidate, error) {
	if r.closed.Load() {
		return nil, fs.ErrClosed
	}
	defer runtime.KeepAlive(r)
	x := explainer{r: r}
	e, err := x.bound(key)
	if err != nil {
		return nil, err
	}
	return e.Candidates, nil
}

// Effective is what key is bound to for the request, in order of precedence: what Lookup finds, and what that hides. It
// is Candidates without what is said of them, at about the cost of as many lookups. The error is that of Explain.
func (r *Request) Effective(key string) ([]Outcome, error) {
	if r.closed.Load() {
		return nil, fs.ErrClosed
	}
	defer runtime.KeepAlive(r)
	if internal(key) {
		return nil, nil
	}
	var out []Outcome
	x := explainer{r: r}
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

// Categories are the values the request has of the categories, highest first, as the facts have them; what it has none
// of is left out.
func (r *Request) Categories() []Term {
	var out []Term
	for i := range r.snap.dimensions {
		if text, ok := r.text(i); ok && !r.snap.dimensions[i].guard {
			out = append(out, Term{strings.Clone(r.snap.dimensions[i].name), text})
		}
	}
	return out
}

// text is the value the request has of a dimension, as the facts have it.
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
	at      *Explanation // of the lookup that is running
	counted map[*Explanation][]contributed
	derived map[*Explanation]bool // the key may be computed from something sensitive
}

// contributed is a contribution that a multibinding took, and what came of it.
type contributed struct {
	part    recipe.Part
	outcome Outcome
}

// recorded is answer, noted.
func (l *lookup) recorded(key string) (value.Value, bool, error) {
	rec := l.record
	around := rec.at
	rec.at = &Explanation{Key: strings.Clone(key)}
	rec.derived[rec.at] = l.sensitive
	around.Lookups = append(around.Lookups, rec.at)
	v, found, err := l.answer(key)
	rec.at.Outcome = l.outcome(v, found, err)
	rec.at = around
	return v, found, err
}

// counts notes what came of a contribution.
func (l *lookup) counts(p recipe.Part, v value.Value, there bool, err error) {
	if rec := l.record; rec != nil {
		rec.counted[rec.at] = append(rec.counted[rec.at], contributed{p, l.outcome(v, there, err)})
	}
}

// explainer adds to the lookups that were recorded what else is bound.
type explainer struct {
	*recorder
	r     *Request
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
		x.known[e.Key] = all
	}
	if len(all.Candidates) == 0 && x.derived[e] {
		e.Key = redacted
	}
	e.Root, e.Options, e.Candidates = all.Root, all.Options, slices.Clone(all.Candidates)
	e.multibind = all.multibind
	for i := range e.Candidates {
		if c := &e.Candidates[i]; c.State == Wins && e.Root == "" && e.Options == nil {
			c.Outcome = e.Outcome
		}
	}
	if e.Contributions, err = x.contributions(e); err != nil {
		return err
	}
	for _, inner := range e.Lookups {
		if err := x.fill(inner); err != nil {
			return err
		}
	}
	return nil
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
	for _, t := range b.Terms {
		d := &x.r.snap.dimensions[t.Dimension]
		name := d.shown()
		c.When = append(c.When, Term{name, t.Value})
		if x.r.file.ValueNumber(t.Dimension, t.Value) == x.r.numbers[t.Dimension] || x.r.isIdle(d) {
			continue
		}
		fails = append(fails, name+" is "+x.said(t.Dimension))
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

// shown is the name of a dimension in conditions that people read: of a guard that is nothing but a variable, $name.
func (d *dimension) shown() string {
	if d.guard && d.variable != "" {
		return "$" + d.variable
	}
	return strings.Clone(d.name)
}

// said is the value that the request has of a dimension, for people.
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

// at is a place as diagnostics show it.
func (x *explainer) at(o snapshot.Origin) (string, error) {
	if x.files == nil {
		var err error
		if x.files, err = x.r.file.Inputs(); err != nil {
			return "", err
		}
	}
	if o.Line == 0 || int64(o.Input) >= int64(len(x.files)) {
		return "an unknown place", nil
	}
	return fmt.Sprintf("%s:%d:%d", x.files[o.Input].Path, o.Line, o.Col), nil
}

// evaluate is what a binding of key comes to, whether it wins or not, and the recipe it is, if it is one. The error is
// that of a damaged file.
func (x *explainer) evaluate(key string, b filed, level int) (Outcome, *recipe.Recipe, error) {
	v, r, err := x.content(b.key, b.Binding)
	if damaged(err) {
		return Outcome{}, nil, err
	}
	if err != nil {
		return Outcome{Err: err}, nil, nil
	}
	if r == nil {
		return Outcome{Value{v}, true, nil}, nil, nil
	}
	o, err := x.follow(key, key, r, level)
	return o, r, err
}

// content is what b binds key to: a constant, or a recipe. The error is an *Error where that is encrypted.
func (x *explainer) content(key string, b snapshot.Binding) (v value.Value, r *recipe.Recipe, err error) {
	n, computed := b.Ref.Recipe()
	switch {
	case b.Stored.Computed && recipe.IsSealed(b.Stored.Bytes):
		r, err = x.r.snap.sealed(key, b.Stored.Bytes)
	case b.Stored.Computed:
		if r, err = recipe.Decode(b.Stored.Bytes); err != nil {
			err = &DamageError{Section: "origins", Expected: "a recipe: " + err.Error()}
		}
	case b.Hidden:
		v, _, err = value.View(b.Stored.Bytes)
	case computed:
		r, err = x.r.snap.recipe(key, n)
	default:
		if v, err = x.r.file.Value(b.Ref); err == nil {
			err = sound(v)
		}
	}
	return v, r, err
}

// follow is what a recipe of key in a level comes to, which is entered under a name.
func (x *explainer) follow(key, name string, r *recipe.Recipe, level int) (Outcome, error) {
	l := &lookup{r: x.r, total: bounds(), chain: []string{name}}
	if r.Kind == recipe.Erased {
		return Outcome{}, nil
	}
	v, found, err := l.attempt(key, r, level)
	if damaged(err) {
		return Outcome{}, err
	}
	return l.outcome(v, found, err), nil
}

// damaged tells whether err is about the file, and not about a binding.
func damaged(err error) bool {
	_, known := err.(*Error)
	return err != nil && !known
}

// contributions are those to the multibinding that e found, if it found one.
func (x *explainer) contributions(e *Explanation) ([]Candidate, error) {
	r := e.multibind
	if r == nil {
		return nil, nil
	}
	bs, err := x.r.file.Bindings(r.Name)
	if err != nil {
		return nil, err
	}
	parts, err := x.parts(r.Name, bs)
	if damaged(err) {
		return nil, err
	}
	if err != nil { // some are encrypted, and so is which contribution each is
		return nil, nil
	}
	bs = slices.DeleteFunc(bs, func(b snapshot.Binding) bool { return !b.Contribution })
	if len(bs) != len(parts) {
		return nil, &DamageError{Section: "origins", Expected: "one origin for each contribution"}
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

// parts are what the scopes among bs contribute, in the order of the contributions among them: of one scope, that of
// its parts.
func (x *explainer) parts(name string, bs []snapshot.Binding) ([]recipe.Part, error) {
	inScope := map[string][]recipe.Part{}
	scope := func(b snapshot.Binding) string { return fmt.Sprintf("%d %#v", b.Layer, b.Terms) }
	for _, b := range bs {
		if n, computed := b.Ref.Recipe(); computed {
			r, err := x.r.snap.recipe(name, n)
			if err != nil {
				return nil, err
			}
			inScope[scope(b)] = r.Parts
		}
	}
	var out []recipe.Part
	for _, b := range bs {
		if left := inScope[scope(b)]; b.Contribution && len(left) > 0 {
			out, inScope[scope(b)] = append(out, left[0]), left[1:]
		}
	}
	return out, nil
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
		if k < 0 {
			k = slices.IndexFunc(counted, func(c contributed) bool {
				return !c.outcome.declined() && c.part.Name == parts[i].Name && (c.part.Named || o.PriorityOnUnnamed)
			})
		}
		if k >= 0 && at[k] >= 0 {
			out[i].State, out[i].Why = Hidden, "hidden by "+out[at[k]].At
		}
	}
}
