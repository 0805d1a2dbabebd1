package lint

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"bindc/diag"
	"bindc/internal/recipe"
	"bindc/snapshot"
)

// composed finds out which bindings win.
type composed struct {
	*linter
	content *snapshot.Content
	scopes  []map[string]int // per level, its scopes by their values
	bound   [][]bound        // per key, the levels that bind it, highest first
	found   map[snapshot.Origin]*finding
	meant   map[diag.Pos]bool // bindings with 'override', and those that they override
	open    []bool            // per value, it may leave the answer to a lower binding
	renamed map[uint32]bool   // keys that are renamed somewhere; lookups use the new name
}

// finding collects the facts about the binding at one place. A binding may have several conditions; advice is given
// only if it is true under all of them.
type finding struct {
	key, value  uint32
	other       snapshot.Origin // the binding that hides it, or that has the same value
	never, same int
	all         int
	below       []snapshot.Origin // the bindings that would supply the same value, one for each of its conditions
}

// bound is that a level binds a key: to one value, or to several.
type bound struct {
	level int
	value uint32
}

const several = math.MaxUint32

// at is a scope, and what it binds by number.
type at struct{ level, scope, entry int }

// maxFollowed is how many levels are looked at for one binding: a site of more is not looked through.
const maxFollowed = 64

func (l *linter) checkComposed(content *snapshot.Content) {
	if !l.wants("never_wins") && !l.wants("same_value") {
		return
	}
	c := composed{linter: l, content: content, found: map[snapshot.Origin]*finding{}, meant: map[diag.Pos]bool{},
		renamed: map[uint32]bool{}}
	for b := range l.bindings {
		if b.more != nil && (b.more.Override || b.more.Abstract) {
			c.meant[b.at] = true
		}
	}
	c.findOpen()
	c.index()
	for i, level := range content.Levels {
		for j, scope := range level.Scopes {
			for k, e := range scope.Entries {
				if !c.isInternal(e.Key) {
					c.checkEntry(at{i, j, k})
				}
			}
		}
	}
	for i := range content.Keys {
		if !c.isInternal(uint32(i)) {
			c.checkCold(uint32(i))
		}
	}
	c.count()
	c.report()
}

// isInternal tells whether a key is that of the contributions to a multibinding.
func (c *composed) isInternal(key uint32) bool {
	return strings.HasPrefix(c.content.Keys[key].Name, "\x00")
}

// findOpen finds the values that do not hide what is below them in every request.
func (c *composed) findOpen() {
	c.open = make([]bool, len(c.content.Values))
	if !c.content.ARM8 {
		return
	}
	for i, v := range c.content.Values {
		c.open[i] = v.Computed && !recipe.IsFinal(v.Bytes)
	}
	for _, level := range c.content.Levels {
		for _, scope := range level.Scopes {
			for _, e := range scope.Entries {
				if v := c.content.Values[e.Value]; c.open[e.Value] && recipe.Kind(v.Bytes[0]) == recipe.Erased {
					c.renamed[e.Key] = true
				}
			}
		}
	}
}

// index notes where keys are bound.
func (c *composed) index() {
	c.bound = make([][]bound, len(c.content.Keys))
	for i, level := range c.content.Levels {
		scopes := make(map[string]int, len(level.Scopes))
		for j, scope := range level.Scopes {
			scopes[strings.Join(scope.Values, "\x00")] = j
			for _, e := range scope.Entries {
				list := c.bound[e.Key]
				switch n := len(list); {
				case n == 0 || list[n-1].level != i:
					c.bound[e.Key] = append(list, bound{i, e.Value})
				case list[n-1].value != e.Value:
					list[n-1].value = several
				}
			}
		}
		c.scopes = append(c.scopes, scopes)
	}
}

