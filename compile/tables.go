package compile

import (
	"slices"

	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/loader"
)

// tables number the keys and the values of a build. The first numbers are those of the site; passes add further keys
// and values, and never change a number. Not every key is bound, and not every value is in the snapshot.
type tables struct {
	keys   []string
	values []string          // compiled, see package recipe
	added  map[string]uint32 // numbers of the values that passes added

	kept   []uint32 // numbers of the values that are in the snapshot, in order of appearance
	keptAt []uint32 // by the number of a value, its index in kept plus one; 0: not in the snapshot

	declining map[uint32]bool // values of bindings that may decline, see recipe.IsFinal
}

func newTables(site *loader.Site) *tables {
	return &tables{keys: slices.Clip(site.Keys), values: slices.Clip(site.Values), added: map[string]uint32{},
		declining: map[uint32]bool{}}
}

// addKey returns the number of a key that has none yet.
func (t *tables) addKey(text string) uint32 {
	t.keys = append(t.keys, text)
	return uint32(len(t.keys) - 1)
}

// number returns the number of a recipe that a pass made.
func (t *tables) number(r *recipe.Recipe) uint32 {
	text := string(recipe.AppendCompiled(nil, r))
	n, ok := t.added[text]
	if !ok {
		n = uint32(len(t.values))
		t.values, t.added[text] = append(t.values, text), n
	}
	return n
}

// keep puts a value into the snapshot.
func (t *tables) keep(val uint32) {
	if int(val) >= len(t.keptAt) {
		t.keptAt = append(t.keptAt, make([]uint32, max(int(val)+1, len(t.values))-len(t.keptAt))...)
	}
	if t.keptAt[val] == 0 {
		t.kept = append(t.kept, val)
		t.keptAt[val] = uint32(len(t.kept))
	}
}

// keepRecipe puts a recipe that a pass made into the snapshot and returns its number.
func (t *tables) keepRecipe(r *recipe.Recipe) uint32 {
	n := t.number(r)
	t.keep(n)
	return n
}

// stored returns the number in the snapshot of a value that is kept.
func (t *tables) stored(val uint32) uint32 { return t.keptAt[val] - 1 }

// recipe returns the recipe of a value.
func (t *tables) recipe(val uint32) (*recipe.Recipe, error) {
	text := t.values[val]
	if text[0] != recipe.CompiledConstant {
		return recipe.Decode(text[1:])
	}
	v, _, err := value.View(text[1:])
	return &recipe.Recipe{Kind: recipe.Constant, Value: v}, err
}

// constant returns a value that is the same for every request; ok is false for any other.
func (t *tables) constant(val uint32) (v value.Value, ok bool) {
	text := t.values[val]
	if text[0] != recipe.CompiledConstant {
		return value.Value{}, false
	}
	v, _, err := value.View(text[1:])
	return v, err == nil
}
