package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"go/ast"
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

type mutant struct {
	id     int
	file   string
	line   int
	key    string // function and changed text; does not change when lines move
	p      *pkg
	src    *source
	listed bool // whether the mutant is listed as equivalent
	fate   fate
	by     string // name of the test that killed the mutant
}

// lives reports whether no test killed the mutant. It returns false for listed mutants.
func (m *mutant) lives() bool { return !m.listed && (m.fate == survived || m.fate == unreached) }

// String returns the line of a report about the mutant. readReport parses such lines.
func (m *mutant) String() string {
	fate := "survived"
	if m.fate == unreached {
		fate = "no test reaches"
	}
	return fmt.Sprintf("%s:%d: %s: %s", m.file, m.line, fate, m.key)
}

// An edit replaces length bytes of a file with text. If edits have the same offset, those with a
// lower rank come first.
type edit struct {
	offset, length int
	text           string
	rank           int
}

//go:embed switches.txt
var switches string

func (p *pkg) switches() string { return strings.Replace(switches, "PACKAGE", p.name, 1) }

// instrument creates the mutants of the package and adds them to the files. Their numbers begin
// with first. If some mutants do not compile, for example because Go requires a constant, it starts
// again without them.
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

// imports returns the names by which a file refers to imported packages, by package path.
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

// A finder creates the mutants of a file. It visits outer nodes of the syntax tree before inner
// ones.
type finder struct {
	p       *pkg
	src     *source
	fset    *token.FileSet
	info    *types.Info
	first   int
	refused map[string]bool
	times   map[string]int
	names   map[string]string // names of imported packages, by package path
	fn      string            // name of the current function, as used in keys
	results []*types.Tuple    // results of the enclosing functions, innermost last
	skip    map[ast.Node]bool
	depth   int
}

// mutant creates a mutant of node. It returns false if that mutant is known not to compile. what
// describes the change in the key.
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

// wrap inserts text before and after a node. If several texts are inserted at the same place, those
// for inner nodes are inside.
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

func (f *finder) body(sig *types.Signature, body *ast.BlockStmt) {
	f.results = append(f.results, sig.Results())
	if sig.Results().Len() > 0 {
		f.tail(body)
	}
	ast.Walk(visitor(f.visit), body)
	f.results = f.results[:len(f.results)-1]
}

// tail marks the statements that end a function with results, so that they are not removed: the
// function would not compile.
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
