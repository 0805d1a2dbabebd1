package lookup

import (
	"cmp"
	"slices"

	"bindc/internal/recipe"
)

// contributions returns the contributions to a multibinding that are effective in this request, sorted by precedence
// and then by Place.
func (l *lookup) contributions(name string) ([]recipe.Part, error) {
	var out []recipe.Part
	for c, err := range l.r.file.Candidates(name, l.r.numbers, &l.r.view.Scopes) {
		if err != nil {
			return nil, err
		}
		n, _ := c.Ref.Recipe()
		r, err := l.r.snap.recipe(name, n)
		if err != nil {
			return nil, err
		}
		out = append(out, r.Parts...)
	}
	slices.SortStableFunc(out, func(a, b recipe.Part) int {
		return cmp.Or(cmp.Compare(a.Precedence, b.Precedence), cmp.Compare(a.Place, b.Place))
	})
	return newNames(highestAlternatives(out)), nil
}

// highestAlternatives returns only the first part of each contribution, which has the highest precedence. A condition
// with alternatives splits a contribution into several parts with the same Place.
func highestAlternatives(parts []recipe.Part) []recipe.Part {
	seen := make(map[uint32]bool, len(parts))
	return slices.DeleteFunc(parts, func(p recipe.Part) bool {
		again := seen[p.Place]
		seen[p.Place] = true
		return again
	})
}
