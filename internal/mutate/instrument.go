package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

type fate int

const (
	untried fate = iota
	killed
	survived
	unreached
)

// A mutant is one small change.
type mutant struct {
	id     int
	file   string
	line   int
	key    string // names it by function and text, so that it is the same mutant when lines move
	p      *pkg
	src    *source
	listed bool // as equivalent
	fate   fate
	by     string // what killed it
}

// lives is whether no test kills a mutant that should not live.
func (m *mutant) lives() bool { return !m.listed && (m.fate == survived || m.fate == unreached) }

// String is the line of a report that names it; readReport reads it.
func (m *mutant) String() string {
	fate := "survived"
	if m.fate == unreached {
		fate = "no test reaches"
	}
	return fmt.Sprintf("%s:%d: %s: %s", m.file, m.line, fate, m.key)
}

// An edit puts text in the place of length bytes. Edits at one offset stand in the order of their rank.
type edit struct {
	offset, length int
	text           string
	rank           int
}

//go:embed switches.txt
var switches string

func (p *pkg) switches() string { return strings.Replace(switches, "PACKAGE", p.name, 1) }

// instrument finds the mutants of the package, numbered from first on, and writes them all into its files. What does
// not compile, as where Go asks for a constant, is left out: then everything is done again without it.
func (p *pkg) instrument(first int) error {
	refused := map[string]bool{}
	for range 20 {
		if err := p.find(first, refused); err != nil {
			return err
		}
		for _, s := range p.files {
			s.changed = s.apply()
		}
		c, err := p.check(func(s *source) []byte { return s.changed })
		if err != nil {
			return err
		}
		if len(c.errs) == 0 {
			return nil
		}
		before := len(refused)
		for _, e := range c.errs {
			at := e.Fset.Position(e.Pos)
			for _, m := range p.mutants {
				if m.src.path == at.Filename && m.line == at.Line {
					refused[m.key] = true
				}
			}
		}
		if len(refused) == before {
			return fmt.Errorf("the mutants of %s do not compile: %v", p.path, c.errs[0])
		}
	}
	return fmt.Errorf("the mutants of %s do not compile", p.path)
}

func (p *pkg) find(first int, refused map[string]bool) error {
	c, err := p.check(func(s *source) []byte { return s.text })
	if err != nil {
		return err
	}
	if len(c.errs) > 0 {
		return c.errs[0]
	}
	p.mutants = nil
	times := map[string]int{}
	for i, s := range p.files {
		s.edits = nil
		f := &finder{
			p: p, src: s, fset: c.fset, info: c.info, first: first, refused: refused, times: times,
			names: imports(c.files[i], c.info), skip: map[ast.Node]bool{},
		}
		for _, d := range c.files[i].Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				f.function(fn)
			}
		}
	}
	return nil
}

// imports is by which name a file knows a package.
func imports(file *ast.File, info *types.Info) map[string]string {
	names := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if pn, ok := info.Uses[id].(*types.PkgName); ok {
				names[pn.Imported().Path()] = pn.Name()
			}
		}
		return true
	})
	return names
}

// apply is the text with the edits made.
func (s *source) apply() []byte {
	slices.SortStableFunc(s.edits, func(a, b edit) int {
		if a.offset != b.offset {
			return a.offset - b.offset
		}
		return a.rank - b.rank
	})
	var out bytes.Buffer
	done := 0
	for _, e := range s.edits {
		out.Write(s.text[done:e.offset])
		out.WriteString(e.text)
		done = e.offset + e.length
	}
	out.Write(s.text[done:])
	return out.Bytes()
}

// A finder walks one file from the outside to the inside.
type finder struct {
	p       *pkg
	src     *source
	fset    *token.FileSet
	info    *types.Info
	first   int
	refused map[string]bool
	times   map[string]int
	names   map[string]string // of imported packages
	fn      string            // the function, as keys name it
	results []*types.Tuple    // of the functions around, the innermost last
	skip    map[ast.Node]bool
	depth   int
}

// mutant makes a new one, unless it was refused; what says what becomes of node.
func (f *finder) mutant(node ast.Node, what string) (*mutant, bool) {
	text := strings.Join(strings.Fields(f.text(node)), " ")
	if r := []rune(text); len(r) > 60 {
		text = string(r[:60]) + "…"
	}
	key := fmt.Sprintf("%s: %s => %s", f.fn, text, what)
	f.times[key]++
	if n := f.times[key]; n > 1 {
		key += fmt.Sprintf(" #%d", n)
	}
	if f.refused[key] {
		return nil, false
	}
	pos := f.fset.Position(node.Pos())
	m := &mutant{id: f.first + len(f.p.mutants), file: f.src.name, line: pos.Line, key: key, p: f.p, src: f.src}
	f.p.mutants = append(f.p.mutants, m)
	return m, true
}

