package policy

import (
	"slices"
	"strconv"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/report/decision"
	"bindc/internal/types"
	"bindc/internal/value"
)

// condition describes the requests of a policy as a tree of and, or, not and literals.
type condition struct {
	op   operator
	kids []*condition
	lit  literal
}

type operator uint8

const (
	isLiteral operator = iota
	and
	or
	not
)

// literal requires a category or a variable to have a value, regardless of case. A literal with any other expression is
// opaque: the proof knows nothing about the requests in which the expression holds.
type literal struct {
	category string
	variable string // path of the variable, as in decision.Piece
	text     string // the value, case-folded
	written  string // the value as in the source

	expression *expr.Node // evaluates a literal that is not about a category
	operand    *expr.Node // the variable in expression; nil if a string interpolates it
}

func (l *literal) isOpaque() bool { return l.category == "" && l.variable == "" }

// dependsOnKind reports whether l compares a variable with a text that is also the text of a number, a boolean, an
// array or a hash. Such a value does not equal the text.
func (l *literal) dependsOnKind() bool {
	if l.operand == nil {
		return false
	}
	_, err := strconv.ParseFloat(l.text, 64)
	return err == nil || l.text == "true" || l.text == "false" || strings.ContainsAny(l.text[:1], "[{")
}

// all returns the conjunction of conditions. nil conditions always hold.
func all(cs ...*condition) *condition { return joined(and, cs) }

// joined joins conditions that are not nil.
func joined(op operator, cs []*condition) *condition {
	cs = slices.DeleteFunc(cs, func(c *condition) bool { return c == nil })
	switch len(cs) {
	case 0:
		return nil
	case 1:
		return cs[0]
	}
	return &condition{op: op, kids: cs}
}

func negated(c *condition) *condition { return &condition{op: not, kids: []*condition{c}} }

// ofExpression converts an expression over facts. Comparisons of a variable with a string become literals.
func ofExpression(n *expr.Node) *condition {
	switch {
	case n.Op == expr.Binary && n.Name == "and":
		return joined(and, []*condition{ofExpression(n.Kids[0]), ofExpression(n.Kids[1])})
	case n.Op == expr.Binary && n.Name == "or":
		return joined(or, []*condition{ofExpression(n.Kids[0]), ofExpression(n.Kids[1])})
	case n.Op == expr.Unary && n.Name == "!":
		return negated(ofExpression(n.Kids[0]))
	case n.Op == expr.Binary && n.Name == "!=":
		same := *n
		same.Name = "=="
		return negated(ofExpression(&same))
	case n.Op == expr.Binary && n.Name == "==":
		if c := equality(n, n.Kids[0], n.Kids[1]); c != nil {
			return c
		}
		if c := equality(n, n.Kids[1], n.Kids[0]); c != nil {
			return c
		}
	case n.Op == expr.Binary && n.Name == "in":
		if c := membership(n); c != nil {
			return c
		}
	}
	return &condition{lit: literal{expression: n}}
}

// equality returns the literal for a comparison of a variable with a constant string, or nil for any other operands.
// The variable may also be interpolated in a string.
func equality(n, variable, constant *expr.Node) *condition {
	operand := variable
	if variable.Op == expr.Concat && len(variable.Kids) == 1 {
		operand, variable = nil, variable.Kids[0]
	}
	path, ok := decision.VariablePath(variable)
	v, isConstant := constant.Constant()
	if !ok || !isConstant || v.Kind() != value.String || v.Text() == "" {
		return nil
	}
	return &condition{lit: literal{variable: path, text: fold(v.Text()), written: v.Text(), expression: n,
		operand: operand}}
}

// membership returns the alternatives of `$x in ['a', 'b']`, or nil if n is anything else.
func membership(n *expr.Node) *condition {
	list, ok := n.Kids[1].Constant()
	if n.Kids[1].Op == expr.ArrayLit {
		folded := expr.Fold(n.Kids[1], stdlib.Functions)
		list, ok = folded.Constant()
	}
	if !ok || list.Kind() != value.Array || list.Len() == 0 {
		return nil
	}
	var out []*condition
	for e := range list.Elems() {
		same := &expr.Node{Op: expr.Binary, Name: "==", Off: n.Off,
			Kids: []*expr.Node{n.Kids[0], {Op: expr.Const, Value: e}}}
		c := equality(same, same.Kids[0], same.Kids[1])
		if c == nil {
			return nil
		}
		out = append(out, c)
	}
	return joined(or, out)
}

// conjunct is an alternative of a region: all its positive literals hold, and none of its negative literals.
type conjunct struct {
	positive, negative []*literal
	opaque             bool // the condition also depends on an opaque literal
}

// maxConjuncts limits the alternatives of a region.
const maxConjuncts = 4096

// conjuncts returns the alternatives of c. ok is false if c has too many alternatives.
func (c *condition) conjuncts(inverted bool) (out []conjunct, ok bool) {
	if c == nil {
		return []conjunct{{}}, true
	}
	op := c.op
	switch {
	case op == not:
		return c.kids[0].conjuncts(!inverted)
	case op == isLiteral && c.lit.isOpaque():
		return []conjunct{{opaque: true}}, true
	case op == isLiteral && inverted:
		return []conjunct{{negative: []*literal{&c.lit}}}, true
	case op == isLiteral:
		return []conjunct{{positive: []*literal{&c.lit}}}, true
	case (op == or) != inverted:
		for _, kid := range c.kids {
			more, ok := kid.conjuncts(inverted)
			if out = append(out, more...); !ok || len(out) > maxConjuncts {
				return nil, false
			}
		}
		return out, true
	}
	out = []conjunct{{}}
	for _, kid := range c.kids {
		more, ok := kid.conjuncts(inverted)
		if !ok || len(out)*len(more) > maxConjuncts {
			return nil, false
		}
		var product []conjunct
		for _, a := range out {
			for _, b := range more {
				product = append(product, conjunct{slices.Concat(a.positive, b.positive),
					slices.Concat(a.negative, b.negative), a.opaque || b.opaque})
			}
		}
		out = product
	}
	return out, true
}

// view is a request as conditions see it.
type view struct {
	categories map[string]string // case-folded
	env        expr.Env
}

// holds reports whether c holds for a request. An expression that fails does not hold.
func (c *condition) holds(v *view) bool {
	if c == nil {
		return true
	}
	switch c.op {
	case and:
		return !slices.ContainsFunc(c.kids, func(k *condition) bool { return !k.holds(v) })
	case or:
		return slices.ContainsFunc(c.kids, func(k *condition) bool { return k.holds(v) })
	case not:
		return !c.kids[0].holds(v)
	}
	if c.lit.category != "" {
		return v.categories[c.lit.category] == c.lit.text
	}
	result, err := expr.Eval(c.lit.expression, v.env, expr.Options{Functions: stdlib.Functions})
	return err == nil && result.Truthy()
}

// literals yields the literals of c.
func (c *condition) literals(yield func(*literal)) {
	if c == nil {
		return
	}
	if c.op == isLiteral {
		yield(&c.lit)
	}
	for _, k := range c.kids {
		k.literals(yield)
	}
}

func fold(text string) string { return strings.ToLower(text) }

// factsEnv gives expressions the variables of a request.
type factsEnv struct{ variable func(name string) value.Value }

func (e factsEnv) Variable(name string) (value.Value, bool) {
	v := e.variable(name)
	return v, !v.IsUndef()
}

func (factsEnv) Lookup(string, *types.Type) (value.Value, bool, error) {
	return value.Value{}, false, nil
}
