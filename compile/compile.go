// Package compile composes a site: it decides for all possible requests which binding wins, refuses what conflicts, and
// turns strings and expressions into programs (language.md, sections 5 to 9). It reads no files and knows no bytes of the
// snapshot; its result is a snapshot.Content.
package compile

import (
	"slices"
	"strings"

	"bindc/internal/diag"
	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/loader"
	"bindc/snapshot"
)

// Options change what a site means. The zero value is the default.
type Options struct {
	StrictVariables bool // the use of an unknown variable is an error of the lookup
}

// Compile composes site. What is wrong goes to diags; the Content is of use only if diags has not failed. Of a site that
// was not read whole only the values are checked: who wins could not be said.
func Compile(site *loader.Site, opts Options, diags *diag.List) *snapshot.Content {
	c := &composer{site: site, diags: diags, keys: map[string]int{}, values: map[string]uint32{}, lookups: map[uint32]*recipe.Recipe{},
		contributions: map[string][]candidate{}, declared: map[string][]declaration{}}
	whole := !diags.Failed()
	c.rankConditions()
	c.collect()
	if !whole {
		return nil
	}
	c.checkMultibinds()
	c.decide()
	c.checkLoops()
	c.contribute()
	content := c.content()
	content.Strict = opts.StrictVariables
	return content
}

// composer is one run of Compile.
type composer struct {
	site  *loader.Site
	diags *diag.List

	classes    []int // per condition, the precedence of its categories; 0 is the highest
	classCount int

	keys       map[string]int // number of each key, in order of appearance
	names      []string       // of keys
	candidates [][]candidate  // per key
	values     map[string]uint32
	stored     []snapshot.Stored
	lookups    map[uint32]*recipe.Recipe // of values that look other keys up
	bindings   int

	declared      map[string][]declaration // multibinds by id
	contributions map[string][]candidate   // to multibinds, by id

	defaults []int // per key, the value of its unconditional binding, or -1
	levels   map[levelKey]*level
}

// candidate is a binding under one of its conditions.
type candidate struct {
	binding   *loader.Binding
	layer     int
	condition int
	rank      int // precedence over all layers; 0 is the highest
	place     int // in the input
	value     uint32
	recipe    *recipe.Recipe // of a contribution
}

// rankConditions finds the precedence of every condition by its categories (language.md, section 6): they are compared
// one by one, highest first; where one list is a prefix of the other, the longer is higher. Guards do not count.
func (c *composer) rankConditions() {
	categories := make([][]int, len(c.site.Conditions))
	for i, condition := range c.site.Conditions {
		for _, t := range condition {
			if d := c.site.Dimensions[t.Dimension].Category; d >= 0 {
				categories[i] = append(categories[i], d)
			}
		}
		slices.Sort(categories[i])
		categories[i] = slices.Compact(categories[i])
	}
	distinct := slices.Clone(categories)
	slices.SortFunc(distinct, comparePrecedence)
	distinct = slices.CompactFunc(distinct, slices.Equal)
	c.classCount = len(distinct)
	c.classes = make([]int, len(categories))
	for i, cs := range categories {
		c.classes[i], _ = slices.BinarySearchFunc(distinct, cs, comparePrecedence)
	}
}

// comparePrecedence orders sets of categories, the higher one first.
func comparePrecedence(a, b []int) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i] - b[i]
		}
	}
	return len(b) - len(a)
}

// collect compiles every binding and files it under its key, or under the multibinding it contributes to.
func (c *composer) collect() {
	place := 0
	for layer := range c.site.Layers {
		for i := range c.site.Layers[layer].Contributions {
			bindings := c.site.Layers[layer].Contributions[i].Bindings
			for j := range bindings {
				c.file(&bindings[j], layer, place)
				place++
			}
		}
	}
	c.bindings = place
}

func (c *composer) file(b *loader.Binding, layer, place int) {
	cand := candidate{binding: b, layer: layer, place: place}
	contributes := b.More != nil && b.More.In != nil
	if contributes {
		c.fileContribution(cand)
		return
	}
	cand.value, _ = c.value(b) // one that cannot be compiled takes part all the same: it is reported, and binds the key
	key, ok := c.keys[b.Key]
	if !ok {
		key = len(c.names)
		c.keys[b.Key] = key
		c.names = append(c.names, b.Key)
		c.candidates = append(c.candidates, nil)
	}
	for _, w := range b.When {
		cand.condition, cand.rank = w, layer*c.classCount+c.classes[w]
		c.candidates[key] = append(c.candidates[key], cand)
	}
}

// store interns an encoded value and returns its number.
func (c *composer) store(computed bool, encoded []byte) uint32 {
	prefix := byte('c')
	if computed {
		prefix = 'r'
	}
	key := string(prefix) + string(encoded)
	n, ok := c.values[key]
	if !ok {
		n = uint32(len(c.stored))
		c.values[key] = n
		c.stored = append(c.stored, snapshot.Stored{Computed: computed, Bytes: key[1:]})
	}
	return n
}

// content is the result, keys sorted and levels in order of precedence.
func (c *composer) content() *snapshot.Content {
	out := &snapshot.Content{Values: c.stored, Bindings: c.bindings}
	for _, l := range c.site.Layers {
		out.Layers = append(out.Layers, l.Name)
	}
	for _, d := range c.site.Dimensions {
		dim := snapshot.Dimension{Name: d.Name, Guard: d.Guard, Category: -1}
		if d.Guard {
			dim.Category = d.Category
		}
		if d.Value != nil {
			dim.Program = expr.Append(nil, expr.Fold(d.Value))
		}
		out.Dimensions = append(out.Dimensions, dim)
	}
	for _, in := range c.site.Inputs {
		out.Inputs = append(out.Inputs, snapshot.Input{Path: in.Path, Size: in.Size, Hash: in.Hash})
	}
	number := c.sortedKeys(out)
	c.appendLevels(out, number)
	return out
}

// sortedKeys fills the keys that are bound somewhere; number maps from the order of appearance to the sorted one.
func (c *composer) sortedKeys(out *snapshot.Content) (number []uint32) {
	order := make([]int, len(c.names))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(c.names[a], c.names[b]) })
	number = make([]uint32, len(order))
	for i, k := range order {
		number[k] = uint32(i)
		out.Keys = append(out.Keys, snapshot.Key{Name: c.names[k], Default: c.defaults[k]})
	}
	return number
}
