package lookup

import (
	"errors"
	"io/fs"
	"iter"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"bindc/internal/legacy"
	"bindc/internal/lookupkey"
	"bindc/internal/merge"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/snapshot"
)

// LookupMerged is Lookup with a merge strategy that replaces the one in lookup_options: a name such as "unique", or a
// hash with the strategy and its options, as for Puppet's lookup(). With undef it is Lookup. Structured bindings are
// not merged with one another; where the site has Hiera 5, the strategy is applied to the value of the one that wins.
// The error is as in Lookup, or an *Error of code usage if the strategy does not exist.
func (r *Request) LookupMerged(key string, strategy Value) (Value, bool, error) {
	if isUndef(strategy) {
		return r.Lookup(key)
	}
	if r.closed.Load() {
		return Value{}, false, fs.ErrClosed
	}
	defer runtime.KeepAlive(r) // and with it the map
	s, err := strategyOf(key, strategy)
	if err != nil {
		return Value{}, false, err
	}
	if !r.snap.Hiera() {
		return r.Lookup(key)
	}
	v, found, err := r.byHiera(key, &s)
	return r.View(v), found, err
}

// isUndef reports whether a strategy is not given.
func isUndef(v Value) bool {
	c, err := v.Read()
	return err == nil && c.IsUndef()
}

// strategyOf parses the merge strategy for a lookup of key.
func strategyOf(key string, of Value) (merge.Strategy, error) {
	v, err := of.own(nil)
	if err != nil {
		return merge.Strategy{}, err
	}
	s, err := merge.Parse(v)
	if err != nil {
		return s, failed(key, CodeUsage, "'"+key+"': "+err.Error())
	}
	return s, nil
}

// byHiera looks up a key with dots or quotes, or with a strategy, by the rules of Hiera 5.
func (r *Request) byHiera(key string, s *merge.Strategy) (value.Value, bool, error) {
	l := r.start()
	if s != nil && digs(key) {
		if v, found, answered, err := l.asWritten(key); answered {
			return l.end(v, found, err)
		}
	}
	return l.end(l.hiera(key, s))
}

// asWritten looks key up in the structured bindings without splitting it at dots and quotes.
func (l *lookup) asWritten(key string) (v value.Value, found, answered bool, err error) {
	if internal(key) {
		return value.Value{}, false, false, nil
	}
	if err := l.enter(key); err != nil {
		return value.Value{}, false, true, err
	}
	defer l.leave()
	d := descent{lookup: l, key: key, behind: -1}
	d.stops = func(c snapshot.Candidate) (bool, error) {
		p, err := l.place(key, c)
		return p.Part != snapshot.NoHiera, err
	}
	v, found, err = d.run()
	return v, found, found || d.erased || err != nil, err
}

// Hiera reports whether the snapshot has data of Hiera 5.
func (s *Snapshot) Hiera() bool { return len(s.file.Hiera()) > 0 }

// digs reports whether a key without bindings may lead into a value. It asks for Hiera 5 first because that is one bit,
// and Puppet looks up an absent key for nearly every class parameter.
func (s *Snapshot) digs(key string) bool { return s.Hiera() && digs(key) }

func digs(key string) bool {
	return strings.IndexByte(key, '.') >= 0 || strings.IndexByte(key, '\'') >= 0 || strings.IndexByte(key, '"') >= 0
}

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
		return l.bound(root, true)
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
	d := descent{lookup: h.lookup, key: h.root, behind: -1, stops: h.isHiera, last: true}
	if h.r.mayFail && !lookupkey.Reserved(h.key.Text) {
		d.hierarchies = &failure{h.lookup, h.key.Root, h.strategy != nil}
	}
	v, found, err := d.run()
	switch {
	case err != nil:
		return value.Value{}, false, err
	case found: // what is structured
		if v, err = h.mergedAlone(v); err != nil {
			return value.Value{}, false, err
		}
		return h.key.Dig(v)
	case !d.at:
		return value.Value{}, false, nil
	}
	defer func() { h.structured = false }()
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

