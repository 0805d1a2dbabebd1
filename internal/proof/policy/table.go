package policy

import (
	"slices"
	"strings"
	"sync"

	"bindc/internal/recipe"
	"bindc/snapshot"
)

// row is a binding of a key. A lookup uses the first row whose condition holds and whose value does not decline.
type row struct {
	level int32  // index of the level; the number of levels for the unconditional binding
	scope int32  // index in the level
	entry uint32 // index in the scope; number of the key for the unconditional binding
}

// tables reads the rows of keys.
type tables struct {
	content     *snapshot.Content
	hasAbstract func() bool      // reports whether the site has abstract bindings
	rows        [][]row          // by key; set by collect, for the wanted keys only
	recipes     []*recipe.Recipe // by number; nil if not yet decoded
}

func newTables(c *snapshot.Content) *tables {
	t := &tables{content: c, recipes: make([]*recipe.Recipe, len(c.Values))}
	t.hasAbstract = sync.OnceValue(func() bool {
		return slices.ContainsFunc(c.Values, func(v snapshot.Stored) bool {
			return v.Computed && v.Bytes != "" && recipe.Kind(v.Bytes[0]) == recipe.Abstract
		})
	})
	return t
}

// collect sets t.rows for the keys that are wanted, highest precedence first.
func (t *tables) collect(wanted []bool) {
	c := t.content
	t.rows = make([][]row, len(c.Keys))
	t.makeRoom(wanted)
	for i := range c.Levels {
		for j := range c.Levels[i].Scopes {
			for k, e := range c.Levels[i].Scopes[j].Entries {
				if wanted[e.Key] {
					t.rows[e.Key] = append(t.rows[e.Key], row{int32(i), int32(j), uint32(k)})
				}
			}
		}
	}
	for i, is := range wanted {
		if is && c.Keys[i].Default >= 0 {
			t.rows[i] = append(t.rows[i], t.unconditional(uint32(i)))
		}
	}
}

// makeRoom allocates t.rows in one piece, which is faster than growing the rows of each key.
func (t *tables) makeRoom(wanted []bool) {
	counts, all := make([]int, len(wanted)), 0
	for i := range t.content.Levels {
		for j := range t.content.Levels[i].Scopes {
			for _, e := range t.content.Levels[i].Scopes[j].Entries {
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

// unconditional returns the row for the unconditional binding of a key, which must exist.
func (t *tables) unconditional(key uint32) row {
	return row{level: int32(len(t.content.Levels)), entry: key}
}

func (t *tables) isUnconditional(r *row) bool { return int(r.level) == len(t.content.Levels) }

// value returns the number of r's value.
func (t *tables) value(r *row) uint32 {
	if t.isUnconditional(r) {
		return uint32(t.content.Keys[r.entry].Default)
	}
	return t.scope(r).Entries[r.entry].Value
}

// scope returns the scope of r, which must not be unconditional.
func (t *tables) scope(r *row) *snapshot.Scope { return &t.content.Levels[r.level].Scopes[r.scope] }

// origin returns the layer and the position of r.
func (t *tables) origin(r *row) (layer string, at snapshot.Origin) {
	switch {
	case int(r.level) < len(t.content.Levels):
		if s := t.scope(r); int(r.entry) < len(s.Origins) {
			at = s.Origins[r.entry]
		}
		return t.content.Layers[t.content.Levels[r.level].Layer], at
	case t.isUnconditional(r):
		for _, c := range t.content.Keys[r.entry].Cold {
			if len(c.Terms) == 0 {
				return t.content.Layers[c.Layer], c.Origin
			}
		}
	}
	return t.content.Layers[0], at
}

// recipe returns the recipe with number n, which it decodes on the first call.
func (t *tables) recipe(n uint32) *recipe.Recipe {
	r := t.recipes[n]
	if r == nil {
		var err error
		if r, err = recipe.Decode(t.content.Values[n].Bytes); err != nil {
			r = &recipe.Recipe{Kind: recipe.Custom} // looking up the key will report the error
		}
		t.recipes[n] = r
	}
	return r
}

// stops reports whether a lookup that reaches r always ends there.
func (t *tables) stops(r *row) bool {
	stored := &t.content.Values[t.value(r)]
	return !stored.Computed || recipe.IsFinal(stored.Bytes) || !t.recipe(t.value(r)).Declines()
}

// isAlwaysBound reports whether every lookup of a key finds a value, because its unconditional binding never declines.
func (t *tables) isAlwaysBound(key uint32) bool {
	r := t.unconditional(key)
	return t.content.Keys[key].Default >= 0 && t.stops(&r)
}

// blockers lists the rows of a key that always end a lookup, so that lower rows are not reached.
type blockers struct {
	space  *space
	levels []blockingLevel
}

// blockingLevel lists the scopes of a level that bind the key to a value at which every lookup ends.
type blockingLevel struct {
	level  int32
	scopes map[string]bool // joined values of the scopes
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
		if !t.isUnconditional(r) {
			id = strings.Join(t.scope(r).Values, "\x00")
		}
		b.levels[len(b.levels)-1].scopes[id] = true
	}
	return b
}

// block reports whether, for every request with the variables in w, a lookup ends above the given level.
func (b *blockers) block(w way, level int32) bool {
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
	if int(l.level) < len(b.space.content.Levels) {
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
