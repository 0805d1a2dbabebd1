package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

type visitor func(ast.Node) bool

func (v visitor) Visit(n ast.Node) ast.Visitor {
	if n != nil && v(n) {
		return v
	}
	return nil
}

// visit creates the mutants of a node. It reports whether to visit the children of the node.
func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncLit:
		f.body(f.info.Types[n].Type.(*types.Signature), n.Body)
		return false
	case *ast.DeclStmt:
		if d := n.Decl.(*ast.GenDecl); d.Tok != token.VAR {
			return false
		}
	case *ast.ArrayType, *ast.MapType, *ast.StructType, *ast.FuncType, *ast.InterfaceType, *ast.ChanType:
		return false
	case *ast.IfStmt:
		f.ifStatement(n)
	case *ast.ForStmt:
		f.skip[n.Init], f.skip[n.Post] = true, true
		if n.Cond != nil {
			f.condition(n.Cond, false, true)
		}
	case *ast.RangeStmt:
		if len(n.Body.List) == 0 {
			return true
		}
		if m, ok := f.mutant(n.X, "not ranged over"); ok {
			f.insert(n.Body.Lbrace+1, fmt.Sprintf(" if mutantOn(%d) { break }; ", m.id))
		}
	case *ast.SwitchStmt:
		f.switchStatement(n)
	case *ast.TypeSwitchStmt:
		f.skip[n.Init], f.skip[n.Assign] = true, true
		for _, c := range n.Body.List {
			f.branch(c.(*ast.CaseClause))
		}
	case *ast.CommClause:
		f.skip[n.Comm] = true
	case *ast.ExprStmt, *ast.AssignStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.DeferStmt, *ast.GoStmt:
		return f.statement(n.(ast.Stmt))
	case *ast.BranchStmt:
		f.jump(n)
	case *ast.ReturnStmt:
		f.result(n)
	case ast.Expr:
		return f.expression(n)
	}
	return true
}

// ifStatement creates mutants that force the condition or skip the else branch.
func (f *finder) ifStatement(n *ast.IfStmt) {
	f.skip[n.Init] = true
	f.condition(n.Cond, true, true)
	if n.Else == nil || f.skip[n.Else] {
		return
	}
	if block, ok := n.Else.(*ast.BlockStmt); ok && len(block.List) > 0 {
		if m, ok := f.mutant(block, "no else"); ok {
			f.insert(block.Pos(), fmt.Sprintf("if !mutantOn(%d) ", m.id))
		}
	}
}

// switchStatement creates mutants of the cases. If the switch has no tag, they force the
// conditions; otherwise they empty the cases.
func (f *finder) switchStatement(n *ast.SwitchStmt) {
	f.skip[n.Init] = true
	for _, c := range n.Body.List {
		c := c.(*ast.CaseClause)
		for _, e := range c.List {
			if n.Tag == nil {
				f.condition(e, true, true)
			}
		}
		if n.Tag != nil || c.List == nil {
			f.branch(c)
		}
	}
}

// branch creates a mutant that empties a case.
func (f *finder) branch(c *ast.CaseClause) {
	if len(c.Body) == 0 || f.skip[c] {
		return
	}
	if m, ok := f.mutant(caseLine{c}, "empty case"); ok {
		f.insert(c.Body[0].Pos(), fmt.Sprintf("if mutantOn(%d) { break }; ", m.id))
	}
}

// A caseLine is a case clause up to its colon.
type caseLine struct{ *ast.CaseClause }

func (c caseLine) End() token.Pos { return c.Colon + 1 }

func (f *finder) statement(s ast.Stmt) bool {
	if f.skip[s] {
		return true
	}
	switch s := s.(type) {
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		if !ok || f.builtin(call, "panic") {
			return false
		}
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE || allBlank(s.Lhs) {
			return true
		}
	}
	if m, ok := f.mutant(s, "removed"); ok {
		f.wrap(s, fmt.Sprintf("if !mutantOn(%d) { ", m.id), " }")
	}
	return true
}

func allBlank(lhs []ast.Expr) bool {
	return !slices.ContainsFunc(lhs, func(e ast.Expr) bool { id, ok := e.(*ast.Ident); return !ok || id.Name != "_" })
}

func (f *finder) builtin(call *ast.CallExpr, name string) bool {
	id, ok := call.Fun.(*ast.Ident)
	if !ok || id.Name != name {
		return false
	}
	_, ok = f.info.Uses[id].(*types.Builtin)
	return ok
}

// jump creates a mutant that replaces break by continue or continue by break.
func (f *finder) jump(b *ast.BranchStmt) {
	other := map[token.Token]string{token.CONTINUE: "break", token.BREAK: "continue"}[b.Tok]
	if other == "" || f.skip[b] {
		return
	}
	if b.Label != nil {
		other += " " + b.Label.Name
	}
	if m, ok := f.mutant(b, other); ok {
		f.insert(b.Pos(), fmt.Sprintf("if mutantOn(%d) { %s }; ", m.id, other))
	}
}

// result creates mutants that return zero values.
func (f *finder) result(r *ast.ReturnStmt) {
	results := f.results[len(f.results)-1]
	if len(r.Results) != results.Len() {
		if len(r.Results) == 1 {
			if m, ok := f.mutant(r, "zeros"); ok {
				zeros := make([]string, results.Len())
				for i := range zeros {
					zeros[i] = "*new(" + f.typeText(results.At(i).Type()) + ")"
				}
				f.insert(r.Pos(), fmt.Sprintf("if mutantOn(%d) { return %s }; ", m.id, strings.Join(zeros, ", ")))
			}
		}
		return
	}
	for i, e := range r.Results {
		tv := f.info.Types[e]
		switch {
		case tv.IsNil() || tv.Value != nil:
		case isBool(tv.Type):
			f.condition(e, true, true)
		case isEmptyLiteral(e):
		default:
			if m, ok := f.mutant(e, "zero"); ok {
				f.wrap(e, fmt.Sprintf("mutantZero[%s](%d, ", f.typeText(results.At(i).Type()), m.id), ")")
			}
		}
	}
}

func isEmptyLiteral(e ast.Expr) bool {
	lit, ok := e.(*ast.CompositeLit)
	return ok && len(lit.Elts) == 0
}

func isBool(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

func (f *finder) typeText(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p.Path() == f.p.path {
			return ""
		}
		if name, ok := f.names[p.Path()]; ok {
			return name
		}
		return p.Name()
	})
}
