// Package relation decides which conditions exclude or imply each other because their dimensions are functions of the
// same variables (docs/language.md, section 6).
package relation

import (
	"cmp"
	"slices"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/syntax"
	"bindc/internal/value"
)

// Relations knows which dimensions of a site are functions of the same variables. Conditions on these dimensions can
// exclude or imply each other (docs/language.md, section 6); all other conditions are independent.
//
// A dimension that is text with variables is an equation: `${osfamily}-${environment}` is 'darwin-production' if
// $osfamily is 'darwin' and $environment is 'production'. Values are compared case-folded, and folding a string folds
// its parts, so the equation determines the folded variables. Any other expression in the text is an unknown of the
// equation. Equal expressions are the same unknown, because they depend only on variables. Relations does not analyze
// how they depend on them.
//
// Each unknown also has the number of a dimension, after the dimensions of the site, so that a condition can require a
// value of it.
type Relations struct {
	named      int // number of dimensions of the site
	dims       []Dimension
	templates  [][]part // by dimension: the parts of its text
	related    []bool   // by dimension: whether it shares an unknown with another dimension, or has none
	unknowns   []unknown
	numbers    map[string]int // numbers of unknowns, by source text
	spend      func(steps int)
	conditions map[int]Condition // settled conditions, by the original condition's number
}

// Dimension is a category or a guard. Each request has one value for it.
type Dimension struct {
	Category int        // for a guard, its category's dimension, or -1 for common; for a category, its own dimension
	Guard    bool       // only requests with a value of Category have a value of this guard
	Value    *expr.Node // expression for the value as text; nil if unknown
}

// Condition is a conjunction of terms, sorted by dimension. The empty condition always holds.
type Condition []Term

// Term holds for requests with a given value of a dimension. The value is folded.
type Term struct {
	Dimension int
	Value     string
}

// Fold folds the case of s. Values that differ only in case are equal.
func Fold(s string) string { return strings.ToLower(s) }

type part struct {
	text    string
	unknown int // index in Relations.unknowns, or -1 for text
}

// unknown is a variable or another expression in the text of a dimension.
type unknown struct {
	computed  bool // an expression that is not just a variable
	slashless bool // its values never contain '/'
	mentions  []string
}

// New finds the relations among dims. It calls spend with the number of comparisons, in steps of about 100 ns.
func New(dims []Dimension, spend func(steps int)) *Relations {
	r := &Relations{named: len(dims), dims: slices.Clone(dims), templates: make([][]part, len(dims)),
		related: make([]bool, len(dims)),
		numbers: map[string]int{}, spend: spend, conditions: map[int]Condition{}}
	for d := range dims {
		r.templates[d] = r.template(dims[d].Value)
	}
	users := make([][]int, len(r.unknowns)) // dimensions, by unknown
	for d, parts := range r.templates {
		r.related[d] = !slices.ContainsFunc(parts, isUnknown)
		for _, p := range parts {
			if isUnknown(p) {
				users[p.unknown] = append(users[p.unknown], d)
			}
		}
	}
	for _, ds := range users {
		ds = slices.Compact(ds)
		for _, d := range ds {
			r.related[d] = r.related[d] || len(ds) > 1
		}
	}
	for u := range r.unknowns {
		r.dims = append(r.dims, Dimension{Category: -1})
		r.templates, r.related = append(r.templates, []part{{unknown: u}}), append(r.related, true)
	}
	return r
}

func isUnknown(p part) bool { return p.unknown >= 0 }

// template splits the expression of a dimension into strings and unknowns.
func (r *Relations) template(n *expr.Node) []part {
	if n == nil {
		r.unknowns = append(r.unknowns, unknown{computed: true})
		return []part{{unknown: len(r.unknowns) - 1}}
	}
	kids := []*expr.Node{n}
	if n.Op == expr.Concat && !setsVariables(n) {
		kids = n.Kids
	}
	var out []part
	for _, k := range kids {
		if v, ok := expr.Fold(k, stdlib.Functions).Constant(); ok {
			out = append(out, part{Fold(string(value.AppendText(nil, v))), -1})
		} else {
			out = append(out, part{unknown: r.unknown(Caseless(k))})
		}
	}
	return out
}

// Same reports whether a and b have the same strings and variables in the same order, ignoring case.
func Same(a, b *expr.Node) bool {
	r := New([]Dimension{{Value: a}, {Value: b}}, func(int) {})
	return slices.Equal(joined(r.templates[0]), joined(r.templates[1]))
}

// Caseless removes calls of downcase() around n, because values are compared ignoring case.
func Caseless(n *expr.Node) *expr.Node {
	for n.Op == expr.Call && n.Name == "downcase" && len(n.Kids) == 1 && n.Lambda == nil {
		n = n.Kids[0]
	}
	return n
}

