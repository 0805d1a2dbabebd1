package site

import (
	"slices"
	"strconv"

	"bindc/internal/expr"
	"bindc/internal/syntax"
)

// Dimensions collects the dimensions and the conditions of a site, each once.
type Dimensions struct {
	All        []Dimension // the categories, then guards
	Conditions []Condition // the first is the empty one
	categories map[string]int
	guards     map[string]int
	numbers    map[string]int // of conditions
	key        []byte         // the memory for a key of numbers

	Alternatives int // of bindings, that there may still be, see setCompiler.multiply

	UnknownCategories
}

// NewDimensions returns Dimensions that begin with those of the categories, highest first. alternatives limits the
// alternatives of all bindings.
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

// Category returns the dimension of a category; -1 for common. ok is false if the site has no such category.
func (d *Dimensions) Category(name string) (int, bool) {
	if name == Common {
		return -1, true
	}
	i, ok := d.categories[name]
	return i, ok
}

// CategoryNames returns the names of the categories, highest first.
func (d *Dimensions) CategoryNames() []string {
	var out []string
	for _, d := range d.All {
		if !d.Guard {
			out = append(out, d.Name)
		}
	}
	return append(out, Common)
}

// NameOf returns the name of the category with that dimension.
func (d *Dimensions) NameOf(category int) string {
	if category < 0 {
		return Common
	}
	return d.All[category].Name
}

// Guard returns the dimension that yields n for requests that have a value of category.
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

// Condition returns the number of c.
func (d *Dimensions) Condition(c Condition) int {
	slices.SortFunc(c, func(a, b Term) int { return a.Dimension - b.Dimension })
	key := d.key[:0]
	for _, t := range c {
		key = append(append(append(strconv.AppendInt(key, int64(t.Dimension), 10), '='), t.Value...), 0)
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

// Whole returns the dimension that yields the path n. The case of its values counts.
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

// Common is the category of every request. It has no dimension.
const Common = "common"
