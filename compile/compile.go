// Package compile composes a site: it decides for all possible requests which binding wins, refuses what conflicts, and
// turns strings and expressions into programs (language.md, sections 5 to 9). It reads no files and knows no bytes of
// the snapshot; its result is a snapshot.Content.
package compile

import (
	"iter"
	"slices"
	"strings"

	"bindc/internal/binding"
	"bindc/internal/diag"
	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/recipe"
	"bindc/internal/relation"
	"bindc/loader"
	"bindc/snapshot"
)

// Options change what a site means. The zero value is the default.
type Options struct {
	StrictVariables bool // the use of an unknown variable is an error of the lookup
	Effort          int  // how much is compared to find conflicts and loops, see effort; default: DefaultEffort
}

// Compile composes site. What is wrong goes to diags; the Content is of use only if diags has not failed. Of a site
// that was not read whole only the values are checked: who wins cannot be said.
func Compile(site *loader.Site, opts Options, diags *diag.List) *snapshot.Content {
	return newComposer(site, opts, diags).compose()
}

func newComposer(site *loader.Site, opts Options, diags *diag.List) *composer {
	left := newEffort(opts.Effort)
	return &composer{site: site, opts: opts, diags: diags, relations: relationsOf(site.Dimensions, left), effort: left,
		keys: slices.Clip(site.Keys), values: slices.Clip(site.Values), lists: map[string]uint32{},
		scopeAt:       make(map[scopeKey]int, len(site.Conditions)),
		contributions: map[string][]candidate{}, declared: map[string][]declaration{}, broken: map[string]bool{},
		through: map[uint32]bool{}, erased: map[uint32]bool{},
		renamedKeys: map[string]bool{}, renamed: map[string]bool{}}
}

func (c *composer) compose() *snapshot.Content {
	whole := !c.diags.Incomplete()
	c.rankConditions()
	c.collect()
	if !whole {
		return nil
	}
	c.rebind()
	c.constrain()
	c.mergeHiera()
	c.numberKeys()
	c.contribute()
	c.addHierarchies()
	c.findFloors()
	c.fillLevels()
	c.check()
	content := c.content()
	content.Strict, content.ARM8 = c.opts.StrictVariables, c.arm8
	return content
}

// relationsOf are the relations among the dimensions of a site.
func relationsOf(dims []loader.Dimension, left *effort) *relation.Relations {
	out := make([]relation.Dimension, len(dims))
	for i, d := range dims {
		out[i] = relation.Dimension{Category: d.Category, Guard: d.Guard, Value: d.Value}
		if d.Exact {
			out[i].Value = nil // what is known of values is known of folded ones
		}
	}
	return relation.New(out, func(steps int) { left.spend(steps) })
}

// composer is one run of Compile. Keys have two numbers: those of the site, where keys of files that do not count may
// be too, and those in the order of names, which is that of the snapshot. Values likewise.
type composer struct {
	site      *loader.Site
	opts      Options
	diags     *diag.List
	relations *relation.Relations
	effort    *effort

	shapes     []shape
	shapeOf    []int // per condition
	classCount int   // of categories, see shape

	keys   []string          // of the site, and the internal ones of multibindings
	values []string          // of the site, and the lists of contributions
	lists  map[string]uint32 // the numbers of these

	scopes    []scope
	scopeAt   map[scopeKey]int
	bindings  int
	sensitive bool // one of them is
	arm8      bool // one of them is an operation of ARM-8

	names    []string // of keys, sorted
	inNames  []uint32 // place of a key in names, by its number in keys
	stored   []uint32 // numbers in values of those that are bound, in order of appearance
	inStored []uint32 // place of a value in stored, plus one, by its number in values

	rebound     []rebound       // bindings that are what another key is, or what is below them
	through     map[uint32]bool // values that are not final, see recipe.IsFinal, by their numbers in values
	erased      map[uint32]bool // keys that are renamed, by their numbers in keys
	renamedKeys map[string]bool // these
	renamed     map[string]bool // ids of multibindings with contributions that are

	merged      map[uint32]mergedKey // by their numbers in keys
	hierarchies *member              // what can fail all lookups; nil if nothing can
	refused     map[diag.Pos]bool    // patterns of lookup_options already reported for taking too many steps

	declared      map[string][]declaration // multibinds by id
	broken        map[string]bool          // ids of those with something wrong
	contributions map[string][]candidate   // to multibinds, by id

	floors   []int // per key, the rank of its highest unconditional binding, or noRank
	defaults []int // per key, the value of that binding, or -1
	levels   map[levelKey]*level

	indexes map[uint32]*keyIndex // of the keys about which there is a question, by their number in names

	outsiders [][]outsider // per key, the bindings that are in no scope
}

// shape is the dimensions a condition names.
type shape struct {
	dims  []int
	class int // precedence by categories; 0 is the highest
}

