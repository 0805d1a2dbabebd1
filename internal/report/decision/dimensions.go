package decision

import (
	"slices"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/lookup"
	"bindc/internal/relation"
	"bindc/snapshot"
)

// dimensions numbers the dimensions of one snapshot, or of two compared snapshots. A dimension that both snapshots have
// gets one number.
type dimensions struct {
	*relation.Relations
	names []string // names that messages use
	index map[dimensionKey]int
}

// dimensionKey identifies a dimension in both snapshots. For a guard, category is the category that it guards; "" means
// the common level.
type dimensionKey struct {
	name, category string
	guard          bool
}

func newDimensions(files ...*snapshot.Snapshot) (*dimensions, error) {
	out := &dimensions{index: map[dimensionKey]int{}}
	var dims []relation.Dimension
	var programs []string
	for _, f := range files {
		for _, d := range f.Dimensions() {
			id := dimensionKeyOf(f, d)
			if i, known := out.index[id]; known {
				// computed differently in the two snapshots, so values cannot be compared
				if programs[i] != string(d.Program) {
					dims[i].Value = nil
				}
				continue
			}
			out.index[id] = len(dims)
			dim, err := out.dimension(f, d)
			if err != nil {
				return nil, err
			}
			dims, programs = append(dims, dim), append(programs, string(d.Program))
			out.names = append(out.names, dimensionName(d))
		}
	}
	out.Relations = relation.New(dims, func(int) {})
	return out, nil
}

// dimension converts a dimension of f. Values that are compared with case are treated as unknown.
func (d *dimensions) dimension(f *snapshot.Snapshot, source snapshot.Dimension) (relation.Dimension, error) {
	out := relation.Dimension{Category: d.index[dimensionKeyOf(f, source)], Guard: source.Guard}
	switch {
	case source.Guard && source.Category < 0:
		out.Category = -1
	case source.Guard:
		out.Category = d.index[dimensionKeyOf(f, f.Dimensions()[source.Category])]
	}
	var err error
	if !source.Exact {
		out.Value, err = expr.Decode(string(source.Program))
	}
	if err != nil {
		expected := "the expression of " + source.Name + ": " + err.Error()
		return out, &snapshot.DamageError{Section: "meta", Expected: expected}
	}
	return out, nil
}

func dimensionKeyOf(f *snapshot.Snapshot, d snapshot.Dimension) dimensionKey {
	id := dimensionKey{name: d.Name, guard: d.Guard}
	if d.Guard && d.Category >= 0 {
		id.category = f.Dimensions()[d.Category].Name
	}
	return id
}

// condition converts terms of f, using the numbers in d. It sorts them by dimension.
func (d *dimensions) condition(f *snapshot.Snapshot, terms []snapshot.Term) relation.Condition {
	out := make(relation.Condition, len(terms))
	for i, t := range terms {
		out[i] = relation.Term{Dimension: d.index[dimensionKeyOf(f, f.Dimensions()[t.Dimension])], Value: t.Value}
	}
	slices.SortFunc(out, byDimension)
	return out
}

func byDimension(a, b relation.Term) int { return a.Dimension - b.Dimension }

// terms converts c for messages, sorted by name. It merges guards with the same name, because they are the same
// variable.
func (d *dimensions) terms(c relation.Condition) []lookup.Term {
	out := make([]lookup.Term, len(c))
	for i, t := range c {
		out[i] = lookup.Term{Name: d.names[t.Dimension], Value: t.Value}
	}
	slices.SortFunc(out, func(a, b lookup.Term) int { return strings.Compare(a.Name, b.Name) })
	return slices.Compact(out)
}
