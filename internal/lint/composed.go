package lint

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/recipe"
	"bindc/snapshot"
)

// composition contains the state of checkComposed.
type composition struct {
	*linter
	content  *snapshot.Content
	scopes   []map[string]int // for each level, from a scope's values to its index
	bound    [][]boundLevel   // for each key, the levels that bind it, highest precedence first
	findings map[snapshot.Origin]*finding
	intended map[diag.Pos]bool // positions of bindings with 'override' and of the bindings they override
	open     []bool            // for each value, whether it may decline, so that a lower binding applies
	renamed  map[uint32]bool   // keys of bindings that rename; lookups use the new name
}

// finding describes the binding at one position. The binding may have several conditions. It is
// reported only if the lint applies under all of them.
type finding struct {
	key, value       uint32
	other            snapshot.Origin // binding that hides this one or has the same value
	never, redundant int
	count            int
	lower            []snapshot.Origin // for each condition, the lower binding with the same value
}

type boundLevel struct {
	level int
	value uint32
}

// severalValues is the value of a boundLevel that binds the key to different values in different
// scopes.
const severalValues = math.MaxUint32

// entryRef consists of the indexes of a level, a scope and an entry in snapshot.Content.
type entryRef struct{ level, scope, entry int }

// maxLevels is the number of levels up to which checkComposed checks a key. A key bound by more
// levels is skipped.
const maxLevels = 64