// checkEntry looks at a binding that is in the index.
func (c *composed) checkEntry(a at) {
	scope := &c.content.Levels[a.level].Scopes[a.scope]
	e := scope.Entries[a.entry]
	list := c.bound[e.Key]
	index, _ := slices.BinarySearchFunc(list, a.level, func(b bound, level int) int { return b.level - level })
	if len(list) > maxFollowed || c.renamed[e.Key] {
		return
	}
	for _, b := range list[:index] {
		if by, ok := c.implied(a, b.level, e.Key); ok && !c.open[c.value(by)] {
			c.hiddenEntry(e, origin(scope, a.entry), c.origin(by)).never++
			return
		}
	}
	if c.open[e.Value] {
		return
	}
	for _, b := range list[index+1:] {
		if by, ok := c.implied(a, b.level, e.Key); ok {
			if c.value(by) == e.Value {
				c.same(e, origin(scope, a.entry), c.origin(by))
			}
			return
		}
		if b.value != e.Value && !c.isPartOf(b.level, a.level) {
			return // it may be what some requests would get
		}
	}
	if key := &c.content.Keys[e.Key]; key.Default == int(e.Value) {
		c.same(e, origin(scope, a.entry), key.Cold[firstUnconditional(key)].Origin)
	}
}

// implied finds the binding of a key in another level that is effective in every request in which that of a is.
func (c *composed) implied(a at, level int, key uint32) (at, bool) {
	if !c.isPartOf(level, a.level) {
		return at{}, false
	}
	own := &c.content.Levels[a.level]
	var values []string
	for _, d := range c.content.Levels[level].Dimensions {
		i, _ := slices.BinarySearch(own.Dimensions, d)
		values = append(values, own.Scopes[a.scope].Values[i])
	}
	j, ok := c.scopes[level][strings.Join(values, "\x00")]
	if !ok {
		return at{}, false
	}
	entries := c.content.Levels[level].Scopes[j].Entries
	i, ok := slices.BinarySearchFunc(entries, key, func(e snapshot.Entry, key uint32) int {
		return cmp.Compare(e.Key, key)
	})
	return at{level, j, i}, ok
}

// value is what a scope binds, by its number.
func (c *composed) value(a at) uint32 {
	return c.content.Levels[a.level].Scopes[a.scope].Entries[a.entry].Value
}

// isPartOf tells whether level asks for no other dimensions than of does.
func (c *composed) isPartOf(level, of int) bool {
	for _, d := range c.content.Levels[level].Dimensions {
		if _, ok := slices.BinarySearch(c.content.Levels[of].Dimensions, d); !ok {
			return false
		}
	}
	return true
}

// checkCold looks at the unconditional binding of a key that counts, and at what it hides.
func (c *composed) checkCold(number uint32) {
	key := &c.content.Keys[number]
	unconditional := firstUnconditional(key)
	if unconditional < 0 {
		return
	}
	for i, cold := range key.Cold {
		if i != unconditional {
			e := snapshot.Entry{Key: number, Value: cold.Value}
			c.hiddenEntry(e, cold.Origin, key.Cold[unconditional].Origin).never++
		}
	}
	for _, cold := range key.Cold[unconditional+1:] {
		if int(cold.Value) != key.Default {
			return
		}
		if len(cold.Terms) == 0 {
			c.same(snapshot.Entry{Key: number, Value: cold.Value}, key.Cold[unconditional].Origin, cold.Origin)
			return
		}
	}
}

// firstUnconditional is the place in the cold bindings of a key of the one that is its default, -1 if there is none.
func firstUnconditional(key *snapshot.Key) int {
	if key.Default < 0 {
		return -1
	}
	return slices.IndexFunc(key.Cold, func(c snapshot.Cold) bool { return len(c.Terms) == 0 })
}

func origin(scope *snapshot.Scope, entry int) snapshot.Origin {
	if entry < len(scope.Origins) {
		return scope.Origins[entry]
	}
	return snapshot.Origin{}
}

func (c *composed) origin(a at) snapshot.Origin {
	return origin(&c.content.Levels[a.level].Scopes[a.scope], a.entry)
}

// hiddenEntry is what is found of a binding.
func (c *composed) hiddenEntry(e snapshot.Entry, o, other snapshot.Origin) *finding {
	f := c.found[o]
	if f == nil {
		f = &finding{key: e.Key, value: e.Value, other: other}
		c.found[o] = f
	}
	return f
}

// same notes that a binding could go. Not if it is said so by itself: a file may count under two conditions.
func (c *composed) same(e snapshot.Entry, o, other snapshot.Origin) {
	if o != other {
		f := c.hiddenEntry(e, o, other)
		f.same++
		f.below = append(f.below, other)
	}
}

