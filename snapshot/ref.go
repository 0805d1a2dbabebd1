package snapshot

import (
	"bindc/internal/value"
)

// Ref refers to a value in a snapshot.
type Ref uint32

// Recipe returns the number of the recipe that r refers to. It returns false if the value is not computed.
func (r Ref) Recipe() (int, bool) { return int(r &^ refKind), r&refKind == refRecipe }

// Small reports whether r is a constant that Value reads without decoding a block.
func (r Ref) Small() bool { return r&(refRecipe&refBlock) == 0 }

// Values returns a source of the small constants of s. The value numbers of the source are Refs.
func (s *Snapshot) Values() *value.Source {
	cells := s.keys[:min(uint64(len(s.keys)), cellUnit*refInline)]
	return value.NewSource(cells, s.numbered)
}

// numbered returns the value number n of the source that Values returns. n is a Ref, or encodes an odd position in
// section keys.
func (s *Snapshot) numbered(n uint64) (value.Value, error) {
	if ref := Ref(n); uint64(ref) == n {
		return s.Value(ref)
	}
	at := value.Position(n)
	v, ok := value.Peek(s.keys[min(at, uint64(len(s.keys))):])
	if !ok {
		return value.Value{}, s.damaged(secKeys, at, "a value")
	}
	return v, nil
}

// Value returns the constant that ref refers to. Arrays, hashes and strings are views of the snapshot. Value does not
// check the elements of arrays and hashes; Verify and value.Sound do.
func (s *Snapshot) Value(ref Ref) (value.Value, error) {
	if ref&refKind == refInline {
		return value.FromInline(uint32(ref)), nil
	}
	text, err := s.Encoded(ref)
	if err != nil {
		return value.Value{}, err
	}
	v, ok := value.Peek(text)
	if !ok {
		return value.Value{}, s.badValue(ref)
	}
	return v, nil
}

// Encoded returns a string that begins with the encoded value that ref refers to.
func (s *Snapshot) Encoded(ref Ref) (string, error) {
	n := uint32(ref &^ refKind)
	switch ref & refKind {
	case refCell:
		return s.keys[min(cellUnit*uint64(n), uint64(len(s.keys))):], nil // an empty string is not a valid value
	case refBlock:
		return s.blockValue(n)
	}
	return "", s.broken(secRecipes, "a constant, not recipe %d", n)
}

func (s *Snapshot) badValue(ref Ref) error {
	n := uint64(ref &^ refKind)
	if ref&refKind == refBlock {
		return s.broken(secBlocks, "a value in the block of value %d", n)
	}
	return s.damaged(secKeys, cellUnit*n, "a value")
}

// Recipes returns the number of computed values.
func (s *Snapshot) Recipes() int { return int(s.recipeCount) }

// Recipe returns the encoded recipe number n.
func (s *Snapshot) Recipe(n int) (string, error) {
	if n < 0 || n >= int(s.recipeCount) {
		return "", s.damaged(secRecipeTab, 8*uint64(n), "a recipe number below %d", s.recipeCount)
	}
	tab, recipes := s.sections[secRecipeTab], s.sections[secRecipes]
	from, to := load64(tab[8*n:]), load64(tab[8*n+8:])
	if from > to || to > uint64(len(recipes)) {
		return "", s.damaged(secRecipeTab, 8*uint64(n), "a recipe inside section %s", secRecipes)
	}
	return recipes[from:to], nil
}
