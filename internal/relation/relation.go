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

// assignment is the folded texts of some unknowns.
type assignment map[int]string

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
			name += "[" + string(value.AppendIdentity(nil, k.Value)) + "]"
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
	text, known := r.text(t.Dimension, w)
	return known && text == t.Value && r.inCategory(r.dims[t.Dimension].Category, a, w)
}

// inCategory tells whether every request of a with the variables of w has a value of a category.
func (r *Relations) inCategory(category int, a Condition, w assignment) bool {
	of := func(t Term) bool { return r.dims[t.Dimension].Category == category }
	if category < 0 || slices.ContainsFunc(a, of) {
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
			var known bool
			text, known = w[p.unknown]
			all = all && known
		}
		b.WriteString(text)
	}
	return b.String(), all
}

// Bounds on the ways that are followed in which a condition can hold. What has more is not decided.
const (
	maxWays  = 64
	maxSteps = 4096
)

// solutions are the ways in which the variables of related dimensions can be so that c holds; none where it never does.
// A term that can hold in too many ways is passed over, as if it said nothing.
func (r *Relations) solutions(c Condition) []assignment {
	ways, _ := r.solve(c)
	return ways
}

// solve returns the solutions, and whether they are all: no term was passed over.
func (r *Relations) solve(c Condition) (ways []assignment, all bool) {
	terms := slices.DeleteFunc(slices.Clone(c), func(t Term) bool { return !r.isRelated(t) })
	slices.SortStableFunc(terms, func(a, b Term) int {
		return cmp.Compare(len(r.templates[a.Dimension]), len(r.templates[b.Dimension]))
	})
	ways, all = []assignment{{}}, true
	for _, t := range terms {
		s := solver{unknowns: r.unknowns}
		for _, w := range ways {
			s.solve(r.templates[t.Dimension], t.Value, w)
		}
		r.spend(4 * s.steps)
		if s.steps <= maxSteps && len(s.ways) <= maxWays {
			ways = s.ways
		} else {
			all = false
		}
	}
	return slices.DeleteFunc(ways, func(w assignment) bool { return r.outside(c, w) }), all
}

// outside tells whether a guard of c belongs to a category that no request with the variables of w has a value of.
func (r *Relations) outside(c Condition, w assignment) bool {
	return slices.ContainsFunc(c, func(t Term) bool {
		category := r.dims[t.Dimension].Category
		if category < 0 {
			return false
		}
		text, known := r.text(category, w)
		return known && text == ""
	})
}

// solver collects the ways to give variables texts so that a template yields a text.
type solver struct {
	unknowns []unknown
	ways     []assignment
	steps    int
}

// solve adds the ways in which parts yield text where the variables of w are known. w is the same when it returns.
func (s *solver) solve(parts []part, text string, w assignment) {
	if s.steps++; s.steps > maxSteps || len(s.ways) > maxWays {
		return
	}
	if len(parts) == 0 {
		if text == "" {
			way := make(assignment, len(w))
			for v, t := range w {
				way[v] = t
			}
			s.ways = append(s.ways, way)
		}
		return
	}
	known, ok := parts[0].text, true
	if isUnknown(parts[0]) {
		known, ok = w[parts[0].unknown]
	}
	if ok {
		if rest, fits := strings.CutPrefix(text, known); fits {
			s.solve(parts[1:], rest, w)
		}
		return
	}
	if len(parts) > 1 { // or else there is nothing that could take the rest
		for n := range text {
			s.give(parts, text, n, w)
		}
	}
	s.give(parts, text, len(text), w)
	delete(w, parts[0].unknown)
}

// give solves the equation where the first part, an unknown, is the first n bytes of text.
func (s *solver) give(parts []part, text string, n int, w assignment) {
	if s.unknowns[parts[0].unknown].slashless && strings.Contains(text[:n], "/") {
		return
	}
	w[parts[0].unknown] = text[:n]
	s.solve(parts[1:], text[n:], w)
}

