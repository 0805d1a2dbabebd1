package policy

import (
	"slices"
	"strings"

	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/snapshot"
)

// row is a binding of a key in a decision table. A lookup uses the first row whose condition holds and which does
// not decline.
type row struct {
	level, scope int // level is the number of levels for the unconditional binding
	layer        int
	value        uint32
	origin       snapshot.Origin
}

// tables has the rows of keys.
type tables struct {
	content *snapshot.Content
	rows    [][]row          // rows of each key, by number of the key
	recipes []*recipe.Recipe // decoded values, by number; nil if not decoded yet
}

// tablesOf collects the rows of the wanted keys, by decreasing precedence.
func tablesOf(c *snapshot.Content, wanted []bool) *tables {
	t := &tables{content: c, rows: make([][]row, len(c.Keys)), recipes: make([]*recipe.Recipe, len(c.Values))}
	t.makeRoom(wanted)
	for i, level := range c.Levels {
		for j := range level.Scopes {
			scope := &level.Scopes[j]
			for k, e := range scope.Entries {
				if wanted[e.Key] {
					r := row{level: i, scope: j, layer: level.Layer, value: e.Value}
					if k < len(scope.Origins) {
						r.origin = scope.Origins[k]
					}
					t.rows[e.Key] = append(t.rows[e.Key], r)
				}
			}
		}
	}
	for i, is := range wanted {
		key := &c.Keys[i]
		if !is || key.Default < 0 {
			continue
		}
		r := row{level: len(c.Levels), value: uint32(key.Default)}
		at := slices.IndexFunc(key.Cold, func(c snapshot.Cold) bool { return len(c.Terms) == 0 })
		if at >= 0 {
			r.layer, r.origin = key.Cold[at].Layer, key.Cold[at].Origin
		}
		t.rows[i] = append(t.rows[i], r)
	}
	return t
}

// makeRoom allocates the rows of the wanted keys, which are too many to grow one by one.
func (t *tables) makeRoom(wanted []bool) {
	counts, all := make([]int, len(wanted)), 0
	for _, level := range t.content.Levels {
		for j := range level.Scopes {
			for _, e := range level.Scopes[j].Entries {
				if wanted[e.Key] {
					counts[e.Key]++
					all++
				}
			}
		}
	}
	room := make([]row, all+len(wanted))
	for i, n := range counts {
		t.rows[i], room = room[:0:n+1], room[n+1:]
	}
}

// recipe returns the recipe of a value. A constant is a recipe of the kind Constant.
func (t *tables) recipe(n uint32) *recipe.Recipe {
	r := t.recipes[n]
	if r != nil {
		return r
	}
	stored := t.content.Values[n]
	if stored.Computed {
		var err error
		if r, err = recipe.Decode(stored.Bytes); err != nil {
			r = &recipe.Recipe{Kind: recipe.Custom} // the lookup reports the error
		}
	} else {
		v, _, _ := value.View(stored.Bytes)
		r = &recipe.Recipe{Kind: recipe.Constant, Value: v}
	}
	t.recipes[n] = r
	return r
}

// stops reports whether a lookup that reaches r never continues with lower rows.
func (t *tables) stops(r *row) bool {
	stored := t.content.Values[r.value]
	return !stored.Computed || recipe.IsFinal(stored.Bytes) || !t.recipe(r.value).Declines()
}

// isAlwaysBound reports whether a lookup of a key finds a row in every request, because its unconditional row always
// has a value.
func (t *tables) isAlwaysBound(key uint32) bool {
	rows := t.rows[key]
	return len(rows) > 0 && rows[len(rows)-1].level == len(t.content.Levels) && t.stops(&rows[len(rows)-1])
}

// blockers has the rows of a key that stop a lookup. It finds those that hold for given values of variables.
type blockers struct {
	space  *space
	levels []blockingLevel
}

// blockingLevel has the scopes of a level that bind the key to a value that stops lookups.
type blockingLevel struct {
	level  int
	scopes map[string]bool // scopes by their values
}

func (t *tables) blockers(s *space, key uint32) *blockers {
	b := &blockers{space: s}
	rows := t.rows[key]
	for i := range rows {
		r := &rows[i]
		if !t.stops(r) {
			continue
		}
		if n := len(b.levels); n == 0 || b.levels[n-1].level != r.level {
			b.levels = append(b.levels, blockingLevel{r.level, map[string]bool{}})
		}
		id := ""
		if r.level < len(t.content.Levels) {
			id = strings.Join(t.content.Levels[r.level].Scopes[r.scope].Values, "\x00")
		}
		b.levels[len(b.levels)-1].scopes[id] = true
	}
	return b
}

// block reports whether a row above level stops the lookup in every request with the values in w.
func (b *blockers) block(w way, level int) bool {
	for _, l := range b.levels {
		if l.level >= level {
			return false
		}
		if b.holds(w, &l) {
			return true
		}
	}
	return false
}

func (b *blockers) holds(w way, l *blockingLevel) bool {
	var values []string
	if l.level < len(b.space.content.Levels) {
		for _, d := range b.space.content.Levels[l.level].Dimensions {
			text, ok := b.space.text(d, w)
			if !ok || b.space.isIdle(d, w) {
				return false
			}
			values = append(values, text)
		}
	}
	return l.scopes[strings.Join(values, "\x00")]
}