// scope is what one layer binds under one condition, in order of the input.
type scope struct {
	layer, condition int
	rank             int // precedence over all layers; 0 is the highest
	members          []member
	hidden           []*loader.DataFile // of which other members have all keys, see loader.DataFile
	contributions    []snapshot.Entry   // under internal keys, see contribute
}

type scopeKey struct{ layer, condition int }

// member is a data file, or one structured binding.
type member struct {
	place   int // in the input; of a file, of its first entry
	file    *loader.DataFile
	binding *loader.Binding

	key, value uint32 // of the binding, in the site
}

// candidate is a binding under one of its conditions.
type candidate struct {
	binding   *loader.Binding  // nil for
	file      *loader.DataFile // entry of a data file
	entry     int
	key       uint32 // in names
	layer     int
	condition int
	rank      int
	place     int
	value     uint32         // in values
	recipe    *recipe.Recipe // of a contribution
}

// pos is where the candidate is written.
func (c *candidate) pos() diag.Pos {
	if c.binding != nil {
		return c.binding.Pos
	}
	return c.file.Pos(c.entry)
}

// more is what only the long form has, or nil.
func (c *candidate) more() *binding.Binding {
	if c.binding == nil {
		return nil
	}
	return c.binding.More
}

// final tells whether c answers wherever it is effective, and nothing behind it is asked for, see recipe.IsFinal.
func (c *candidate) final() bool {
	r := c.computed()
	return r == nil || r.IsFinal()
}

// erases tells whether c takes its name from what is below.
func (c *candidate) erases() bool {
	r := c.computed()
	return r != nil && r.Kind == recipe.Erased
}

// computed is what c says in the long form, or nil.
func (c *candidate) computed() *recipe.Recipe {
	if c.binding == nil {
		return nil
	}
	return recipeOf(c.binding)
}

func recipeOf(b *loader.Binding) *recipe.Recipe {
	if b.More == nil {
		return nil
	}
	return b.More.Recipe
}

