package compile

import (
	"cmp"
	"encoding/binary"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"bindc/internal/diag"
	"bindc/internal/relation"
	"bindc/loader"
	"bindc/snapshot"
)

// levelKey is a layer and the shape of a condition; requests are in one scope of it at most.
type levelKey struct{ layer, shape int }

type level struct {
	rank   int
	scopes []snapshot.Scope
}

// noRank is below all ranks.
const noRank = math.MaxInt

// check answers what there is a question about: whether bindings conflict, keep what abstract and override promise, fit
// their multibinding, or need themselves.
func (c *composer) check() {
	doubtful, loops := c.doubtful(), c.newLoopFinder()
	keys := maps.Clone(doubtful)
	c.addCollecting(keys)
	c.addRebound(keys)
	loops.addKeys(keys)
	c.indexes = c.indexesOf(keys)
	for _, key := range slices.Sorted(maps.Keys(doubtful)) {
		c.indexes[key].checkConflicts()
		c.indexes[key].checkKinds()
		c.indexes[key].checkTypes()
	}
	c.checkMultibinds()
	c.checkRebound()
	c.warnOfDeadLookups(loops.needy)
	loops.find()
	c.checkHieraLookups()
	c.warnOfForeign()
	c.checkMerges()
	c.checkEffort()
}

// findFloors finds the highest unconditional binding of every key. It hides everything below.
func (c *composer) findFloors() {
	c.floors, c.defaults = make([]int, len(c.names)), make([]int, len(c.names))
	for key := range c.names {
		c.floors[key], c.defaults[key] = noRank, -1
	}
	for i := range c.scopes {
		s := &c.scopes[i]
		if s.condition != 0 {
			continue
		}
		for key, value := range c.members(s) {
			if n := c.inNames[key]; s.rank < c.floors[n] && !collected(c.keys[key]) && c.hidesAll(key, value) {
				c.floors[n], c.defaults[n] = s.rank, int(c.inStored[c.shown(s.layer, key, value)]-1)
			}
		}
	}
}

// fillLevels enters into the index what can win.
func (c *composer) fillLevels() {
	c.levels = map[levelKey]*level{}
	var f filler
	for i := range c.scopes {
		s := &c.scopes[i]
		entries, origins := f.entries(c, s)
		c.outsideHidden(s)
		if len(entries) == 0 {
			continue
		}
		key := levelKey{s.layer, c.shapeOf[s.condition]}
		if c.levels[key] == nil {
			c.levels[key] = &level{rank: s.rank}
		}
		values := make([]string, len(c.site.Conditions[s.condition]))
		for i, t := range c.site.Conditions[s.condition] {
			values[i] = t.Value
		}
		c.levels[key].scopes = append(c.levels[key].scopes, snapshot.Scope{Values: values, Entries: entries,
			Origins: origins})
	}
}

// filler makes the entries of scopes, one after the other.
type filler struct {
	sorted  []uint64 // the number of a key, and in the lower half the place of its value in values
	values  []uint32
	origins []snapshot.Origin
}

// entries is what goes into the index of s: sorted by key, and where each is written. Two kinds of bindings stay out,
// and are noted for reports: those that an unconditional binding always hides, and of two that bind one key the second.
// (Those two are a conflict, unless something higher hides both, and then no lookup sees either.)
func (f *filler) entries(c *composer, s *scope) ([]snapshot.Entry, []snapshot.Origin) {
	f.sorted, f.values, f.origins = f.sorted[:0], f.values[:0], f.origins[:0]
	c.each(s, func(key, value uint32, at snapshot.Origin) {
		n := c.inNames[key]
		if m, ok := c.mergedIn(s.layer, key); ok {
			f.add(c.inNames[m.key], c.inStored[m.kept(value)]-1, at)
		}
		value = c.shown(s.layer, key, value)
		if s.rank >= c.floors[n] {
			c.outside(s, n, c.inStored[value]-1, at)
			return
		}
		f.add(n, c.inStored[value]-1, at)
	})
	slices.Sort(f.sorted)
	size := len(s.contributions) + len(f.sorted)
	entries, origins := make([]snapshot.Entry, 0, size), make([]snapshot.Origin, 0, size)
	// They are sorted too; of Hiera 5, which has NUL bytes in front too, none is here.
	entries = append(entries, s.contributions...)
	origins = append(origins, make([]snapshot.Origin, len(s.contributions))...)
	for _, packed := range f.sorted {
		e, at := snapshot.Entry{Key: uint32(packed >> 32), Value: f.values[uint32(packed)]}, f.origins[uint32(packed)]
		if n := len(entries); n > 0 && entries[n-1].Key == e.Key {
			c.outside(s, e.Key, e.Value, at)
			continue
		}
		entries, origins = append(entries, e), append(origins, at)
	}
	return entries, origins
}

