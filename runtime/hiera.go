package runtime

import (
	"io/fs"
	"iter"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"bindc/internal/lookupkey"
	"bindc/internal/merge"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/snapshot"
)

// LookupMerged is Lookup with a merge strategy in place of what lookup_options say: a name, as "unique", or a hash with
// the strategy and its options, as Puppet's lookup() takes it; undef is Lookup. What is structured is found as it is.
// The error is that of Lookup, or an *Error with the code usage where there is no such strategy.
func (r *Request) LookupMerged(key string, strategy Value) (Value, bool, error) {
	if strategy.IsUndef() || !r.snap.hiera() {
		return r.Lookup(key)
	}
	if r.closed.Load() {
		return Value{}, false, fs.ErrClosed
	}
	defer runtime.KeepAlive(r) // and with it the map
	s, err := merge.Parse(strategy.get())
	if err != nil {
		return Value{}, false, failed(key, CodeUsage, "'"+key+"': "+err.Error())
	}
	return r.byHiera(key, &s)
}

// byHiera is a lookup by the rules of Hiera 5, of a key with dots or quotes, or with a strategy.
func (r *Request) byHiera(key string, s *merge.Strategy) (Value, bool, error) {
	l := lookups.Get().(*lookup)
	l.r, l.total = r, bounds()
	var v value.Value
	var found bool
	err := l.fails(key, true) // where none is told, nothing fails: see Lookup
	switch {
	case err != nil:
	case s != nil && digs(key) && l.isStructured(key):
		v, found, err = l.bound(key)
	default:
		v, found, err = l.hiera(key, s)
	}
	return l.end(v, found, err)
}

// isStructured tells whether something structured answers key as it is written, though it has dots or quotes.
func (l *lookup) isStructured(key string) bool {
	part, bound, _ := l.highestOf(key)
	return bound && part == snapshot.NoHiera
}

// hiera tells whether something in the snapshot is of Hiera 5.
func (s *Snapshot) hiera() bool { return len(s.file.Hiera()) > 0 }

// digs tells whether a key that nothing is bound to may lead into a value.
func digs(key string) bool { return strings.ContainsAny(key, `.'"`) }

// hiera answers key, which may dig, by the rules of Hiera 5. nil is the strategy of lookup_options.
func (l *lookup) hiera(key string, s *merge.Strategy) (value.Value, bool, error) {
	if lookupkey.Reserved(key) {
		return value.Value{}, false, nil
	}
	k, err := lookupkey.Parse(key)
	if err != nil {
		return value.Value{}, false, failed(key, CodeEvaluation, err.Error())
	}
	if internal(k.Root) {
		return value.Value{}, false, nil
	}
	root, _ := lookupkey.Quoted(k.Root) // which was parsed, and has not quotes of both kinds
	if k.Root == "lookup_options" {     // in quotes: then it is a key as any other
		root = recipe.LookupOptionsKey
	}
	if len(k.Path) == 0 && s == nil && !internal(root) {
		return l.bound(root)
	}
	if err := l.enter(key); err != nil { // as Puppet does: a.b may need a.c, though both take a apart
		return value.Value{}, false, err
	}
	defer l.leave()
	h := hieraLookup{lookup: l, root: root, key: k, strategy: s}
	v, found, err := h.answer()
	if err != nil {
		err = l.explain(key, err)
	}
	return v, found, err
}

// hieraLookup is a lookup of one key by the rules of Hiera 5.
type hieraLookup struct {
	*lookup
	root     string // as it is bound
	key      lookupkey.Key
	strategy *merge.Strategy // nil: that of lookup_options
	from     int             // the first level that counts
	recipe   *recipe.Recipe  // of the key, where lookup_options touch it

	levelsAt map[*merge.Level]optionsAt // noted where somebody asks why
}

// answer looks up, digs and converts. Where nothing is found default_hierarchy is asked.
func (h *hieraLookup) answer() (value.Value, bool, error) {
	d := descent{lookup: h.lookup, key: h.root, behind: -1, stops: h.isHiera}
	v, found, err := d.run()
	switch {
	case err != nil:
		return value.Value{}, false, err
	case found: // what is structured
		return h.key.Dig(v)
	case !d.at:
		return value.Value{}, false, nil
	}
	entry, err := h.options(false)
	if err != nil {
		return value.Value{}, false, err
	}
	v, found, err = h.part(&d, entry, false)
	if err == nil && !found {
		v, found, err = h.defaults(&d)
	}
	if err != nil || !found {
		return value.Value{}, false, err
	}
	v, err = entry.Convert(v, h.lookup.options())
	return v, true, err
}

