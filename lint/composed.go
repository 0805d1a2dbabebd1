package lint

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"bindc/internal/diag"
	"bindc/internal/recipe"
	"bindc/snapshot"
)

// composed looks at which bindings win.
type composed struct {
	*linter
	content *snapshot.Content
	scopes  []map[string]int // per level, its scopes by their values
	bound   [][]bound        // per key, the levels that bind it, highest first

	hidden map[string][]hiding // by file, of modules
}

// bound is that a level binds a key: to one value, or to several.
type bound struct {
	level int
	value uint32
}

const several = math.MaxUint32

// at is a scope, and what it binds by number.
type at struct{ level, scope, entry int }

// hiding is a binding that never wins, and what hides it, if that is known.
type hiding struct {
	key string
	at  diag.Pos
	by  []diag.Note
}

// maxFollowed is how many levels are looked at for one binding: a site of more is not looked through.
const maxFollowed = 64

func (l *linter) checkComposed(content *snapshot.Content) {
	if !l.wants("never_wins") && !l.wants("same_value") {
		return
	}
	c := composed{linter: l, content: content, hidden: map[string][]hiding{}}
	c.index()
	for i, level := range content.Levels {
		for j, scope := range level.Scopes {
			for k, e := range scope.Entries {
				if !strings.HasPrefix(content.Keys[e.Key].Name, "\x00") {
					c.checkEntry(at{i, j, k})
				}
			}
		}
	}
	for i := range content.Keys {
		c.checkCold(uint32(i))
	}
	c.reportModules()
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
	place, _ := slices.BinarySearchFunc(list, a.level, func(b bound, level int) int { return b.level - level })
	if len(list) > maxFollowed {
		return
	}
	for _, b := range list[:place] {
		if by, ok := c.implied(a, b.level, e.Key); ok {
			c.neverWins(e.Key, origin(scope, a.entry), c.noteOf("this hides it", by))
			return
		}
	}
	for _, b := range list[place+1:] {
		if by, ok := c.implied(a, b.level, e.Key); ok {
			below := &c.content.Levels[by.level].Scopes[by.scope]
			if below.Entries[by.entry].Value == e.Value {
				c.sameValue(e.Key, e.Value, origin(scope, a.entry), c.noteOf("it is bound so here already", by))
			}
			return
		}
		if b.value != e.Value && !c.isPartOf(b.level, a.level) {
			return // it may be what some requests would get
		}
	}
	key := &c.content.Keys[e.Key]
	if key.Default == int(e.Value) {
		at := c.pos(key.Cold[firstUnconditional(key)].Origin)
		c.sameValue(e.Key, e.Value, origin(scope, a.entry), []diag.Note{{Pos: at, Message: "it is bound so here already"}})
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
	i, ok := slices.BinarySearchFunc(entries, key, func(e snapshot.Entry, key uint32) int { return int(e.Key) - int(key) })
	return at{level, j, i}, ok
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
	if strings.HasPrefix(key.Name, "\x00") {
		return
	}
	floor := firstUnconditional(key)
	for i, cold := range key.Cold {
		if cold.Contribution || i == floor {
			continue
		}
		var by []diag.Note
		if floor >= 0 && floor < i {
			by = []diag.Note{{Pos: c.pos(key.Cold[floor].Origin), Message: "this hides it"}}
		}
		c.neverWins(number, cold.Origin, by)
	}
	if floor < 0 {
		return
	}
	for _, cold := range key.Cold[floor+1:] {
		if cold.Contribution || int(cold.Value) != key.Default {
			return
		}
		if len(cold.Terms) == 0 {
			c.sameValue(number, cold.Value, key.Cold[floor].Origin,
				[]diag.Note{{Pos: c.pos(cold.Origin), Message: "it is bound so here already"}})
			return
		}
	}
}

// firstUnconditional is the place in the cold bindings of a key of the one that is its default, -1 if there is none.
func firstUnconditional(key *snapshot.Key) int {
	if key.Default < 0 {
		return -1
	}
	return slices.IndexFunc(key.Cold, func(c snapshot.Cold) bool { return len(c.Terms) == 0 && !c.Contribution })
}

func origin(scope *snapshot.Scope, entry int) snapshot.Origin {
	if entry < len(scope.Origins) {
		return scope.Origins[entry]
	}
	return snapshot.Origin{}
}

func (c *composed) noteOf(message string, a at) []diag.Note {
	return []diag.Note{{Pos: c.pos(origin(&c.content.Levels[a.level].Scopes[a.scope], a.entry)), Message: message}}
}

// neverWins advises on a binding that no lookup finds. What modules bind is meant to be hidden, so that of each of
// their files it is said once.
func (c *composed) neverWins(key uint32, o snapshot.Origin, by []diag.Note) {
	if !c.wants("never_wins") {
		return
	}
	h := hiding{c.content.Keys[key].Name, c.pos(o), by}
	if c.ignored[place{h.at.File, h.at.Line, "never_wins"}] {
		return
	}
	if c.module(h.at.File) != "" {
		c.hidden[h.at.File] = append(c.hidden[h.at.File], h)
		return
	}
	c.add(diag.Diagnostic{Pos: h.at, Code: "never_wins", Notes: by,
		Message: "'" + h.key + "' never has this value: something of higher precedence hides it for every request",
		Hint:    "remove it, or bind it in a higher layer"})
}

func (c *composed) reportModules() {
	for _, list := range c.hidden {
		slices.SortFunc(list, func(a, b hiding) int { return a.at.Compare(b.at) })
		var keys []string
		for _, h := range list {
			keys = append(keys, h.key)
		}
		keys = slices.Compact(keys)
		message := "'" + list[0].key + "' never has the value that this module gives it: a higher layer hides it for every " +
			"request"
		if len(keys) > 1 {
			message = strconv.Itoa(len(keys)) + " keys never have the values that this file of a module gives them, as " +
				"higher layers hide them for every request: " + diag.Quoted(keys[:min(len(keys), maxNamed)])
		}
		c.add(diag.Diagnostic{Pos: list[0].at, Code: "never_wins", Notes: list[0].by, Message: message})
	}
}

// maxNamed is how many keys are named in one message.
const maxNamed = 10

// sameValue advises on a binding without which everything would be the same.
func (c *composed) sameValue(key, number uint32, o snapshot.Origin, below []diag.Note) {
	v := c.content.Values[number]
	if !c.wants("same_value") || v.Computed && recipe.IsSecret(v.Bytes) {
		return
	}
	c.add(diag.Diagnostic{Pos: c.pos(o), Code: "same_value", Notes: below,
		Message: "'" + c.content.Keys[key].Name + "' would have this value without this binding too",
		Hint:    "remove it"})
}