// add notes an entry.
func (f *filler) add(key, value uint32, at snapshot.Origin) {
	f.sorted = append(f.sorted, uint64(key)<<32|uint64(len(f.values)))
	f.values, f.origins = append(f.values, value), append(f.origins, at)
}

// doubtful finds the keys of which candidates have to be compared one by one. Two of equal rank can only be effective
// together in one scope, or in scopes of different shapes: conditions of one shape that differ never hold together.
func (c *composer) doubtful() map[uint32]bool {
	out := map[uint32]bool{}
	seen := make([]int, len(c.names)) // the last scope that had the key, plus one
	mixed := c.mixedRanks()
	for i := range c.scopes {
		s := &c.scopes[i]
		shapes, isMixed := mixed[s.rank]
		if len(s.members) == 1 && s.members[0].binding == nil && !isMixed {
			continue // a file has no key twice
		}
		for key, _ := range c.members(s) {
			n := c.inNames[key]
			if s.rank > c.floors[n] {
				continue
			}
			if seen[n] == i+1 {
				out[n] = true
			}
			seen[n] = i + 1
			if !isMixed {
				continue
			}
			shape := c.shapeOf[s.condition]
			if other, ok := shapes[n]; ok && other != shape {
				out[n] = true
			}
			shapes[n] = shape
		}
		c.addKinds(out, s)
	}
	return out
}

// mixedRanks are the ranks of scopes of several shapes, each with an empty map from keys to shapes.
func (c *composer) mixedRanks() map[int]map[uint32]int {
	first, out := map[int]int{}, map[int]map[uint32]int{}
	for _, s := range c.scopes {
		shape, ok := first[s.rank]
		switch {
		case !ok:
			first[s.rank] = c.shapeOf[s.condition]
		case shape != c.shapeOf[s.condition] && out[s.rank] == nil:
			out[s.rank] = map[uint32]int{}
		}
	}
	return out
}

// addKinds adds the keys that are bound abstract or override.
func (c *composer) addKinds(keys map[uint32]bool, s *scope) {
	for _, m := range s.members {
		if m.binding != nil && m.binding.More != nil && (m.binding.More.Abstract || m.binding.More.Override) {
			keys[c.inNames[m.key]] = true
		}
	}
}

// indexesOf lists all candidates of some keys, highest rank first.
func (c *composer) indexesOf(keys map[uint32]bool) map[uint32]*keyIndex {
	out := make(map[uint32]*keyIndex, len(keys))
	for key := range keys {
		out[key] = &keyIndex{composer: c, name: c.names[key]}
	}
	for i := range c.scopes {
		if len(keys) > 0 {
			c.addCandidates(out, &c.scopes[i])
		}
	}
	for _, k := range out {
		slices.SortFunc(k.all, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.place, b.place),
				cmp.Compare(a.condition, b.condition))
		})
	}
	return out
}

