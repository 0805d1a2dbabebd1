package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// condition creates mutants that force a condition to true or to false, as yes and no say. If the
// condition consists of operands of && and ||, it forces each operand instead.
func (f *finder) condition(e ast.Expr, yes, no bool) {
	if f.skip[e] {
		return
	}
	f.skip[e] = true
	if tv := f.info.Types[e]; tv.Value != nil || !isBool(tv.Type) {
		return
	}
	if p, ok := e.(*ast.ParenExpr); ok {
		f.condition(p.X, yes, no)
		return
	}
	b, ok := e.(*ast.BinaryExpr)
	switch {
	case ok && b.Op == token.LAND:
		f.force(e, false, no)
		f.condition(b.X, true, false)
		f.condition(b.Y, true, false)
	case ok && b.Op == token.LOR:
		f.force(e, yes, false)
		f.condition(b.X, false, true)
		f.condition(b.Y, false, true)
	default:
		f.force(e, yes, no)
	}
}

// force wraps a condition so that a mutant counts as reached only if the forced value differs from
// the real one.
func (f *finder) force(e ast.Expr, yes, no bool) {
	before, after := "(", ")"
	if yes {
		if m, ok := f.mutant(e, "true"); ok {
			after = fmt.Sprintf(" || mutantOn(%d))", m.id)
		}
	}
	if no {
		if m, ok := f.mutant(e, "false"); ok {
			before, after = "("+before, after+fmt.Sprintf(" && !mutantOn(%d))", m.id)
		}
	}
	f.wrap(e, before+"(", ")"+after)
}

var operators = map[token.Token]string{
	token.LSS: "LSS", token.LEQ: "LEQ", token.GTR: "GTR", token.GEQ: "GEQ",
	token.ADD: "ADD", token.SUB: "SUB", token.MUL: "MUL", token.QUO: "QUO", token.REM: "REM", token.AND: "AND",
	token.OR: "OR", token.XOR: "XOR", token.AND_NOT: "ANDNOT", token.SHL: "SHL", token.SHR: "SHR",
}

const alone = "left operand"

// become maps an operator to its replacement. Mutant keys contain the replacement.
var become = map[token.Token]string{
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
	token.ADD: "-", token.SUB: "+", token.MUL: "+", token.AND: "|", token.OR: "&",
	token.QUO: alone, token.REM: alone, token.XOR: alone, token.AND_NOT: alone, token.SHL: alone, token.SHR: alone,
}

func (f *finder) expression(e ast.Expr) bool {
	tv, known := f.info.Types[e]
	if known && tv.IsType() {
		return false
	}
	if known && tv.Value != nil {
		f.constant(e, tv)
		return false
	}
	switch e := e.(type) {
	case *ast.CallExpr:
		return f.call(e)
	case *ast.BinaryExpr:
		switch e.Op {
		case token.LAND, token.LOR, token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
			f.condition(e, true, true)
		}
		f.operator(e)
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			f.condition(e, true, true)
		}
	case *ast.CompositeLit:
		for _, elt := range e.Elts {
			ast.Walk(visitor(f.visit), elt)
		}
		return false
	case *ast.KeyValueExpr:
		if _, field := f.info.Uses[ident(e.Key)].(*types.Var); !field {
			ast.Walk(visitor(f.visit), e.Key)
		}
		ast.Walk(visitor(f.visit), e.Value)
		return false
	}
	return true
}

func ident(e ast.Expr) *ast.Ident {
	id, _ := e.(*ast.Ident)
	return id
}

// call reports whether the arguments of a call may be mutated. They may not for panic, and for
// sizes that only reserve memory, such as the capacity in make.
func (f *finder) call(call *ast.CallExpr) bool {
	if f.builtin(call, "panic") {
		return false
	}
	if f.builtin(call, "make") {
		if _, slice := f.info.Types[call].Type.Underlying().(*types.Slice); slice && len(call.Args) > 1 {
			ast.Walk(visitor(f.visit), call.Args[1])
		}
		return false
	}
	if s, ok := call.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Grow" {
		return false
	}
	return true
}

// constant creates a mutant that increments an integer constant or negates true or false.
func (f *finder) constant(e ast.Expr, tv types.TypeAndValue) {
	literal := false
	ast.Inspect(e, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.INT {
			literal = true
		}
		return true
	})
	switch {
	case isBool(tv.Type) && ident(e) != nil && (ident(e).Name == "true" || ident(e).Name == "false"):
		value := constant.BoolVal(tv.Value)
		if m, ok := f.mutant(e, fmt.Sprint(!value)); ok {
			f.wrap(e, fmt.Sprintf("(mutantOn(%d) != ", m.id), ")")
		}
	case literal && tv.Value.Kind() == constant.Int:
		b, ok := tv.Type.Underlying().(*types.Basic)
		if !ok || b.Info()&types.IsInteger == 0 || b.Info()&types.IsUntyped != 0 {
			return
		}
		other := constant.BinaryOp(tv.Value, token.ADD, constant.MakeInt64(1))
		if m, ok := f.mutant(e, other.ExactString()); ok {
			f.wrap(e, fmt.Sprintf("mutantPick[%s](%d, ", f.typeText(tv.Type), m.id), ", "+other.ExactString()+")")
		}
	}
}

func (f *finder) operator(b *ast.BinaryExpr) {
	name, t := operators[b.Op], f.info.Types[b.X].Type
	if name == "" {
		return
	}
	if boolean := isBool(f.info.Types[b].Type); !boolean {
		t = f.info.Types[b].Type
	} else if f.info.Types[b.X].Value != nil {
		t = f.info.Types[b.Y].Type
	}
	basic, ok := t.Underlying().(*types.Basic)
	if !ok || basic.Info()&types.IsString != 0 && b.Op == token.ADD {
		return
	}
	m, ok := f.mutant(b, become[b.Op])
	if !ok {
		return
	}
	f.wrap(b, fmt.Sprintf("mutant%s[%s](%d, ", name, f.typeText(t), m.id), ")")
	f.src.edits = append(f.src.edits, edit{offset: f.at(b.OpPos), length: len(b.Op.String()), text: ","})
}
