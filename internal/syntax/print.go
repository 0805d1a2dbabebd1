package syntax

import (
	"strconv"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/value"
)

// Print returns the source of n. If this package parsed n, parsing the source gives an equal tree, apart from
// offsets. Statements are on one line, methods are printed as functions, and parentheses only where they are needed.
// A string with Hiera interpolations is printed in Hiera's syntax, in double quotes.
func Print(n *expr.Node) string {
	var p printer
	p.statements(n)
	return p.String()
}

// PrintLambda is like Print for a lambda.
func PrintLambda(l *expr.Lambda) string {
	var p printer
	p.lambda(l)
	return p.String()
}

type printer struct{ strings.Builder }

// levelAssign is the level of an assignment, below all operators.
const levelAssign level = 0

// levelOf returns the level of the operator at the root of n. If there is no operator, it returns levelOperand.
func levelOf(n *expr.Node) level {
	switch n.Op {
	case expr.Assign:
		return levelAssign
	case expr.Binary:
		_, l := infix(n.Name)
		return l
	case expr.Selector:
		return levelSelector
	case expr.Unary, expr.Splat:
		return levelPrefix
	}
	if bareSplat(n) {
		return levelPrefix
	}
	return levelOperand
}

// bareSplat reports whether n is a list that contains only a Splat. Outside lists, it is printed without brackets,
// because parsing the brackets would nest it deeper.
func bareSplat(n *expr.Node) bool {
	return n.Op == expr.ArrayLit && len(n.Kids) == 1 && n.Kids[0].Op == expr.Splat
}

func (p *printer) node(n *expr.Node, least level) {
	if inner, ok := n.Encrypted(); ok { // print the encrypted text
		n = inner
	}
	if text, ok := expr.HieraSource(n); ok {
		p.Write(value.AppendJSON(nil, value.FromString(text)))
		return
	}
	if levelOf(n) < least {
		p.WriteByte('(')
		defer p.WriteByte(')')
	}
	if bareSplat(n) {
		n = n.Kids[0]
	}
	switch n.Op {
	case expr.Const:
		p.constant(n.Value)
	case expr.Var:
		p.WriteString("$" + n.Name)
	case expr.Concat:
		p.concat(n)
	case expr.ArrayLit:
		p.list("[", n.Kids, levelAssign, "]")
	case expr.HashLit:
		p.hash(n)
	case expr.Splat:
		p.WriteByte('*')
		p.node(n.Kids[0], levelPrefix)
	case expr.Access:
		p.node(n.Kids[0], levelOperand)
		p.list("[", n.Kids[1:], lowest, "]")
	case expr.TypeName:
		p.WriteString(n.Name)
	case expr.Call:
		p.call(n)
	case expr.Unary:
		p.WriteString(n.Name)
		p.node(n.Kids[0], levelPrefix)
	case expr.Binary:
		p.binary(n)
	case expr.If:
		p.ifElse(n)
	case expr.Case:
		p.caseOf(n)
	case expr.Selector:
		p.selector(n)
	case expr.Assign:
		p.assign(n)
	case expr.Block:
		p.statements(n)
	}
}

// statements prints a whole text, or the content of braces.
func (p *printer) statements(n *expr.Node) {
	if n.Op != expr.Block {
		p.node(n, levelAssign)
		return
	}
	for i, kid := range n.Kids {
		if i > 0 {
			p.WriteString("; ")
		}
		p.node(kid, levelAssign)
	}
}

func (p *printer) body(n *expr.Node) {
	if n.Op == expr.Block && len(n.Kids) == 0 {
		p.WriteString("{}")
		return
	}
	p.WriteString("{ ")
	p.statements(n)
	p.WriteString(" }")
}

func (p *printer) list(opening string, list []*expr.Node, least level, closing string) {
	p.WriteString(opening)
	for i, n := range list {
		if i > 0 {
			p.WriteString(", ")
		}
		p.item(n, least)
	}
	p.WriteString(closing)
}

func (p *printer) item(n *expr.Node, least level) {
	if bareSplat(n) {
		p.list("[", n.Kids, levelAssign, "]")
		return
	}
	p.node(n, least)
}

func (p *printer) constant(v value.Value) {
	switch v.Kind() {
	case value.Undef:
		p.WriteString("undef")
	case value.String:
		p.WriteString(value.Quote(v.Text()))
	case value.Float:
		p.WriteString(floatText(v.Float()))
	default:
		p.Write(value.AppendText(nil, v))
	}
}

// floatText formats f so that the lexer can read it: without a '+' in the exponent.
func floatText(f float64) string {
	s := strings.Replace(strconv.FormatFloat(f, 'g', -1, 64), "e+", "e", 1)
	if strings.ContainsAny(s, ".e") {
		return s
	}
	return s + ".0"
}

// concat prints a string with interpolations. A constant is printed as text. It is interpolated if the part before it
// is a constant, too, or if otherwise nothing would be interpolated.
func (p *printer) concat(n *expr.Node) {
	text := len(n.Kids) == 1 // the previous part was printed as text
	p.WriteByte('"')
	for _, kid := range n.Kids {
		v, _ := kid.Constant()
		text = v.Kind() == value.String && v.Text() != "" && !text
		if !text {
			p.interpolation(kid)
			continue
		}
		quoted := value.DoubleQuote(v.Text())
		p.WriteString(quoted[1 : len(quoted)-1])
	}
	p.WriteByte('"')
}

func (p *printer) interpolation(n *expr.Node) {
	if n.Op == expr.Var && !keywords[n.Name] {
		p.WriteString("${" + n.Name + "}")
		return
	}
	var inner printer
	inner.node(n, levelAssign)
	s := inner.String()
	if readsAsVariable(s) {
		s = "(" + s + ")"
	}
	p.WriteString("${" + s + "}")
}

