// Package relation tells which conditions exclude or imply one another, as the dimensions they are about are functions
// of the same variables (language.md, section 6).
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

// Relations knows which dimensions of a site are functions of the same variables. Conditions on such exclude and imply
// one another as the functions say (language.md, section 6); all others have nothing to do with each other.
//
// A dimension that is text around variables is an equation: `${osfamily}-${environment}` is 'darwin-production' where
// $osfamily is 'darwin' and $environment 'production'. Folding a text folds its parts, so that the variables are known
// as exactly as values are compared. What else an expression computes is one more unknown of such equations, the same
// wherever the same is written, as it depends on nothing but variables; how it depends on them is not looked at.
//
// Each unknown is a dimension of its own too, after those of the site: a condition can ask it to have a text.
type Relations struct {
	named      int // dimensions of the site
	dims       []Dimension
	templates  [][]part // per dimension, what it is the text of, one behind the other
	related    []bool   // per dimension: it shares an unknown with another one, or has none
	unknowns   []unknown
	numbers    map[string]int // of unknowns, by what is written
	spend      func(steps int)
	conditions map[int]Condition // settled, by number
}

// Dimension is a category, or a guard, which a request has one value of.
type Dimension struct {
	Category int        // for a guard, the dimension of its category, -1 if that is common; for a category itself
	Guard    bool       // only requests with a value of its category have one
	Value    *expr.Node // yields the value as text; nil: nothing is known of it
}

// Condition is a set of terms that must all hold, sorted by dimension. The empty condition always holds.
type Condition []Term

// Term asks a dimension to have a value, which is folded.
type Term struct {
	Dimension int
	Value     string
}

// Fold is how values are compared: without regard to case.
func Fold(s string) string { return strings.ToLower(s) }

// part is a folded text, or an unknown.
type part struct {
	text    string
	unknown int // index in Relations.unknowns; -1 for a text
}

// unknown is a variable, or an expression.
type unknown struct {
	computed  bool // it is not just a variable
	slashless bool // its values have no '/'
	mentions  []string
}

// New finds the relations among dims. What it compares is counted by spend, in steps of about 100 ns.
func New(dims []Dimension, spend func(steps int)) *Relations {
	r := &Relations{named: len(dims), dims: slices.Clone(dims), templates: make([][]part, len(dims)),
		related: make([]bool, len(dims)),
		numbers: map[string]int{}, spend: spend, conditions: map[int]Condition{}}
	for d := range dims {
		r.templates[d] = r.template(dims[d].Value)
	}
	users := make([][]int, len(r.unknowns)) // dimensions
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

// template takes the expression of a dimension apart.
func (r *Relations) template(n *expr.Node) []part {
	if n == nil {
		r.unknowns = append(r.unknowns, unknown{computed: true})
		return []part{{unknown: len(r.unknowns) - 1}}
	}
	kids := []*expr.Node{n}
	if n.Op == expr.Concat && !handsOn(n) {
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

// Same reports whether a and b have the same texts and variables in the same order, ignoring case.
func Same(a, b *expr.Node) bool {
	r := New([]Dimension{{Value: a}, {Value: b}}, func(int) {})
	return slices.Equal(joined(r.templates[0]), joined(r.templates[1]))
}

// Caseless returns n without calls of downcase() around it: values are compared without regard to case.
func Caseless(n *expr.Node) *expr.Node {
	for n.Op == expr.Call && n.Name == "downcase" && len(n.Kids) == 1 && n.Lambda == nil {
		n = n.Kids[0]
	}
	return n
}

// joined returns parts with neighbouring texts merged.
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

// handsOn tells whether a part of n may set what another one uses: a local variable, or those of a match.
func handsOn(n *expr.Node) bool {
	for x := range syntax.All(n) {
		if x.Op == expr.Assign || x.Op == expr.Var && x.Name < ":" { // which is a number
			return true
		}
	}
	return false
}

// unknown is the number of what n yields.
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

// variableName identifies a variable, or an entry of one as `$facts['os']['family']`; "" for what is neither.
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

// mentioned are the names of all variables in n.
func mentioned(n *expr.Node) []string {
	var names []string
	for x := range syntax.All(n) {
		if x.Op == expr.Var {
			names = append(names, strings.TrimPrefix(x.Name, "::"))
		}
	}
	return names
}

// Possible tells whether c can hold in some request. What cannot be decided can.
func (r *Relations) Possible(c Condition) bool {
	return !slices.ContainsFunc(c, r.isRelated) || len(r.solutions(c)) > 0
}

func (r *Relations) isRelated(t Term) bool { return r.related[t.Dimension] }

// Together tells whether a and b can hold in one request.
func (r *Relations) Together(a, b Condition) bool {
	for _, t := range a {
		other := func(u Term) bool { return u.Dimension == t.Dimension && u.Value != t.Value }
		if slices.ContainsFunc(b, other) {
			return false
		}
	}
	return r.Possible(Union(a, b))
}

// Implies tells whether b holds whenever a does. What cannot be decided does not.
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

// holds tells whether t holds in every request of a in which the variables are as in w. A guard only does where the
// request has a value of its category, as a category does.
func (r *Relations) holds(t Term, a Condition, w assignment) bool {
	text, determined := r.text(t.Dimension, w)
	return determined && text == t.Value && r.inCategory(r.dims[t.Dimension].Category, a, w)
}

// inCategory tells whether every request of a with the variables of w has a value of a category.
func (r *Relations) inCategory(category int, a Condition, w assignment) bool {
	inCategory := func(t Term) bool { return r.dims[t.Dimension].Category == category }
	if category < 0 || slices.ContainsFunc(a, inCategory) {
		return true
	}
	text, _ := r.text(category, w)
	return text != ""
}

// text is what a dimension is for some unknowns, as far as these are known; false where others count too.
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

// Union is the terms of both conditions.
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