// mergedAlone returns what the caller's strategy makes of a structured value, the only candidate: 'unique' makes a list
// of a text, as Puppet does.
func (h *hieraLookup) mergedAlone(v value.Value) (value.Value, error) {
	if h.strategy == nil {
		return v, nil
	}
	v, _, err := h.strategy.Merge([]merge.Candidate{{OnlyPath: true,
		Value: func() (value.Value, bool, error) { return v, true, nil }}})
	return v, err
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
	if layer, known := l.r.snap.layers.Load(key); known && !c.Hidden {
		return layer.(int), nil
	}
	b, err := l.r.file.Binding(key, c)
	if err == nil && !c.Hidden {
		l.r.snap.layers.Store(strings.Clone(key), b.Layer)
	}
	return b.Layer, err
}

// evaluate returns the value of a candidate of root, filed under key. A recipe that does not stand alone yields
// nothing. The mark of an internal key is dropped: it means that lookup_options may make the value sensitive, which has
// not happened yet.
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

// candidate is a candidate of root, filed under key, as one to be merged.
func (l *lookup) candidate(root, key string, c placed) merge.Candidate {
	return merge.Candidate{Layer: int(c.Part), Entry: c.Entry, OnlyPath: c.OnlyPath, OnlyEntry: c.OnlyEntry,
		Value: func() (value.Value, bool, error) { return l.evaluate(root, key, c.Candidate) }}
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
	_, r, err := l.r.snap.content(key, b)
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
		return h.r.snap.constantOptions(h.recipe).For(h.key.Root, &h.total.Steps)
	}
	options, err := h.optionsOf(lookupkey.Module(h.key.Root), defaults)
	if err != nil {
		return nil, err
	}
	return options.For(h.key.Root, &h.total.Steps)
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
		if c.Part == snapshot.NoHiera || (c.Part == snapshot.HieraDefaults) != defaults {
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
	v, _, err := h.evaluate(h.root, key, c)
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
	if !l.r.snap.Hiera() {
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
func (l *lookup) Given(name string) (value.Value, error) {
	v, set := l.r.facts.lookup(name)
	if set {
		return v, nil
	}
	l.Missed(strings.TrimPrefix(name, "::"))
	if l.strictHiera() && !alwaysSet(strings.TrimPrefix(name, "::")) {
		return v, errors.New(undefined(name))
	}
	return v, nil
}

// strictHiera reports whether values of Hiera 5 must not use variables that are not set.
func (l *lookup) strictHiera() bool { return l.r.snap.opts.StrictVariables || l.r.facts.strict }

// undefined returns the message for a variable that is not set.
func undefined(name string) string {
	message := "undefined variable '" + name + "'"
	if modern := legacy.Structured(strings.TrimPrefix(name, "::")); modern != "" {
		message += "; it is a legacy fact: write %{facts." + modern + "}"
	}
	return message
}

// alwaysSet reports whether Puppet has the variable in every scope, even if it is undef there.
func alwaysSet(name string) bool {
	return name == "module_name" || name == "caller_module_name" || strings.Trim(name, "0123456789") == ""
}

// Given is a variable as a path of Hiera 5 sees it. It is part of expr.GivenEnv.
func (e categoryEnv) Given(name string) (value.Value, error) { return e.facts.given(name), nil }

// Hiera looks a key up from inside a text of Hiera 5. It is part of expr.HieraEnv. A key that is being looked up is a
// loop also where what it would find needs nothing.
func (l *lookup) Hiera(key string) (value.Value, bool, error) {
	if slices.Contains(l.chain, key) {
		return value.Value{}, false, l.enter(key)
	}
	before := l.sensitive
	l.sensitive = false
	v, found, err := l.find(key)
	// A structured value keeps its mark; a value of Hiera 5 was only decrypted. If nothing was found, a structured
	// binding has declined.
	l.marked = l.marked || l.sensitive && (!found || l.structured)
	l.sensitive = l.sensitive || before
	l.veiled = l.veiled || v.IsSensitive()
	return v, found, err
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
	if method := otherMethod(text); method != "" {
		return "", failed("", CodeEncrypted, "the value is encrypted by the method "+method+": expected PKCS7")
	}
	return "", failed("", CodeEncrypted,
		"the value is encrypted for hiera-eyaml, and no key was given; give bindq the private key with --eyaml-key FILE")
}

// otherMethod returns the method that text is encrypted by, if no key for eyaml decrypts it: GPG of 'ENC[GPG,...]'.
func otherMethod(text string) string {
	_, token, _ := strings.Cut(text, "ENC[")
	token, _, _ = strings.Cut(token, "]")
	method, _, named := strings.Cut(token, ",")
	if !named || strings.EqualFold(method, "PKCS7") {
		return ""
	}
	return method
}