// Ways splits c by the ways in which it can hold: the conditions it returns exclude one another, and one of them holds
// wherever c does. Those of several ways ask variables to have texts too, by dimensions that are not IsNamed. There are
// none where c never holds. Not all: some terms can hold in more ways than are followed, and are not split.
func (r *Relations) Ways(c Condition) (ways []Condition, all bool) {
	if !slices.ContainsFunc(c, r.isRelated) {
		return []Condition{c}, true
	}
	found, all := r.solve(c)
	if len(found) == 1 {
		return []Condition{c}, all
	}
	for _, w := range found {
		ways = append(ways, Union(c, r.asked(w)))
	}
	return ways, all
}

// asked returns the condition that unknowns have the texts of w.
func (r *Relations) asked(w assignment) Condition {
	var out Condition
	for v, text := range w {
		out = append(out, Term{Dimension: r.named + v, Value: text})
	}
	return out
}

// IsNamed reports whether a dimension is one of the site, and not an unknown.
func (r *Relations) IsNamed(dim int) bool { return dim < r.named }

// Settled is c in a form for an index: of related dimensions, the variables that it determines, numbered behind the
// dimensions, and those of its terms that say more. Where b follows from a, the variables of b are among those of a.
func (r *Relations) Settled(c Condition) Condition {
	if !slices.ContainsFunc(c, r.isRelated) {
		return c
	}
	ways := r.solutions(c)
	if len(ways) == 0 {
		return c
	}
	known := ways[0]
	for _, w := range ways[1:] {
		for v, text := range known {
			if other, ok := w[v]; !ok || other != text {
				delete(known, v)
			}
		}
	}
	return r.in(c, known)
}

// in is c with the unknowns that are known, and without those of its terms which say nothing more.
func (r *Relations) in(c Condition, known assignment) Condition {
	var out Condition
	for _, t := range c {
		if _, all := r.text(t.Dimension, known); !r.isRelated(t) || !all {
			out = append(out, t)
		}
	}
	out = append(out, r.asked(known)...)
	sortTerms(out)
	return out
}

// SettledOf is the condition of a number, settled.
func (r *Relations) SettledOf(number int, c Condition) Condition {
	out, ok := r.conditions[number]
	if !ok {
		out = r.Settled(c)
		r.conditions[number] = out
	}
	return out
}

// IsOpen tells whether a dimension of a settled condition may follow from others.
func (r *Relations) IsOpen(dim int) bool { return r.IsNamed(dim) && r.related[dim] }

// Undecided finds two dimensions of c that depend on one variable in different ways, of which one is computed by more
// than text around variables. What Ways adds to c makes no difference.
func (r *Relations) Undecided(c Condition) (computed, other int, ok bool) {
	for _, t := range c {
		for _, p := range r.templates[t.Dimension] {
			if !r.IsNamed(t.Dimension) || !isUnknown(p) || !r.unknowns[p.unknown].computed {
				continue
			}
			i := slices.IndexFunc(c, func(u Term) bool {
				return u.Dimension != t.Dimension && r.mentions(u.Dimension, p.unknown)
			})
			if i >= 0 {
				return t.Dimension, c[i].Dimension, true
			}
		}
	}
	return 0, 0, false
}

// mentions tells whether a variable of unknown n occurs in another unknown of a dimension of the site.
func (r *Relations) mentions(dim, n int) bool {
	return r.IsNamed(dim) && slices.ContainsFunc(r.templates[dim], func(p part) bool {
		return isUnknown(p) && p.unknown != n && slices.ContainsFunc(r.unknowns[p.unknown].mentions,
			func(name string) bool { return slices.Contains(r.unknowns[n].mentions, name) })
	})
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

// Case is a way in which a condition can hold. What else holds is the same for all requests in which it does so.
type Case struct {
	Condition // settled: in a form for an index
	of        Condition
	way       assignment
}

// Cases are the ways in which c can hold; none where it never does. Of what cannot be decided there is one, in which
// only what is known holds.
func (r *Relations) Cases(c Condition) []Case {
	if !slices.ContainsFunc(c, r.isRelated) {
		return []Case{{Condition: c, of: c}}
	}
	var out []Case
	for _, w := range r.solutions(c) {
		out = append(out, Case{r.in(c, w), c, w})
	}
	return out
}

// Holds tells whether c holds in a case. What cannot be decided does not.
func (r *Relations) Holds(c Condition, in Case) bool {
	return !slices.ContainsFunc(c, func(t Term) bool {
		return !slices.Contains(in.of, t) && !(r.isRelated(t) && r.holds(t, in.of, in.way))
	})
}