// addCandidates adds to the indexes what s binds of their keys, as lookups find it.
func (c *composer) addCandidates(indexes map[uint32]*keyIndex, s *scope) {
	for _, m := range s.members {
		cand := candidate{binding: m.binding, file: m.file, layer: s.layer, condition: s.condition, rank: s.rank,
			place: m.place, value: m.value}
		if m.binding != nil {
			indexes[c.inNames[m.key]].add(cand, c.inNames[m.key])
			continue
		}
		for i, e := range m.file.Entries {
			cand.entry, cand.place, cand.value = i, m.place+i, c.shown(s.layer, e.Key, e.Value)
			indexes[c.inNames[e.Key]].add(cand, c.inNames[e.Key])
		}
	}
}

// add is for keys that have an index.
func (k *keyIndex) add(cand candidate, key uint32) {
	if k != nil {
		cand.key = key
		k.all = append(k.all, cand)
	}
}

func dimsOf(c loader.Condition) []int {
	out := make([]int, len(c))
	for i, t := range c {
		out[i] = t.Dimension
	}
	return out
}

func appendDim(dst []byte, dim int) []byte { return binary.AppendUvarint(dst, uint64(dim)) }

func appendDims(dst []byte, dims []int) []byte {
	for _, d := range dims {
		dst = appendDim(dst, d)
	}
	return dst
}

// appendLevels writes the levels in order of precedence, their scopes sorted by value, and returns their ranks.
func (c *composer) appendLevels(out *snapshot.Content) (ranks []int) {
	keys := slices.Collect(maps.Keys(c.levels))
	dims := func(k levelKey) string { return string(appendDims(nil, c.shapes[k.shape].dims)) }
	slices.SortFunc(keys, func(a, b levelKey) int {
		return cmp.Or(cmp.Compare(c.levels[a].rank, c.levels[b].rank), strings.Compare(dims(a), dims(b)))
	})
	for _, k := range keys {
		l := c.levels[k]
		slices.SortFunc(l.scopes, func(a, b snapshot.Scope) int { return slices.Compare(a.Values, b.Values) })
		out.Levels = append(out.Levels, snapshot.Level{Layer: k.layer, Entry: c.site.Layers[k.layer].Entry,
			Dimensions: c.shapes[k.shape].dims, Scopes: l.scopes})
		ranks = append(ranks, l.rank)
	}
	return ranks
}

// keyIndex answers, for one key, which of its candidates can be effective together. It is built as far as it is asked.
type keyIndex struct {
	*composer
	name   string
	all    []candidate // highest rank first
	groups []*group
}

// group is the candidates whose settled conditions name the same dimensions.
type group struct {
	dims    []int
	members []indexed
	by      map[string]map[string][]int
}

// indexed is a candidate, by its place in all, and its settled condition.
type indexed struct {
	candidate int
	terms     loader.Condition
}

func (k *keyIndex) terms(i int) loader.Condition { return k.site.Conditions[k.all[i].condition] }

func (k *keyIndex) group() []*group {
	if k.groups != nil {
		return k.groups
	}
	byDims := map[string]*group{}
	for i := range k.all {
		terms := k.relations.SettledOf(k.all[i].condition, k.terms(i))
		dims := dimsOf(terms)
		key := string(appendDims(nil, dims))
		g := byDims[key]
		if g == nil {
			g = &group{dims: dims, by: map[string]map[string][]int{}}
			byDims[key] = g
			k.groups = append(k.groups, g)
		}
		g.members = append(g.members, indexed{i, terms})
	}
	return k.groups
}

// compatible ranges over the candidates above rank that can be effective together with terms.
func (k *keyIndex) compatible(terms loader.Condition, rank int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for list := range k.near(terms, false) {
			for _, i := range list {
				if k.all[i].rank >= rank || !k.effort.spend(1) {
					break
				}
				if k.relations.Together(terms, k.terms(i)) && !yield(i) {
					return
				}
			}
		}
	}
}

// implied ranges over the candidates above rank that are effective whenever terms hold.
func (k *keyIndex) implied(terms loader.Condition, rank int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for list := range k.near(terms, true) {
			for _, i := range list {
				if k.all[i].rank >= rank || !k.effort.spend(1) {
					break
				}
				if k.relations.Implies(terms, k.terms(i)) && !yield(i) {
					return
				}
			}
		}
	}
}