// readsAsVariable reports whether s begins with a constant, such as 1 or undef, that the parser reads as a variable
// in ${}.
func readsAsVariable(s string) bool {
	return isDigit(s[0]) || strings.HasPrefix(s, "undef") || strings.HasPrefix(s, "default")
}

func (p *printer) hash(n *expr.Node) {
	p.WriteByte('{')
	for i, kid := range n.Kids {
		switch {
		case i%2 == 1:
			p.WriteString(" => ")
		case i > 0:
			p.WriteString(", ")
		}
		p.node(kid, levelAssign)
	}
	p.WriteByte('}')
}

func (p *printer) call(n *expr.Node) {
	args := n.Kids
	if n.Name == "new" && len(args) > 0 && isTypeCall(args[0]) {
		p.node(args[0], levelOperand)
		args = args[1:]
	} else {
		p.WriteString(n.Name)
	}
	p.list("(", args, levelAssign, ")")
	if n.Lambda != nil {
		p.WriteByte(' ')
		p.lambda(n.Lambda)
	}
}

// isTypeCall reports whether n is a type. A call of new for a type is printed as a call of the type.
func isTypeCall(n *expr.Node) bool {
	return n.Op == expr.TypeName || n.Op == expr.Access && n.Kids[0].Op == expr.TypeName
}

func (p *printer) binary(n *expr.Node) {
	l := levelOf(n)
	p.node(n.Kids[0], l)
	p.WriteString(" " + n.Name + " ")
	p.node(n.Kids[1], l+1)
}

func (p *printer) ifElse(n *expr.Node) {
	p.WriteString("if ")
	p.node(n.Kids[0], lowest)
	p.WriteByte(' ')
	p.body(n.Kids[1])
	if otherwise := n.Kids[2]; otherwise.Op != expr.Block || len(otherwise.Kids) > 0 {
		p.WriteString(" else ")
		p.body(otherwise)
	}
}

func (p *printer) caseOf(n *expr.Node) {
	p.WriteString("case ")
	p.node(n.Kids[0], lowest)
	p.WriteString(" {")
	for _, option := range n.Kids[1:] {
		last := len(option.Kids) - 1
		p.list(" ", option.Kids[:last], lowest, ": ")
		p.body(option.Kids[last])
	}
	p.WriteString(" }")
}

func (p *printer) selector(n *expr.Node) {
	p.node(n.Kids[0], levelSelector)
	p.WriteString(" ? { ")
	for i, option := range n.Kids[1:] {
		if i > 0 {
			p.WriteString(", ")
		}
		p.item(option.Kids[0], lowest)
		p.WriteString(" => ")
		p.node(option.Kids[1], lowest)
	}
	p.WriteString(" }")
}

func (p *printer) assign(n *expr.Node) {
	if n.Name != "" {
		p.WriteString("$" + n.Name)
	} else {
		p.list("[", n.Kids[1:], levelAssign, "]")
	}
	p.WriteString(" = ")
	p.node(n.Kids[0], levelAssign)
}

func (p *printer) lambda(l *expr.Lambda) {
	p.WriteByte('|')
	for i, param := range l.Params {
		if i > 0 {
			p.WriteString(", ")
		}
		p.param(param)
	}
	p.WriteByte('|')
	if returns(l.Body) {
		p.WriteString(" >> ")
		p.node(l.Body.Kids[0], levelOperand)
		p.WriteByte(' ')
		p.body(l.Body.Kids[1])
		return
	}
	p.WriteByte(' ')
	p.body(l.Body)
}

// returns reports whether the body of a lambda asserts a return type.
func returns(body *expr.Node) bool {
	return body.Op == expr.Call && body.Name == "assert_type" && len(body.Kids) == 2 && body.Lambda == nil &&
		body.Kids[1].Op == expr.Block
}

func (p *printer) param(param expr.Param) {
	if param.Type != nil {
		p.node(param.Type, levelOperand)
		p.WriteByte(' ')
	}
	if param.Rest {
		p.WriteByte('*')
	}
	p.WriteString("$" + param.Name)
	if param.Default != nil {
		p.WriteString(" = ")
		p.node(param.Default, defaultLevel(param.Default))
	}
}

// defaultLevel returns the level below which the default n of a parameter needs parentheses. Without them, the
// default must not end in a call, because the following '|' would begin a lambda.
func defaultLevel(n *expr.Node) level {
	if n.Op == expr.Const || n.Op == expr.Var {
		return lowest
	}
	return levelOperand + 1
}

// PrintString returns the source of n, a string constant or a Concat, in the form that ParseString reads.
func PrintString(n *expr.Node) string {
	if v, ok := n.Constant(); ok {
		if back, errs := ParseString(v.Text()); errs == nil && back.Op == expr.Const && back.Value.Text() == v.Text() {
			return v.Text()
		}
		return strings.ReplaceAll(v.Text(), "$", `\$`)
	}
	var p printer
	for i, kid := range n.Kids {
		v, ok := kid.Constant()
		if !ok || v.Kind() != value.String {
			p.interpolation(kid)
			continue
		}
		text := strings.ReplaceAll(v.Text(), "$", `\$`)
		if rest, ok := strings.CutSuffix(text, `\`); ok && i+1 < len(n.Kids) { // the backslash would escape the next $
			p.WriteString(rest)
			p.interpolation(&expr.Node{Op: expr.Const, Value: value.FromString(`\`)})
			continue
		}
		p.WriteString(text)
	}
	return p.String()
}
