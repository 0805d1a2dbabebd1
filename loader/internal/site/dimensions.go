package site

import (
	"encoding/binary"
	"slices"
	"strconv"

	"bindc/internal/expr"
	"bindc/internal/syntax"
)

// Dimensions collects the dimensions and the conditions of a site, without duplicates.
type Dimensions struct {
	All        []Dimension // categories, followed by guards
	Conditions []Condition // the first is the empty condition
	categories map[string]int
	guards     map[string]int
	singles    []map[string]int // index in Conditions of each condition with one term, by dimension and value
	numbers    map[string]int   // index in Conditions of all other conditions, by their encoding
	key        []byte           // buffer for an encoded condition

	Alternatives int // remaining number of alternatives in all bindings, see loader.DefaultAlternatives

	UnknownCategories
}

// NewDimensions returns Dimensions with the given categories, highest first. alternatives limits the alternatives of
// conditions, summed over all bindings.
func NewDimensions(categories []Dimension, alternatives int) *Dimensions {
	d := &Dimensions{Alternatives: alternatives, Conditions: []Condition{nil}, categories: map[string]int{},
		guards: map[string]int{}, numbers: map[string]int{"": 0}}
	for i, c := range categories {
		c.Category = i
		d.categories[c.Name] = i
		d.All = append(d.All, c)
	}
	return d
}

// Category returns the index of a category, or -1 for common. ok is false if the site has no such category.
func (d *Dimensions) Category(name string) (int, bool) {
	if name == Common {
		return -1, true
	}
	i, ok := d.categories[name]
	return i, ok
}

// CategoryNames returns the names of all categories, including common, highest first.
func (d *Dimensions) CategoryNames() []string {
	var out []string
	for _, d := range d.All {
		if !d.Guard {
			out = append(out, d.Name)
		}
	}
	return append(out, Common)
}

// NameOf returns the name of the category with the given index.
func (d *Dimensions) NameOf(category int) string {
	if category < 0 {
		return Common
	}
	return d.All[category].Name
}

// Guard returns the index of the guard with the value n for files of a category. It adds the guard if it is new.
func (d *Dimensions) Guard(category int, n *expr.Node) int {
	source := syntax.Print(n)
	key := strconv.Itoa(category) + " " + source
	i, ok := d.guards[key]
	if !ok {
		i = len(d.All)
		d.guards[key] = i
		d.All = append(d.All, Dimension{Name: source, Category: category, Guard: true, Value: n})
	}
	return i
}

// Condition returns the index of c in Conditions. It adds c if it is new.
func (d *Dimensions) Condition(c Condition) int {
	if len(c) == 1 {
		return d.single(c)
	}
	slices.SortFunc(c, func(a, b Term) int { return a.Dimension - b.Dimension })
	key := d.key[:0]
	for _, t := range c {
		key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(t.Dimension)), uint64(len(t.Value)))
		key = append(key, t.Value...)
	}
	d.key = key
	i, ok := d.numbers[string(key)]
	if !ok {
		i = len(d.Conditions)
		d.numbers[string(key)] = i
		d.Conditions = append(d.Conditions, c)
	}
	return i
}

// ExpectConditions prepares for about n new conditions, whose terms most often have the dimension dim.
func (d *Dimensions) ExpectConditions(dim, n int) {
	for len(d.singles) <= dim {
		d.singles = append(d.singles, nil)
	}
	if d.singles[dim] == nil {
		d.singles[dim] = make(map[string]int, n)
	}
	d.Conditions = slices.Grow(d.Conditions, n)
}

// single is Condition for a condition with one term, which is the usual case.
func (d *Dimensions) single(c Condition) int {
	t := c[0]
	d.ExpectConditions(t.Dimension, 1)
	i, ok := d.singles[t.Dimension][t.Value]
	if !ok {
		i = len(d.Conditions)
		d.singles[t.Dimension][t.Value] = i
		d.Conditions = append(d.Conditions, c)
	}
	return i
}

// Whole returns the index of the case-sensitive dimension whose value is the whole path n. It adds the dimension if it
// is new.
func (d *Dimensions) Whole(n *expr.Node, name string) int {
	key := "whole " + string(expr.Append(nil, n))
	i, ok := d.guards[key]
	if !ok {
		i = len(d.All)
		d.guards[key] = i
		d.All = append(d.All, Dimension{Name: name, Category: -1, Guard: true, Exact: true, Value: n})
	}
	return i
}

// Common is the name of the category that contains all requests. It has no dimension.
const Common = "common"