// near ranges over the candidates that have the same values as terms where both name a dimension; with implied, over
// those of them that name no others. They come in lists, each with the highest rank first.
func (k *keyIndex) near(terms loader.Condition, implied bool) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		terms := k.relations.Settled(terms)
		for _, g := range k.group() {
			if !k.effort.spend(len(g.dims) + 1) {
				return
			}
			shared := sharedDims(g.dims, terms)
			other := func(d int) bool { return !slices.Contains(shared, d) && !k.relations.IsOpen(d) }
			if implied && slices.ContainsFunc(g.dims, other) {
				continue
			}
			if list := k.project(g, shared)[projection(terms, shared)]; len(list) > 0 && !yield(list) {
				return
			}
		}
	}
}

// project indexes a group by the values its members have for some of its dimensions.
func (k *keyIndex) project(g *group, shared []int) map[string][]int {
	key := string(appendDims(nil, shared))
	m := g.by[key]
	if m == nil {
		if !k.effort.spend(4 * len(g.members)) {
			return nil
		}
		m = map[string][]int{}
		for _, c := range g.members {
			p := projection(c.terms, shared)
			m[p] = append(m[p], c.candidate)
		}
		g.by[key] = m
	}
	return m
}

func sharedDims(dims []int, terms loader.Condition) []int {
	var out []int
	for _, t := range terms {
		if slices.Contains(dims, t.Dimension) {
			out = append(out, t.Dimension)
		}
	}
	return out
}

func projection(terms loader.Condition, dims []int) string {
	var b strings.Builder
	for _, t := range terms {
		if slices.Contains(dims, t.Dimension) {
			b.WriteString(t.Value)
			b.WriteByte(0)
		}
	}
	return b.String()
}

// hidden tells whether a candidate above rank is effective whenever terms hold, so that nobody comes to what is below.
// By a new name one comes in behind the rename: what hides has to be below it.
func (k *keyIndex) hidden(rank int, terms loader.Condition) bool {
	from := k.erasedAbove(rank, terms)
	for j := range k.implied(terms, rank) {
		if k.all[j].rank > from && k.all[j].final() {
			return true
		}
	}
	return false
}

// erasedAbove is the lowest rank above rank at which the key may be renamed where terms hold; -1 if there is none.
func (k *keyIndex) erasedAbove(rank int, terms loader.Condition) int {
	out := -1
	if !k.isRenamed(k.all[0].key) {
		return out
	}
	for j := range k.compatible(terms, rank) {
		if k.all[j].erases() {
			out = max(out, k.all[j].rank)
		}
	}
	return out
}

// neverWins tells whether candidate i is never effective, or something above it is whenever it is.
func (k *keyIndex) neverWins(i int) bool {
	return !k.relations.Possible(k.terms(i)) || k.hidden(k.all[i].rank, k.terms(i))
}

// checkConflicts reports the pairs of equal rank that can be effective together, unless something hides them. What is
// below the floor is hidden.
func (k *keyIndex) checkConflicts() {
	for from := 0; from < len(k.all) && k.all[from].rank <= k.floors[k.all[from].key]; {
		to := from + 1
		for to < len(k.all) && k.all[to].rank == k.all[from].rank {
			to++
		}
		if to-from > 1 {
			k.checkRank(from, to)
		}
		from = to
	}
}

// checkRank compares the conditions of one rank, each once however many candidates it has.
func (k *keyIndex) checkRank(from, to int) {
	under := map[int][]int{} // candidates by condition, in the order of their places
	for i := from; i < to; i++ {
		under[k.all[i].condition] = append(under[k.all[i].condition], i)
	}
	first := map[int]bool{} // the candidates that are the first of their condition
	for _, list := range under {
		first[list[0]] = true
		slices.SortStableFunc(list, func(i, j int) int { return k.all[i].pos().Compare(k.all[j].pos()) })
	}
	for i := from; i < to; i++ {
		if !first[i] {
			continue
		}
		for j := range k.compatible(k.terms(i), k.all[i].rank+1) {
			if j < i || !first[j] || !k.effort.spend(8) {
				continue
			}
			as, bs := under[k.all[i].condition], under[k.all[j].condition]
			both := relation.Union(k.terms(i), k.terms(j))
			if k.anyErases(as) || k.anyErases(bs) || !k.hidden(k.all[i].rank, both) {
				k.conflicts(as, bs, both)
			}
		}
	}
}

