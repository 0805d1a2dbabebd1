package place

import (
	"slices"

	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/loader"
)

// Tables number the keys and the values of a build. The site has the first numbers; passes add further keys
// and values, and never change a number. Not every key is bound, and not every value is in the snapshot.
type Tables struct {
	Keys   []string
	Values []string          // compiled, see package recipe
	added  map[string]uint32 // numbers of the values that passes added

	Kept   []uint32 // numbers of the values that are in the snapshot, in order of appearance
	keptAt []uint32 // by the number of a value, its index in kept plus one; 0: not in the snapshot

	Declining map[uint32]bool // values of bindings that may decline, see recipe.IsFinal
}

func newTables(site *loader.Site) *Tables {
	return &Tables{Keys: slices.Clip(site.Keys), Values: slices.Clip(site.Values), added: map[string]uint32{},
		Kept:      make([]uint32, 0, len(site.Values)),
		Declining: map[uint32]bool{}}
}

// AddKey returns the number of a key that has none yet.
func (t *Tables) AddKey(text string) uint32 {
	t.Keys = append(t.Keys, text)
	return uint32(len(t.Keys) - 1)
}

// Number returns the number of a recipe that a pass made.
func (t *Tables) Number(r *recipe.Recipe) uint32 {
	text := string(recipe.AppendCompiled(nil, r))
	n, ok := t.added[text]
	if !ok {
		n = uint32(len(t.Values))
		t.Values, t.added[text] = append(t.Values, text), n
	}
	return n
}

// keep puts a value into the snapshot.
func (t *Tables) keep(val uint32) {
	if int(val) >= len(t.keptAt) {
		t.keptAt = append(t.keptAt, make([]uint32, max(int(val)+1, len(t.Values))-len(t.keptAt))...)
	}
	if t.keptAt[val] == 0 {
		t.Kept = append(t.Kept, val)
		t.keptAt[val] = uint32(len(t.Kept))
	}
}

// KeepRecipe puts a recipe that a pass made into the snapshot and returns its number.
func (t *Tables) KeepRecipe(r *recipe.Recipe) uint32 {
	n := t.Number(r)
	t.keep(n)
	return n
}

// Stored returns the number in the snapshot of a value that is kept.
func (t *Tables) Stored(val uint32) uint32 { return t.keptAt[val] - 1 }

// Recipe returns the recipe of a value.
func (t *Tables) Recipe(val uint32) (*recipe.Recipe, error) {
	text := t.Values[val]
	if text[0] != recipe.CompiledConstant {
		return recipe.Decode(text[1:])
	}
	v, _, err := value.View(text[1:])
	return &recipe.Recipe{Kind: recipe.Constant, Value: v}, err
}

// Constant returns a value that is the same for every request; ok is false for any other.
func (t *Tables) Constant(val uint32) (v value.Value, ok bool) {
	text := t.Values[val]
	if text[0] != recipe.CompiledConstant {
		return value.Value{}, false
	}
	v, _, err := value.View(text[1:])
	return v, err == nil
}
