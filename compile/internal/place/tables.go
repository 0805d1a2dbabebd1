package place

import (
	"slices"

	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/loader"
)

// Tables assigns numbers to the keys and the values of a build. The site's keys and values come first. Passes add keys
// and values, and never change a number. Some keys are not bound, and some values are not in the snapshot.
type Tables struct {
	Keys   []string
	Values []string          // compiled values, see package recipe
	added  map[string]uint32 // numbers of values that passes added

	Kept   []uint32 // numbers of the values in the snapshot, in order of appearance
	keptAt []uint32 // index in Kept plus one, by number of the value; 0: not in the snapshot

	Declining map[uint32]bool // values that may decline, see recipe.IsFinal
}

func newTables(site *loader.Site) *Tables {
	return &Tables{Keys: slices.Clip(site.Keys), Values: slices.Clip(site.Values), added: map[string]uint32{},
		Kept:      make([]uint32, 0, len(site.Values)),
		Declining: map[uint32]bool{}}
}

// AddKey adds a new key and returns its number.
func (t *Tables) AddKey(text string) uint32 {
	t.Keys = append(t.Keys, text)
	return uint32(len(t.Keys) - 1)
}

// Number returns the number of a recipe. It adds the recipe if it is new.
func (t *Tables) Number(r *recipe.Recipe) uint32 {
	text := string(recipe.AppendCompiled(nil, r))
	n, ok := t.added[text]
	if !ok {
		n = uint32(len(t.Values))
		t.Values, t.added[text] = append(t.Values, text), n
	}
	return n
}

// keep adds a value to those in the snapshot, unless it is already there.
func (t *Tables) keep(val uint32) {
	if int(val) >= len(t.keptAt) {
		t.keptAt = append(t.keptAt, make([]uint32, max(int(val)+1, len(t.Values))-len(t.keptAt))...)
	}
	if t.keptAt[val] == 0 {
		t.Kept = append(t.Kept, val)
		t.keptAt[val] = uint32(len(t.Kept))
	}
}

// KeepRecipe adds a recipe to the snapshot and returns its number.
func (t *Tables) KeepRecipe(r *recipe.Recipe) uint32 {
	n := t.Number(r)
	t.keep(n)
	return n
}

// Stored returns the number that a kept value has in the snapshot.
func (t *Tables) Stored(val uint32) uint32 { return t.keptAt[val] - 1 }

// Recipe returns the recipe of a value. For a constant, it returns a recipe of kind recipe.Constant.
func (t *Tables) Recipe(val uint32) (*recipe.Recipe, error) {
	text := t.Values[val]
	if text[0] != recipe.CompiledConstant {
		return recipe.Decode(text[1:])
	}
	v, _, err := value.View(text[1:])
	return &recipe.Recipe{Kind: recipe.Constant, Value: v}, err
}

// Constant returns the value with the given number if it is the same in every request.
func (t *Tables) Constant(val uint32) (v value.Value, ok bool) {
	text := t.Values[val]
	if text[0] != recipe.CompiledConstant {
		return value.Value{}, false
	}
	v, _, err := value.View(text[1:])
	return v, err == nil
}