// isHiera tells whether a candidate of the key is of Hiera 5, and notes the recipe that merges it.
func (h *hieraLookup) isHiera(c snapshot.Candidate) (bool, error) {
	p, err := h.place(h.root, c)
	if err != nil || p.Part == snapshot.NoHiera {
		return false, err
	}
	if n, computed := c.Ref.Recipe(); computed {
		r, err := h.r.snap.recipe(h.root, n)
		if err != nil {
			return false, err
		}
		if r.Kind == recipe.Merged {
			h.recipe = r
		}
	}
	return true, nil
}

// placed is a candidate, and where it stands in the hierarchies.
type placed struct {
	snapshot.Candidate
	snapshot.HieraPlace
	layer int
}

// placed ranges over the candidates of key that are effective, highest first. Who gets an error stops.
func (l *lookup) placed(key string) iter.Seq2[placed, error] {
	return func(yield func(placed, error) bool) {
		for c, err := range l.r.file.Candidates(key, l.r.numbers, &l.r.scopes) {
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

// place is where a candidate of key stands in the hierarchies.
func (l *lookup) place(key string, c snapshot.Candidate) (snapshot.HieraPlace, error) {
	layer, err := l.layer(key, c)
	return l.r.file.Hiera()[layer], err
}

// layer is the number of the layer that has a candidate of key.
func (l *lookup) layer(key string, c snapshot.Candidate) (int, error) {
	if c.Level >= 0 {
		return l.r.file.Level(c.Level).Layer, nil
	}
	b, err := l.r.file.Binding(key, c)
	return b.Layer, err
}

// evaluate is the value of a candidate of root, filed under key. What lookup_options may make sensitive is kept as if
// it were: here it is not yet.
func (l *lookup) evaluate(root, key string, c snapshot.Candidate) (value.Value, error) {
	x := explainer{r: l.r}
	v, r, err := x.content(key, snapshot.Binding{Ref: c.Ref, Hidden: c.Hidden, Stored: c.Stored})
	if r == nil {
		return v, err
	}
	if r.Kind == recipe.Merged { // which would be what it is merged of
		return value.Value{}, &DamageError{Section: "recipes",
			Expected: "a value of '" + root + "' that is no merge itself"}
	}
	if r.Sensitive && internal(key) {
		open := *r
		open.Sensitive = false
		r = &open
	}
	return l.follow(root, r)
}

// candidate is a candidate of root, filed under key, as one to be merged.
func (l *lookup) candidate(root, key string, c placed) merge.Candidate {
	return merge.Candidate{Layer: int(c.Part), Entry: c.Entry, OnlyPath: c.OnlyPath, OnlyEntry: c.OnlyEntry,
		Value: func() (value.Value, bool, error) {
			v, err := l.evaluate(root, key, c.Candidate)
			return v, true, err
		}}
}

// merged puts the candidates of the hierarchies together, or those of default_hierarchy.
func (h *hieraLookup) merged(entry *merge.Entry, defaults bool) (value.Value, bool, error) {
	strategy, err := entry.Strategy()
	asked := h.strategy != nil && !defaults
	if asked {
		strategy, err = *h.strategy, nil
	}
	if err != nil {
		return value.Value{}, false, err
	}
	of, again := mergeOf{h.root, h.key.Root, defaults, h.from}, !asked && !strategy.First()
	if again {
		if v, ok := h.r.merges.get(of); ok {
			return v, true, nil
		}
	}
	last, err := h.renamed()
	if err != nil {
		return value.Value{}, false, err
	}
	candidates, constant, err := h.candidates(recipe.MergeKey(h.root), last, defaults)
	if err == nil && len(candidates) == 0 {
		candidates, constant, err = h.candidates(h.root, last, defaults)
	}
	if err != nil {
		return value.Value{}, false, err
	}
	merge := strategy.Merge
	if defaults {
		merge = strategy.MergeDefaults
	}
	v, found, err := merge(candidates)
	if again && constant && found && err == nil {
		h.r.merges.keep(of, v)
	}
	return v, found, err
}

// renamed is the layer from which on down the root has another name; one behind all, if there is none.
func (h *hieraLookup) renamed() (layer int, err error) {
	if !h.r.file.ARM8() {
		return math.MaxInt, nil
	}
	for c, err := range h.placed(h.root) {
		if err != nil {
			return 0, err
		}
		if c.Part != snapshot.NoHiera || c.Level < h.from { // no binding of what is renamed hides all, at level -1
			continue
		}
		b := snapshot.Binding{Ref: c.Ref, Hidden: c.Hidden, Stored: c.Stored}
		if is, err := h.erases(h.root, b); is || err != nil {
			return c.layer, err
		}
	}
	return math.MaxInt, nil
}

// erases tells whether a binding of key says that it has another name from there on down.
func (l *lookup) erases(key string, b snapshot.Binding) (bool, error) {
	x := explainer{r: l.r}
	_, r, err := x.content(key, b)
	return r != nil && r.Kind == recipe.Erased, err
}

// candidates are those under a key, of the hierarchies or of default_hierarchy, down to a layer; constant, if all are.
func (h *hieraLookup) candidates(key string, last int, defaults bool) (out []merge.Candidate, constant bool,
	err error) {
	constant = true
	for c, err := range h.placed(key) {
		if err != nil {
			return nil, false, err
		}
		if c.Part == snapshot.NoHiera || (c.Part == snapshot.HieraDefaults) != defaults ||
			c.Level >= 0 && c.Level < h.from || c.layer > last {
			continue
		}
		_, computed := c.Ref.Recipe()
		constant = constant && !computed && !c.Hidden
		out = append(out, h.candidate(h.root, key, c))
	}
	return out, constant, nil
}

// part is what the key leads to in the hierarchies, or in default_hierarchy, behind the rebindings that stand above it.
func (h *hieraLookup) part(above *descent, entry *merge.Entry, defaults bool) (value.Value, bool, error) {
	v, found, err := h.merged(entry, defaults)
	if err == nil && found {
		v, found, err = above.rebound(v)
	}
	if err != nil || !found {
		return value.Value{}, false, err
	}
	return h.key.Dig(v)
}

// defaults is part of default_hierarchy, by its own lookup_options.
func (h *hieraLookup) defaults(above *descent) (value.Value, bool, error) {
	entry, err := h.options(true)
	if err != nil {
		return value.Value{}, false, err
	}
	return h.part(above, entry, true)
}

// options are the lookup options of the key, nil if there are none.
func (h *hieraLookup) options(defaults bool) (*merge.Entry, error) {
	if h.recipe == nil && !defaults && h.root != recipe.LookupOptionsKey { // of which they may say something, too
		return nil, nil
	}
	if h.recipe != nil && !defaults && !h.recipe.Value.IsUndef() {
		return h.r.snap.constantOptions(h.recipe).For(h.key.Root), nil
	}
	options, err := h.optionsOf(lookupkey.Module(h.key.Root), defaults)
	return options.For(h.key.Root), err
}

// optionsOf are the lookup options for the keys of a module, "" being none.
func (h *hieraLookup) optionsOf(module string, defaults bool) (merge.Options, error) {
	var levels [][]*merge.Level
	if !defaults {
		found, err := h.levels(recipe.LookupOptionsKey, "", false)
		if err != nil {
			return merge.Options{}, err
		}
		levels = found
	}
	if module != "" {
		found, err := h.levels(recipe.LookupOptionsKey+" "+module, module, defaults)
		if err != nil {
			return merge.Options{}, err
		}
		levels = append(levels, found...)
	}
	return merge.Combine(levels...)
}

// levels are the lookup_options under an internal key that are effective, part by part, highest first.
func (h *hieraLookup) levels(key, module string, defaults bool) ([][]*merge.Level, error) {
	var out [][]*merge.Level
	last := snapshot.NoHiera
	for c, err := range h.placed(key) {
		if err != nil {
			return nil, err
		}
		if (c.Part == snapshot.HieraDefaults) != defaults {
			continue
		}
		level, err := h.level(key, c.Candidate, module)
		if err != nil {
			return nil, err
		}
		if h.levelsAt != nil {
			h.levelsAt[level] = optionsAt{key, c.Candidate}
		}
		if c.Part != last {
			out, last = append(out, nil), c.Part
		}
		out[len(out)-1] = append(out[len(out)-1], level)
	}
	return out, nil
}

// level is one value of lookup_options, compiled. A constant one is compiled once.
func (h *hieraLookup) level(key string, c snapshot.Candidate, module string) (*merge.Level, error) {
	_, computed := c.Ref.Recipe()
	if !computed {
		if level, ok := h.r.snap.levels.Load(c.Ref); ok {
			return level.(*merge.Level), nil
		}
	}
	v, err := h.evaluate(h.root, key, c)
	if err != nil {
		return nil, err
	}
	level, err := merge.Compile(v, module)
	if err == nil && !computed {
		h.r.snap.levels.Store(c.Ref, level)
	}
	return level, err
}

// constantOptions are the lookup options in a recipe, which are the same in every request.
func (s *Snapshot) constantOptions(r *recipe.Recipe) merge.Options {
	if o, ok := s.levels.Load(r); ok {
		return o.(merge.Options)
	}
	level, _ := merge.Compile(r.Value, "")
	if level == nil {
		return merge.Options{}
	}
	o, _ := merge.Combine([]*merge.Level{level})
	s.levels.Store(r, o)
	return o
}

// compiledOptions are lookup options that were compiled, by what they are compiled from.
type compiledOptions = sync.Map

// merge is what a recipe of kind Merged comes to, which key is bound to, from a level on.
func (l *lookup) merge(key string, r *recipe.Recipe, from int) (value.Value, error) {
	if !l.r.snap.hiera() {
		return value.Value{}, &DamageError{Section: "recipes",
			Expected: "nothing that merges in a file without Hiera 5"}
	}
	k, err := lookupkey.Parse(key)
	if err != nil {
		return value.Value{}, err
	}
	h := hieraLookup{lookup: l, root: key, key: k, recipe: r, from: from}
	entry, err := h.options(false)
	if err != nil {
		return value.Value{}, err
	}
	v, found, err := h.merged(entry, false)
	if err == nil && !found {
		v, _, err = h.defaults(&descent{lookup: l, key: key})
	}
	if err != nil {
		return value.Value{}, err
	}
	return entry.Convert(v, l.options())
}

// Given is a variable as data of Hiera 5 sees it. It is part of expr.GivenEnv.
func (l *lookup) Given(name string) value.Value { return l.r.facts.given(name) }

// Given is a variable as a path of Hiera 5 sees it. It is part of expr.GivenEnv.
func (e categoryEnv) Given(name string) value.Value { return e.facts.given(name) }

// Hiera looks a key up from inside a text of Hiera 5. It is part of expr.HieraEnv. A key that is being looked up is a
// loop also where what it would find needs nothing.
func (l *lookup) Hiera(key string) (value.Value, bool, error) {
	if slices.Contains(l.chain, key) {
		return value.Value{}, false, l.enter(key)
	}
	before := l.sensitive
	l.sensitive = false
	v, found, err := l.find(key)
	if l.sensitive {
		l.noteMarked(key)
	}
	l.sensitive = l.sensitive || before
	l.veiled = l.veiled || v.IsSensitive()
	return v, found, err
}

// noteMarked notes where key is structured that what is sensitive was marked so, and not only decrypted. Where nothing
// is bound that was what declines, which is structured; where that cannot be told, it is.
func (l *lookup) noteMarked(key string) {
	part, _, _ := l.highest(key)
	l.marked = l.marked || part == snapshot.NoHiera
}

// Decrypt is what eyaml has encrypted in text. It is part of expr.HieraEnv.
func (l *lookup) Decrypt(text string) (string, error) {
	l.sensitive = true
	if decrypt := l.r.snap.opts.Decrypt; decrypt != nil {
		plain, err := decrypt(text)
		if err != nil { // which says nothing of what was encrypted
			failure := failed("", CodeEncrypted, err.Error())
			failure.Err = err
			return "", failure
		}
		return plain, nil
	}
	return "", failed("", CodeEncrypted, "the value is encrypted for hiera-eyaml, and no key was given")
}
