package loader

import (
	"slices"
	"strconv"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/syntax"
)

// dimensions are the dimensions and the conditions of a site while they are collected: of each there is one.
type dimensions struct {
	all        []Dimension // the categories, then guards
	conditions []Condition // the first is the empty one
	categories map[string]int
	guards     map[string]int
	numbers    map[string]int // of conditions

	alternatives int // of bindings, that there may still be, see setCompiler.multiply
}

// newDimensions starts with the dimensions of the categories, highest first. Bindings may have so many alternatives.
func newDimensions(categories []Dimension, alternatives int) *dimensions {
	d := &dimensions{alternatives: alternatives, conditions: []Condition{nil}, categories: map[string]int{},
		guards: map[string]int{}, numbers: map[string]int{"": 0}}
	for i, c := range categories {
		c.Category = i
		d.categories[c.Name] = i
		d.all = append(d.all, c)
	}
	return d
}

// category is the dimension of a category, -1 for common.
func (d *dimensions) category(name string) (int, bool) {
	if name == common {
		return -1, true
	}
	i, ok := d.categories[name]
	return i, ok
}

func (d *dimensions) categoryNames() []string {
	var out []string
	for _, d := range d.all {
		if !d.Guard {
			out = append(out, d.Name)
		}
	}
	return append(out, common)
}

func (d *dimensions) nameOf(category int) string {
	if category < 0 {
		return common
	}
	return d.all[category].Name
}

// guard is the dimension that yields n for requests that have a value of category.
func (d *dimensions) guard(category int, n *expr.Node) int {
	source := syntax.Print(n)
	key := strconv.Itoa(category) + " " + source
	i, ok := d.guards[key]
	if !ok {
		i = len(d.all)
		d.guards[key] = i
		d.all = append(d.all, Dimension{Name: source, Category: category, Guard: true, Value: n})
	}
	return i
}

// condition is the number of c.
func (d *dimensions) condition(c Condition) int {
	slices.SortFunc(c, func(a, b Term) int { return a.Dimension - b.Dimension })
	var key strings.Builder
	for _, t := range c {
		key.WriteString(strconv.Itoa(t.Dimension) + "=" + t.Value + "\x00")
	}
	i, ok := d.numbers[key.String()]
	if !ok {
		i = len(d.conditions)
		d.numbers[key.String()] = i
		d.conditions = append(d.conditions, c)
	}
	return i
}

// whole is the dimension that yields n, a path, of which the case counts.
func (d *dimensions) whole(n *expr.Node, name string) int {
	key := "whole " + string(expr.Append(nil, n))
	i, ok := d.guards[key]
	if !ok {
		i = len(d.all)
		d.guards[key] = i
		d.all = append(d.all, Dimension{Name: name, Category: -1, Guard: true, Exact: true, Value: n})
	}
	return i
}

const common = "common"