func (l *linter) checkComposed(content *snapshot.Content) {
	if !l.wants("never_wins") && !l.wants("same_value") {
		return
	}
	c := composition{linter: l, content: content, findings: map[snapshot.Origin]*finding{},
		intended: map[diag.Pos]bool{}, renamed: map[uint32]bool{}}
	for b := range l.bindings {
		if b.more != nil && (b.more.Override || b.more.Abstract) {
			c.intended[b.at] = true
		}
	}
	c.findOpen()
	c.index()
	for i, level := range content.Levels {
		for j, scope := range level.Scopes {
			for k, e := range scope.Entries {
				if !c.isInternal(e.Key) {
					c.checkEntry(entryRef{i, j, k})
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

// isInternal reports whether a key is the internal key of a multibinding's contributions.
func (c *composition) isInternal(key uint32) bool {
	return strings.HasPrefix(c.content.Keys[key].Name, "\x00")
}

func (c *composition) findOpen() {
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

func (c *composition) index() {
	c.bound = make([][]boundLevel, len(c.content.Keys))
	for i, level := range c.content.Levels {
		scopes := make(map[string]int, len(level.Scopes))
		for j, scope := range level.Scopes {
			scopes[strings.Join(scope.Values, "\x00")] = j
			for _, e := range scope.Entries {
				list := c.bound[e.Key]
				switch n := len(list); {
				case n == 0 || list[n-1].level != i:
					c.bound[e.Key] = append(list, boundLevel{i, e.Value})
				case list[n-1].value != e.Value:
					list[n-1].value = severalValues
				}
			}
		}
		c.scopes = append(c.scopes, scopes)
	}
}

// checkEntry checks a binding in a scope against the other levels that bind its key.
func (c *composition) checkEntry(a entryRef) {
	scope := &c.content.Levels[a.level].Scopes[a.scope]
	e := scope.Entries[a.entry]
	list := c.bound[e.Key]
	index, _ := slices.BinarySearchFunc(list, a.level, func(b boundLevel, level int) int { return b.level - level })
	if len(list) > maxLevels || c.renamed[e.Key] {
		return
	}
	for _, b := range list[:index] {
		if lower, ok := c.implied(a, b.level, e.Key); ok && !c.open[c.value(lower)] {
			c.findingOf(e, origin(scope, a.entry), c.origin(lower)).never++
			return
		}
	}
	if c.open[e.Value] {
		return
	}
	for _, b := range list[index+1:] {
		if lower, ok := c.implied(a, b.level, e.Key); ok {
			if c.value(lower) == e.Value {
				c.addRedundant(e, origin(scope, a.entry), c.origin(lower))
			}
			return
		}
		if b.value != e.Value && !c.isPartOf(b.level, a.level) {
			return // some requests may use the binding
		}
	}
	if key := &c.content.Keys[e.Key]; key.Default == int(e.Value) {
		c.addRedundant(e, origin(scope, a.entry), key.Cold[firstUnconditional(key)].Origin)
	}
}

// implied returns the binding of key in the given level that applies whenever entry a applies. It
// returns false if there is none.
func (c *composition) implied(a entryRef, level int, key uint32) (entryRef, bool) {
	if !c.isPartOf(level, a.level) {
		return entryRef{}, false
	}
	levelOfEntry := &c.content.Levels[a.level]
	var values []string
	for _, d := range c.content.Levels[level].Dimensions {
		i, _ := slices.BinarySearch(levelOfEntry.Dimensions, d)
		values = append(values, levelOfEntry.Scopes[a.scope].Values[i])
	}
	j, ok := c.scopes[level][strings.Join(values, "\x00")]
	if !ok {
		return entryRef{}, false
	}
	entries := c.content.Levels[level].Scopes[j].Entries
	i, ok := slices.BinarySearchFunc(entries, key, func(e snapshot.Entry, key uint32) int {
		return cmp.Compare(e.Key, key)
	})
	return entryRef{level, j, i}, ok
}

func (c *composition) value(a entryRef) uint32 {
	return c.content.Levels[a.level].Scopes[a.scope].Entries[a.entry].Value
}

// isPartOf reports whether every dimension of level is also one of other.
func (c *composition) isPartOf(level, other int) bool {
	for _, d := range c.content.Levels[level].Dimensions {
		if _, ok := slices.BinarySearch(c.content.Levels[other].Dimensions, d); !ok {
			return false
		}
	}
	return true
}

// checkCold checks the cold bindings of a key. The first one without a condition hides all others.
func (c *composition) checkCold(number uint32) {
	key := &c.content.Keys[number]
	unconditional := firstUnconditional(key)
	if unconditional < 0 {
		return
	}
	for i, cold := range key.Cold {
		if i != unconditional {
			e := snapshot.Entry{Key: number, Value: cold.Value}
			c.findingOf(e, cold.Origin, key.Cold[unconditional].Origin).never++
		}
	}
	for _, cold := range key.Cold[unconditional+1:] {
		if int(cold.Value) != key.Default {
			return
		}
		if len(cold.Terms) == 0 {
			c.addRedundant(snapshot.Entry{Key: number, Value: cold.Value}, key.Cold[unconditional].Origin, cold.Origin)
			return
		}
	}
}

// firstUnconditional returns the index of the first cold binding without a condition, or -1. It
// also returns -1 if the key has no default.
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

func (c *composition) origin(a entryRef) snapshot.Origin {
	return origin(&c.content.Levels[a.level].Scopes[a.scope], a.entry)
}

// findingOf returns the finding for the binding at o. If it does not exist yet, findingOf creates
// it for e and other.
func (c *composition) findingOf(e snapshot.Entry, o, other snapshot.Origin) *finding {
	f := c.findings[o]
	if f == nil {
		f = &finding{key: e.Key, value: e.Value, other: other}
		c.findings[o] = f
	}
	return f
}

// addRedundant records that the binding at o has the same value as the lower binding at other. They
// may be the same binding if a file is used under two conditions; that does not count.
func (c *composition) addRedundant(e snapshot.Entry, o, other snapshot.Origin) {
	if o != other {
		f := c.findingOf(e, o, other)
		f.redundant++
		f.lower = append(f.lower, other)
	}
}

// count sets the number of conditions for each finding.
func (c *composition) count() {
	add := func(o snapshot.Origin) {
		if f := c.findings[o]; f != nil {
			f.count++
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

// report adds the lints for all findings. If only one of two redundant bindings can be removed, it
// adds only one lint.
func (c *composition) report() {
	codes := map[snapshot.Origin]diag.Code{}
	for o, f := range c.findings {
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
		f := c.findings[o]
		d := diag.Diagnostic{Pos: c.pos(o), Code: code}
		key := "'" + c.content.Keys[f.key].Name + "'"
		note := "the same value is bound here"
		switch {
		case code == "never_wins":
			d.Message = key + " never gets this value: a binding of higher precedence always hides it"
			d.Hint, note = "remove it, or bind it in a higher layer", "this hides it"
			if keep[o] {
				d.Hint = "remove it, and keep the binding that hides it: both have the same value"
			}
		case keep[o]:
			d.Message = key + " would have the same value without this binding, from a binding that this one hides"
			d.Hint = "remove it, and keep the other one"
		default:
			d.Message = key + " would have the same value without this binding"
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

// judge returns the code of the lint for a finding, or "" if there is none to report.
func (c *composition) judge(o snapshot.Origin, f *finding) diag.Code {
	var code diag.Code
	switch {
	case f.never == f.count:
		code = "never_wins"
	case f.redundant == f.count && !c.isSecret(f.value):
		code = "same_value"
	}
	at := c.pos(o)
	switch {
	case c.intended[at] || c.intended[c.pos(f.other)]: // the site has both bindings on purpose
		return ""
	case !c.wants(code) || c.ignored[commentedLine{at.File, at.Line, code}]:
		return ""
	}
	return code
}

// pairs finds redundant bindings that hide other bindings. If both were removed, the value would be
// lost, so only one of them may be reported. The higher binding is kept, unless it only hides
// bindings in modules: sites are supposed to override those. omit contains the findings not to
// report. keep contains findings whose hint must name the binding to keep.
func (c *composition) pairs(codes map[snapshot.Origin]diag.Code) (omit, keep map[snapshot.Origin]bool) {
	omit, keep = map[snapshot.Origin]bool{}, map[snapshot.Origin]bool{}
	for o := range codes {
		var hidden []snapshot.Origin
		inSite := false // one of the hidden bindings belongs to the site
		for _, other := range c.findings[o].lower {
			if codes[other] == "never_wins" {
				hidden = append(hidden, other)
				inSite = inSite || c.module(c.pos(other).File) == ""
			}
		}
		switch {
		case inSite:
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

func (c *composition) isSecret(value uint32) bool {
	v := c.content.Values[value]
	return v.Computed && recipe.IsSecret(v.Bytes)
}

// reportModules reports hidden bindings in modules, with a single lint per file. Sites are supposed
// to override modules, so most of these bindings are intended.
func (c *composition) reportModules(hidden map[string][]diag.Diagnostic) {
	for _, list := range hidden {
		first := slices.MinFunc(list, func(a, b diag.Diagnostic) int { return a.Pos.Compare(b.Pos) })
		first.Hint = "this may be intended: modules have defaults that sites override"
		if more := len(list) - 1; more > 0 {
			first.Message += "; the same is true of " + diag.Count(more, "more binding") + " in this file"
		}
		c.add(first)
	}
}
