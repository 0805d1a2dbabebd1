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

// condition is a condition on requests: a tree of and, or, not and literals.
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

// literal states that a category or a variable has a certain value, regardless of case. A literal with any other
// expression is opaque: the proof does not know for which requests it holds.
type literal struct {
	category string
	variable string // path of the variable, in the form of decision.Piece.Variable
	text     string // value, case-folded
	written  string // value as in the policy file

	expression *expr.Node // the literal as an expression; nil for a category
	operand    *expr.Node // the compared variable; nil if it is interpolated in a string
}

func (l *literal) isOpaque() bool { return l.category == "" && l.variable == "" }

// dependsOnKind reports whether the text of l is also the text of a number, boolean, array or hash. If the variable has
// such a value, it does not equal the text.
func (l *literal) dependsOnKind() bool {
	if l.operand == nil {
		return false
	}
	_, err := strconv.ParseFloat(l.text, 64)
	return err == nil || l.text == "true" || l.text == "false" || strings.ContainsAny(l.text[:1], "[{")
}

// all returns the conjunction of conditions. A nil condition always holds.
func all(cs ...*condition) *condition { return joined(and, cs) }

// joined joins the conditions in cs that are not nil.
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

// ofExpression converts an expression to a condition. Comparisons of a variable with a string become literals that the
// proof can use.
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

// equality returns the literal for comparing a variable with a constant string. The variable may be interpolated, as in
// "${x}". For other operands, it returns nil.
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

// membership converts an expression such as `$x in ['a', 'b']` to alternatives. For other expressions, it returns nil.
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

// conjunct is one alternative of a condition. It holds if all its positive literals hold and none of its negative ones
// does.
type conjunct struct {
	positive, negative []*literal
	opaque             bool // it also depends on an opaque literal
}

// maxConjuncts limits the number of alternatives of a condition.
const maxConjuncts = 4096

// conjuncts returns the alternatives under which c holds or, if inverted is set, does not hold. ok is false if there
// are too many.
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

// view is what conditions can see of a request.
type view struct {
	categories map[string]string // values of the categories, case-folded
	env        expr.Env
}

// holds reports whether c holds for the request v. An expression that fails does not hold.
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

// literals calls yield for each literal in c.
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

// factsEnv makes the variables of a request available to expressions.
type factsEnv struct{ variable func(name string) value.Value }

func (e factsEnv) Variable(name string) (value.Value, bool) {
	v := e.variable(name)
	return v, !v.IsUndef()
}

func (factsEnv) Lookup(string, *types.Type) (value.Value, bool, error) {
	return value.Value{}, false, nil
}