func (f *finder) text(n ast.Node) string { return string(f.src.text[f.at(n.Pos()):f.at(n.End())]) }

func (f *finder) at(pos token.Pos) int { return f.fset.Position(pos).Offset }

// wrap puts text around a node. What is wrapped later is inside, as the walk goes from the outside to the inside.
func (f *finder) wrap(node ast.Node, before, after string) {
	f.depth++
	f.src.edits = append(f.src.edits,
		edit{offset: f.at(node.Pos()), text: before, rank: f.depth},
		edit{offset: f.at(node.End()), text: after, rank: -f.depth})
}

func (f *finder) insert(pos token.Pos, text string) {
	f.depth++
	f.src.edits = append(f.src.edits, edit{offset: f.at(pos), text: text, rank: f.depth})
}

func (f *finder) function(fn *ast.FuncDecl) {
	f.fn = f.p.name + "." + fn.Name.Name
	if fn.Recv != nil {
		receiver := strings.TrimPrefix(f.text(fn.Recv.List[0].Type), "*")
		f.fn = f.p.name + "." + receiver + "." + fn.Name.Name
	}
	sig := f.info.Defs[fn.Name].Type().(*types.Signature)
	f.body(sig, fn.Body)
}

// body is that of a function or of a literal.
func (f *finder) body(sig *types.Signature, body *ast.BlockStmt) {
	f.results = append(f.results, sig.Results())
	if sig.Results().Len() > 0 {
		f.tail(body)
	}
	ast.Walk(visitor(f.visit), body)
	f.results = f.results[:len(f.results)-1]
}

// tail marks statements that end a function with results: what could run on past them would not compile.
func (f *finder) tail(s ast.Stmt) {
	f.skip[s] = true
	switch s := s.(type) {
	case *ast.BlockStmt:
		if len(s.List) > 0 {
			f.tail(s.List[len(s.List)-1])
		}
	case *ast.IfStmt:
		f.tail(s.Body)
		if s.Else != nil {
			f.tail(s.Else)
		}
	case *ast.SwitchStmt:
		f.tails(s.Body)
	case *ast.TypeSwitchStmt:
		f.tails(s.Body)
	case *ast.SelectStmt:
		f.tails(s.Body)
	case *ast.LabeledStmt:
		f.tail(s.Stmt)
	case *ast.ForStmt:
		ast.Inspect(s, func(n ast.Node) bool {
			if b, ok := n.(*ast.BranchStmt); ok {
				f.skip[b] = true
			}
			return true
		})
	}
}

func (f *finder) tails(body *ast.BlockStmt) {
	for _, c := range body.List {
		f.skip[c] = true
		var list []ast.Stmt
		switch c := c.(type) {
		case *ast.CaseClause:
			list = c.Body
		case *ast.CommClause:
			list = c.Body
		}
		if len(list) > 0 {
			f.tail(list[len(list)-1])
		}
	}
}

type visitor func(ast.Node) bool

func (v visitor) Visit(n ast.Node) ast.Visitor {
	if n != nil && v(n) {
		return v
	}
	return nil
}

// visit makes the mutants of a node; whether what is in it is to be visited.
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
		f.skip[n.Init] = true
		f.condition(n.Cond, true, true)
		if n.Else != nil && !f.skip[n.Else] {
			if block, ok := n.Else.(*ast.BlockStmt); ok && len(block.List) > 0 {
				if m, ok := f.mutant(block, "no else"); ok {
					f.insert(block.Pos(), fmt.Sprintf("if !mutantOn(%d) ", m.id))
				}
			}
		}
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

// branch empties a case.
func (f *finder) branch(c *ast.CaseClause) {
	if len(c.Body) == 0 || f.skip[c] {
		return
	}
	if m, ok := f.mutant(caseLine{c}, "empty case"); ok {
		f.insert(c.Body[0].Pos(), fmt.Sprintf("if mutantOn(%d) { break }; ", m.id))
	}
}

// A caseLine is a case without its statements.
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

// jump makes continue of break, and the other way round.
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

// result makes every returned value the zero of its type.
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

// condition forces a condition to true and to false. Of one that is made of several, each part goes for itself: it is
// left out, which is what the tests must notice about it; forcing the whole the same way would say no more.
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

// force wraps a condition so that it is reached only where the mutant makes a difference.
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

// become is what is made of each.
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

// call leaves the sizes out that only make room.
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

// constant makes an integer one more, and true of false.
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

// operator makes another of a binary operator.
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