// rankConditions finds the precedence of every condition by its categories (language.md, section 6): they are compared
// one by one, highest first; where one list is a prefix of the other, the longer is higher. Guards do not count.
func (c *composer) rankConditions() {
	c.findShapes()
	categories := make([][]int, len(c.shapes))
	for i, s := range c.shapes {
		for _, dim := range s.dims {
			if d := c.site.Dimensions[dim].Category; d >= 0 {
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
	for i, cs := range categories {
		c.shapes[i].class, _ = slices.BinarySearchFunc(distinct, cs, comparePrecedence)
	}
}

func (c *composer) findShapes() {
	seen := map[string]int{}
	c.shapeOf = make([]int, len(c.site.Conditions))
	var key []byte
	for i, condition := range c.site.Conditions {
		key = key[:0]
		for _, t := range condition {
			key = appendDim(key, t.Dimension)
		}
		n, ok := seen[string(key)]
		if !ok {
			n = len(c.shapes)
			seen[string(key)] = n
			c.shapes = append(c.shapes, shape{dims: dimsOf(condition)})
		}
		c.shapeOf[i] = n
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

// rank is the precedence of what a layer binds under a condition.
func (c *composer) rank(layer, condition int) int {
	return layer*c.classCount + c.shapes[c.shapeOf[condition]].class
}

// collect files every binding under its scope, or under the multibinding it contributes to.
func (c *composer) collect() {
	for layer := range c.site.Layers {
		for i := range c.site.Layers[layer].Contributions {
			contribution := &c.site.Layers[layer].Contributions[i]
			for j := range contribution.Files {
				c.addFile(&contribution.Files[j], layer)
			}
			for j := range contribution.Bindings {
				c.addBinding(&contribution.Bindings[j], layer)
			}
		}
	}
	c.transfer()
	c.bindCollected()
}

func (c *composer) addFile(f *loader.DataFile, layer int) {
	s := c.scope(layer, f.Condition)
	if f.Hidden {
		s.hidden = append(s.hidden, f)
	} else {
		s.members = append(s.members, member{place: c.bindings, file: f})
	}
	c.bindings += len(f.Entries)
	for _, e := range f.Entries {
		c.store(e.Value)
	}
}

func (c *composer) addBinding(b *loader.Binding, layer int) {
	place := c.bindings
	c.bindings++
	if b.More != nil && b.More.Recipe != nil && b.More.Recipe.Sensitive {
		c.sensitive = true
	}
	if b.More != nil && b.More.Multibind != nil {
		c.declare(b)
	}
	if b.More != nil && b.More.In != nil {
		c.fileContribution(candidate{binding: b, layer: layer, place: place})
		return
	}
	if b.More != nil && b.More.Rebinds != nil {
		c.rebound = append(c.rebound, rebound{Binding: b, layer: layer, place: place})
		return
	}
	c.file(b, layer, place)
}

// file files a binding under its conditions.
func (c *composer) file(b *loader.Binding, layer, place int) {
	m := member{place: place, binding: b, key: b.Number, value: b.Value}
	c.store(m.value)
	if r := recipeOf(b); r != nil && !r.IsFinal() {
		c.through[m.value], c.arm8 = true, true
	}
	for _, w := range b.When {
		s := c.scope(layer, w)
		s.members = append(s.members, m)
	}
}

func (c *composer) scope(layer, condition int) *scope {
	at, ok := c.scopeAt[scopeKey{layer, condition}]
	if !ok {
		at = len(c.scopes)
		c.scopeAt[scopeKey{layer, condition}] = at
		c.scopes = append(c.scopes, scope{layer: layer, condition: condition, rank: c.rank(layer, condition)})
	}
	return &c.scopes[at]
}

// valueNumber is the number of a value that is none of the site's.
func (c *composer) valueNumber(r *recipe.Recipe) uint32 {
	text := string(recipe.AppendCompiled(nil, r))
	n, ok := c.lists[text]
	if !ok {
		n = uint32(len(c.values))
		c.values, c.lists[text] = append(c.values, text), n
	}
	return n
}

// store makes a value one of the snapshot.
func (c *composer) store(value uint32) {
	if int(value) >= len(c.inStored) {
		c.inStored = append(c.inStored, make([]uint32, max(int(value)+1, len(c.values))-len(c.inStored))...)
	}
	if c.inStored[value] == 0 {
		c.stored = append(c.stored, value)
		c.inStored[value] = uint32(len(c.stored))
	}
}

// members ranges over the keys that s binds and their values, by their numbers in the site.
func (c *composer) members(s *scope) iter.Seq2[uint32, uint32] {
	return func(yield func(key, value uint32) bool) {
		for i := range s.members {
			m := &s.members[i]
			if m.binding != nil {
				if !yield(m.key, m.value) {
					return
				}
				continue
			}
			for _, e := range m.file.Entries {
				if !yield(e.Key, e.Value) {
					return
				}
			}
		}
	}
}

// numberKeys sorts the keys that are bound somewhere, and those that contributions are filed under.
func (c *composer) numberKeys() {
	var bound []uint32
	for id := range c.contributions {
		if len(c.declared[id]) > 0 {
			bound = append(bound, uint32(len(c.keys)))
			c.keys = append(c.keys, recipe.ContributionKey(id))
		}
	}
	for _, m := range c.merged {
		bound = append(bound, m.key)
	}
	if c.hierarchies != nil {
		bound = append(bound, c.hierarchies.key)
	}
	texts := c.keys
	seen := make([]bool, len(texts))
	for i := range c.scopes {
		for key := range c.members(&c.scopes[i]) {
			if !seen[key] {
				seen[key] = true
				bound = append(bound, key)
			}
		}
	}
	slices.SortFunc(bound, func(a, b uint32) int { return strings.Compare(texts[a], texts[b]) })
	c.names, c.inNames = make([]string, len(bound)), make([]uint32, len(texts))
	c.outsiders = make([][]outsider, len(bound))
	for i, key := range bound {
		c.names[i] = texts[key]
		c.inNames[key] = uint32(i)
	}
}

// keyNumber is the number of a key in names.
func (c *composer) keyNumber(name string) (uint32, bool) {
	at, ok := slices.BinarySearch(c.names, name)
	return uint32(at), ok
}

// content is the result: keys sorted, values in order of appearance, levels in order of precedence.
func (c *composer) content() *snapshot.Content {
	out := &snapshot.Content{Bindings: c.bindings, Sensitive: c.sensitive,
		Keys: make([]snapshot.Key, len(c.names)), Values: make([]snapshot.Stored, len(c.stored))}
	for _, l := range c.site.Layers {
		out.Layers = append(out.Layers, l.Name)
	}
	out.Hiera = c.hieraPlaces()
	for _, d := range c.site.Dimensions {
		dim := snapshot.Dimension{Name: d.Name, Guard: d.Guard, Exact: d.Exact, Category: -1,
			Program: expr.Append(nil, expr.Fold(d.Value, stdlib.Functions))}
		if d.Guard {
			dim.Category = d.Category
		}
		out.Dimensions = append(out.Dimensions, dim)
	}
	for _, in := range c.site.Inputs {
		out.Inputs = append(out.Inputs, snapshot.Input{Path: in.Path, Size: in.Size, Hash: in.Hash})
	}
	ranks := c.appendLevels(out)
	for i, name := range c.names {
		out.Keys[i] = snapshot.Key{Name: name, Default: c.defaults[i], Cold: c.cold(i, ranks)}
	}
	texts := c.values
	for i, n := range c.stored {
		out.Values[i] = snapshot.Stored{Computed: texts[n][0] != recipe.CompiledConstant, Bytes: texts[n][1:]}
	}
	return out
}
