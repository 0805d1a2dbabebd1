package decision

import (
	"slices"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/lookup"
	"bindc/internal/relation"
	"bindc/snapshot"
)

// dimensions are those of one snapshot, or of two that are compared: what is the same in both is one.
type dimensions struct {
	*relation.Relations
	names []string // as conditions show them
	at    map[dimension]int
}

// dimension identifies one: guards are of a category, "" for common.
type dimension struct {
	name, category string
	guard          bool
}

func newDimensions(files ...*snapshot.Snapshot) (*dimensions, error) {
	out := &dimensions{at: map[dimension]int{}}
	var dims []relation.Dimension
	var programs []string
	for _, f := range files {
		for _, d := range f.Dimensions() {
			id := identity(f, d)
			if i, known := out.at[id]; known {
				if programs[i] != string(d.Program) { // nothing is known of it that holds in both
					dims[i].Value = nil
				}
				continue
			}
			out.at[id] = len(dims)
			dim, err := out.dimension(f, d)
			if err != nil {
				return nil, err
			}
			dims, programs = append(dims, dim), append(programs, string(d.Program))
			out.names = append(out.names, shown(d))
		}
	}
	out.Relations = relation.New(dims, func(int) {})
	return out, nil
}

// dimension is d of f, which is numbered already. Of values that are not folded nothing is known.
func (d *dimensions) dimension(f *snapshot.Snapshot, of snapshot.Dimension) (relation.Dimension, error) {
	out := relation.Dimension{Category: d.at[identity(f, of)], Guard: of.Guard}
	switch {
	case of.Guard && of.Category < 0:
		out.Category = -1
	case of.Guard:
		out.Category = d.at[identity(f, f.Dimensions()[of.Category])]
	}
	var err error
	if !of.Exact {
		out.Value, err = expr.Decode(string(of.Program))
	}
	if err != nil {
		expected := "the expression of " + of.Name + ": " + err.Error()
		return out, &snapshot.DamageError{Section: "meta", Expected: expected}
	}
	return out, nil
}

func identity(f *snapshot.Snapshot, d snapshot.Dimension) dimension {
	id := dimension{name: d.Name, guard: d.Guard}
	if d.Guard && d.Category >= 0 {
		id.category = f.Dimensions()[d.Category].Name
	}
	return id
}

// condition is terms of f as conditions on these dimensions.
func (d *dimensions) condition(f *snapshot.Snapshot, terms []snapshot.Term) relation.Condition {
	out := make(relation.Condition, len(terms))
	for i, t := range terms {
		out[i] = relation.Term{Dimension: d.at[identity(f, f.Dimensions()[t.Dimension])], Value: t.Value}
	}
	slices.SortFunc(out, byDimension)
	return out
}

func byDimension(a, b relation.Term) int { return a.Dimension - b.Dimension }

// shown is c for people, by name. Guards of several categories may share a name, and are one variable.
func (d *dimensions) shown(c relation.Condition) []lookup.Term {
	out := make([]lookup.Term, len(c))
	for i, t := range c {
		out[i] = lookup.Term{Name: d.names[t.Dimension], Value: t.Value}
	}
	slices.SortFunc(out, func(a, b lookup.Term) int { return strings.Compare(a.Name, b.Name) })
	return slices.Compact(out)
}