// anyErases tells whether one of some candidates is a rename: then what is below it would not be known.
func (k *keyIndex) anyErases(list []int) bool {
	return slices.ContainsFunc(list, func(i int) bool { return k.all[i].erases() })
}

// conflicts reports each candidate of two conditions that is in conflict with a later one of the other condition, with
// the last such.
func (k *keyIndex) conflicts(as, bs []int, both loader.Condition) {
	report := func(list []int, last int) {
		for _, i := range list {
			if k.all[i].pos().Compare(k.all[last].pos()) < 0 && k.effort.spend(1) {
				k.conflict(&k.all[i], &k.all[last], both)
			}
		}
	}
	report(as, bs[len(bs)-1])
	report(bs, as[len(as)-1])
}

func (k *keyIndex) conflict(a, b *candidate, both loader.Condition) {
	d := diag.Diagnostic{Pos: a.pos(), Code: "conflict",
		Message: "'" + k.name + "' is bound twice with the same precedence" + k.describe(both) + k.inLayer(a.layer),
		Notes:   append([]diag.Note{{Pos: b.pos(), Message: "also bound here"}}, k.doubts(a, both)...),
		Hint:    "bind '" + k.name + "' once in a higher layer or under a narrower condition, or remove one of the two"}
	if id := cmp.Or(a.collects(), b.collects()); id != "" {
		d.Hint = contributeHint(id) + "; a binding that beats the multibinding hides it, and all contributions"
	}
	if k.renames(a) || k.renames(b) {
		d.Message = "'" + k.name + "' is renamed, and bound or renamed again with the same precedence" + k.describe(both) +
			k.inLayer(a.layer)
		d.Notes[0].Message = "also bound or renamed here"
		d.Hint = "have the rename in a higher layer or under a narrower condition than what it is about"
	}
	k.report(d)
}

// renames tells whether c gives the key another name.
func (k *keyIndex) renames(c *candidate) bool {
	return c.erases() || c.binding != nil && c.binding.Key != k.name
}

// doubts says which dimensions could not be compared, of a conflict that might be none.
func (k *keyIndex) doubts(a *candidate, both loader.Condition) []diag.Note {
	computed, other, ok := k.relations.Undecided(both)
	for i := range k.compatible(both, a.rank) {
		if ok {
			break
		}
		computed, other, ok = k.relations.Undecided(relation.Union(both, k.terms(i)))
	}
	if !ok {
		return nil
	}
	name := func(d int) string { return "'" + k.site.Dimensions[d].Name + "'" }
	at := k.site.Dimensions[computed].Pos
	if at.File == "" {
		at = a.pos()
	}
	return []diag.Note{{Pos: at, Message: name(computed) + " and " + name(other) +
		" depend on the same variable, but " + name(computed) +
		" is computed by an expression: whether they exclude or imply one another is not known"}}
}

// inLayer is a layer in words; a site of one layer does not name it.
func (c *composer) inLayer(n int) string {
	switch name := c.site.Layers[n].Name; {
	case name != "":
		return " in layer '" + name + "'"
	case len(c.site.Layers) > 1:
		return " in layer " + strconv.Itoa(n+1)
	}
	return ""
}