// count counts the bindings at each place.
func (c *composed) count() {
	add := func(o snapshot.Origin) {
		if f := c.found[o]; f != nil {
			f.all++
		}
	}
	for i := range c.content.Levels {
		for j := range c.content.Levels[i].Scopes {
			for _, o := range c.content.Levels[i].Scopes[j].Origins {
				add(o)
			}
		}
	}
	for i := range c.content.Keys {
		for _, cold := range c.content.Keys[i].Cold {
			add(cold.Origin)
		}
	}
}

// report adds advice on the findings. If either of two bindings could go but not both, only one is reported.
func (c *composed) report() {
	codes := map[snapshot.Origin]diag.Code{}
	for o, f := range c.found {
		if code := c.judge(o, f); code != "" {
			codes[o] = code
		}
	}
	omit, keep := c.pairs(codes)
	hidden := map[string][]diag.Diagnostic{}
	for o, code := range codes {
		if omit[o] {
			continue
		}
		f := c.found[o]
		d := diag.Diagnostic{Pos: c.pos(o), Code: code}
		key := "'" + c.content.Keys[f.key].Name + "'"
		note := "it is bound so here"
		switch {
		case code == "never_wins":
			d.Message = key + " never gets this value: something of higher precedence always hides it"
			d.Hint, note = "remove it, or bind it in a higher layer", "this hides it"
			if keep[o] {
				d.Hint = "remove it, and keep the binding that hides it: both have the same value"
			}
		case keep[o]:
			d.Message = key + " would have this value without this binding too, from one that it hides"
			d.Hint = "remove it, and keep the other one"
		default:
			d.Message = key + " would have this value without this binding too"
			d.Hint = "remove it"
		}
		d.Notes = []diag.Note{{Pos: c.pos(f.other), Message: note}}
		if code == "never_wins" && c.module(d.Pos.File) != "" {
			hidden[d.Pos.File] = append(hidden[d.Pos.File], d)
			continue
		}
		c.add(d)
	}
	c.reportModules(hidden)
}

// judge returns the code of the advice on a finding, or "" for no advice.
func (c *composed) judge(o snapshot.Origin, f *finding) diag.Code {
	var code diag.Code
	switch {
	case f.never == f.all:
		code = "never_wins"
	case f.same == f.all && !c.isSecret(f.value):
		code = "same_value"
	}
	at := c.pos(o)
	switch {
	case c.meant[at] || c.meant[c.pos(f.other)]: // having both is intentional
		return ""
	case !c.wants(code) || c.ignored[commentedLine{at.File, at.Line, code}]:
		return ""
	}
	return code
}

// pairs finds bindings that are redundant because of others that they hide. Those others would be redundant, too, so
// only one of the two may go. The hiding binding stays, unless the other belongs to a module, whose bindings are meant
// to be hidden. pairs returns the findings to omit, and those whose hint names the binding to keep.
func (c *composed) pairs(codes map[snapshot.Origin]diag.Code) (omit, keep map[snapshot.Origin]bool) {
	omit, keep = map[snapshot.Origin]bool{}, map[snapshot.Origin]bool{}
	for o := range codes {
		var hidden []snapshot.Origin
		own := false // one of them belongs to the site
		for _, other := range c.found[o].below {
			if codes[other] == "never_wins" {
				hidden = append(hidden, other)
				own = own || c.module(c.pos(other).File) == ""
			}
		}
		switch {
		case own:
			omit[o] = true
			for _, h := range hidden {
				keep[h] = true
			}
		case len(hidden) > 0:
			keep[o] = true
			for _, h := range hidden {
				omit[h] = true
			}
		}
	}
	return omit, keep
}

func (c *composed) isSecret(value uint32) bool {
	v := c.content.Values[value]
	return v.Computed && recipe.IsSecret(v.Bytes)
}

// reportModules advises on unused bindings of modules. They are meant to be hidden, so it reports each file once.
func (c *composed) reportModules(hidden map[string][]diag.Diagnostic) {
	for _, list := range hidden {
		first := slices.MinFunc(list, func(a, b diag.Diagnostic) int { return a.Pos.Compare(b.Pos) })
		first.Hint = "it may be meant so, as modules bind what sites may bind otherwise"
		if more := len(list) - 1; more > 0 {
			first.Message += "; " + strconv.Itoa(more) + " more of this file too"
		}
		c.add(first)
	}
}