// joined merges adjacent strings in parts.
func joined(parts []part) []part {
	var out []part
	for _, p := range parts {
		last := len(out) - 1
		switch {
		case isUnknown(p) || last < 0 || isUnknown(out[last]):
			out = append(out, p)
		default:
			out[last].text += p.text
		}
	}
	return out
}

// setsVariables reports whether n may set a variable that another part uses: a local variable, or a match.
func setsVariables(n *expr.Node) bool {
	for x := range syntax.All(n) {
		if x.Op == expr.Assign || x.Op == expr.Var && x.Name < ":" { // a match variable is a number
			return true
		}
	}
	return false
}

// unknown returns the index in r.unknowns of n. It adds n if it is new.
func (r *Relations) unknown(n *expr.Node) int {
	folded := expr.Fold(n, stdlib.Functions)
	name := variableName(folded)
	computed := name == ""
	if computed {
		name = "=" + syntax.Print(n)
	}
	i, ok := r.numbers[name]
	if !ok {
		i = len(r.unknowns)
		r.numbers[name] = i
		r.unknowns = append(r.unknowns, unknown{computed, WithoutSlash(folded), mentioned(n)})
	}
	return i
}

// variableName returns an identifier of a variable, or of an element such as `$facts['os']['family']`. It returns ""
// for other expressions.
func variableName(n *expr.Node) string {
	switch n.Op {
	case expr.Var:
		return strings.TrimPrefix(n.Name, "::")
	case expr.Access:
		name := variableName(n.Kids[0])
		if name == "" {
			return ""
		}
		for _, k := range n.Kids[1:] {
			if k.Op != expr.Const {
				return ""
			}
			name += "[" + string(value.AppendDistinct(nil, k.Value)) + "]"
		}
		return name
	}
	return ""
}

func mentioned(n *expr.Node) []string {
	var names []string
	for x := range syntax.All(n) {
		if x.Op == expr.Var {
			names = append(names, strings.TrimPrefix(x.Name, "::"))
		}
	}
	return names
}

// Possible reports whether the condition c can hold for any request. If this cannot be decided, it returns true.
func (r *Relations) Possible(c Condition) bool {
	return !slices.ContainsFunc(c, r.isRelated) || len(r.solutions(c)) > 0
}

func (r *Relations) isRelated(t Term) bool { return r.related[t.Dimension] }

// Together reports whether the conditions a and b can hold for the same request.
func (r *Relations) Together(a, b Condition) bool {
	for _, t := range a {
		other := func(u Term) bool { return u.Dimension == t.Dimension && u.Value != t.Value }
		if slices.ContainsFunc(b, other) {
			return false
		}
	}
	return r.Possible(Union(a, b))
}

// Implies reports whether the condition b holds whenever the condition a holds. If this cannot be decided, it returns
// false.
func (r *Relations) Implies(a, b Condition) bool {
	var ways []assignment
	for _, t := range b {
		if slices.Contains(a, t) {
			continue
		}
		if !r.isRelated(t) {
			return false
		}
		if ways == nil {
			ways = r.solutions(a)
		}
		if slices.ContainsFunc(ways, func(w assignment) bool { return !r.holds(t, a, w) }) {
			return false
		}
	}
	return true
}

// holds reports whether the term t holds in every request in which the condition a holds and the unknowns have the
// values in w. For a guard, the request must also have a value of the guard's category.
func (r *Relations) holds(t Term, a Condition, w assignment) bool {
	text, determined := r.text(t.Dimension, w)
	return determined && text == t.Value && r.inCategory(r.dims[t.Dimension].Category, a, w)
}

// inCategory reports whether every request in which the condition a holds and the unknowns have the values in w has a
// value of the category.
func (r *Relations) inCategory(category int, a Condition, w assignment) bool {
	inCategory := func(t Term) bool { return r.dims[t.Dimension].Category == category }
	if category < 0 || slices.ContainsFunc(a, inCategory) {
		return true
	}
	text, _ := r.text(category, w)
	return text != ""
}

// text returns the text of a dimension, given the values in w. It returns false if the text also depends on other
// unknowns.
func (r *Relations) text(dim int, w assignment) (string, bool) {
	var b strings.Builder
	all := true
	for _, p := range r.templates[dim] {
		text := p.text
		if isUnknown(p) {
			var determined bool
			text, determined = w[p.unknown]
			all = all && determined
		}
		b.WriteString(text)
	}
	return b.String(), all
}

// Union returns the conjunction of two conditions.
func Union(a, b Condition) Condition {
	out := slices.Clone(a)
	for _, t := range b {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	sortTerms(out)
	return out
}

func sortTerms(c Condition) {
	slices.SortFunc(c, func(x, y Term) int { return cmp.Compare(x.Dimension, y.Dimension) })
}