// describe is a condition in words: " where environment is production".
func (c *composer) describe(terms loader.Condition) string {
	var parts []string
	for _, t := range terms {
		if c.relations.IsNamed(t.Dimension) {
			parts = append(parts, c.site.Dimensions[t.Dimension].Name+" is '"+t.Value+"'")
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " where " + strings.Join(parts, " and ")
}

// checkKinds holds abstract and override bindings to what they promise. The alternatives of one are judged together,
// and not at all where something higher hides every one of them.
func (k *keyIndex) checkKinds() {
	alternatives := map[int][]int{} // by place
	wins := map[int]bool{}
	var places []int // of those that are not always hidden
	for i := range k.all {
		more := k.all[i].more()
		if more == nil || !more.Abstract && !more.Override {
			continue
		}
		place := k.all[i].place
		alternatives[place] = append(alternatives[place], i)
		if !wins[place] && !k.neverWins(i) {
			wins[place] = true
			places = append(places, place)
		}
	}
	for _, place := range places {
		more := k.all[alternatives[place][0]].more()
		if more.Abstract {
			k.checkAbstract(alternatives[place])
		}
		if more.Override {
			k.checkOverride(alternatives[place])
		}
	}
}

// checkAbstract: something concrete must beat the binding. What beats it always would hide it, and it is not hidden.
func (k *keyIndex) checkAbstract(alternatives []int) {
	first := alternatives[0]
	at := k.all[first].pos()
	for _, i := range alternatives {
		for j := range k.compatible(k.terms(i), k.all[i].rank) {
			other := &k.all[j]
			if other.final() && (other.more() == nil || !other.more().Abstract) {
				k.report(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "abstract",
					Message: "the abstract binding of '" + k.name +
						"' is bound only under some conditions; in other requests a lookup is an error",
					Notes: []diag.Note{{Pos: other.pos(), Message: "bound here" + k.describe(k.terms(j))}}})
				return
			}
		}
	}
	k.report(diag.Diagnostic{Pos: at, Code: "abstract",
		Message: "'" + k.name + "' is abstract" + k.describe(k.terms(first)) +
			" and nothing of higher precedence binds it",
		Hint: "bind '" + k.name + "' in a higher layer or under a condition of higher precedence"})
}

// checkOverride: the binding must beat something, in its own layer or below. Where it is only beaten itself, by
// something of its own layer that is not always effective, that is worth a warning.
func (k *keyIndex) checkOverride(alternatives []int) {
	first := alternatives[0]
	at := k.all[first].pos()
	beaten, rival, always := -1, -1, true
	for _, i := range alternatives {
		if k.neverWins(i) {
			continue
		}
		below, beside, all := k.overridden(i)
		beaten, rival, always = max(beaten, below), max(rival, beside), always && all
	}
	switch {
	case beaten >= 0 && !always:
		k.overrideWarning(at, "overrides something only in some of the requests it is effective in", "overridden here",
			beaten)
	case beaten < 0 && rival >= 0:
		k.overrideWarning(at, "is said to override something, but is only overridden itself", "it is overridden here",
			rival)
	case beaten < 0:
		d := diag.Diagnostic{Pos: at, Code: "override", Message: "'" + k.name + "' is said to override something" +
			k.describe(k.terms(first)) + ", but nothing of lower precedence binds it"}
		d.Hint = k.diags.DidYouMean(k.name, k.names)
		k.report(d)
	}
}

// overridden is a candidate that candidate i beats, a rival of its own layer that beats it, -1 where there is none, and
// whether it beats something whenever it is effective.
func (k *keyIndex) overridden(i int) (beaten, rival int, always bool) {
	beaten, rival = -1, -1
	for j := range k.compatible(k.terms(i), noRank) {
		switch {
		case k.all[j].place == k.all[i].place: // an alternative of the binding itself
		case !k.all[j].final(): // there may be nothing
		case k.all[j].rank > k.all[i].rank:
			beaten = j
			always = always || k.relations.Implies(k.terms(i), k.terms(j))
		case k.all[j].rank < k.all[i].rank && k.all[j].layer == k.all[i].layer:
			rival = j
		}
	}
	return beaten, rival, always
}

func (k *keyIndex) overrideWarning(at diag.Pos, what, note string, other int) {
	k.report(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "override", Message: "'" + k.name + "' " + what,
		Notes: []diag.Note{{Pos: k.all[other].pos(), Message: note + k.describe(k.terms(other))}}})
}
