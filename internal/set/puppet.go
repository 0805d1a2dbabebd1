package set

import (
	"bytes"
	"math"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"bindc/internal/binding"
	"bindc/internal/diag"
	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/syntax"
	"bindc/internal/value"
)

// Puppet is a set in the syntax of Puppet (language.md, section 14.1).
type Puppet struct {
	file, src string
	lines     []int // where each begins
	tree      *syntax.Bindings
}

// ParsePuppet parses a file. What is wrong goes to diags; there may be statements all the same.
func ParsePuppet(file string, src []byte, diags *diag.List) *Puppet {
	p := NewText(file, src)
	tree, errs := syntax.ParseBindings(p.src)
	p.Report(errs, diags)
	if len(errs) > 0 && bytes.Contains(src, []byte("sensitive")) {
		diags.Hide(file, 0, math.MaxInt) // which lines it is in cannot be told
	}
	if tree == nil {
		return nil
	}
	p.tree = tree
	return p
}

// NewText is a text in the syntax of Puppet that is no set, for its places.
func NewText(file string, src []byte) *Puppet {
	p := &Puppet{file: file, src: string(src), lines: []int{0}}
	for i, c := range src {
		if c == '\n' {
			p.lines = append(p.lines, i+1)
		}
	}
	return p
}

// Report reports errors of syntax.
func (p *Puppet) Report(errs []syntax.Error, diags *diag.List) {
	for _, e := range errs {
		code := e.Code
		if code == "" {
			code = "syntax"
		}
		diags.Add(diag.Diagnostic{Pos: p.Pos(e.Off), Code: code, Message: e.Message, Hint: e.Hint})
	}
}

func (p *Puppet) line(off int) int { return sort.SearchInts(p.lines, off+1) }

// Pos is the place of an offset.
func (p *Puppet) Pos(off int) diag.Pos {
	line := p.line(off)
	return diag.Pos{File: p.file, Line: line, Col: utf8.RuneCountInString(p.src[p.lines[line-1]:off]) + 1}
}

// Secrets adds the ids of the multibindings that are sensitive.
func (p *Puppet) Secrets(ids map[string]bool) { addSecretsOf(p.tree.Statements, ids) }

func addSecretsOf(list []syntax.Statement, ids map[string]bool) {
	for i := range list {
		s := &list[i]
		if s.Word == "multibind" && hasFlag(s, "sensitive") {
			ids[constantText(multibindID(s))] = true
		}
		addSecretsOf(s.Statements, ids)
	}
}

func hasFlag(s *syntax.Statement, flag string) bool {
	return slices.ContainsFunc(s.Flags, func(w syntax.Word) bool { return w.Text == flag })
}

// multibindID is what a multibind is called: its name, if nothing else is said.
func multibindID(s *syntax.Statement) *expr.Node {
	if s.In != nil {
		return s.In
	}
	return s.Key
}

// constantText is the text of a constant, "" for nil.
func constantText(n *expr.Node) string {
	if n == nil {
		return ""
	}
	return Text(n.Value)
}

// Read is the set in the file.
func (p *Puppet) Read(secrets map[string]bool, diags *diag.List) *Set {
	r := puppetReader{p, diags, secrets}
	name := p.tree.Name
	return &Set{
		Pos:        diag.Pos{File: p.file, Line: 1, Col: 1},
		Name:       &binding.Literal{Value: value.FromString(name.Text), Pos: p.Pos(name.Off)},
		Statements: r.statements(p.tree.Statements),
	}
}

// puppetReader makes statements of those of the syntax.
type puppetReader struct {
	*Puppet
	diags   *diag.List
	secrets map[string]bool
}

func (r *puppetReader) statements(list []syntax.Statement) []Statement {
	out := make([]Statement, 0, len(list))
	for i := range list {
		s := &list[i]
		if hasFlag(s, "sensitive") || s.Word == "bind" && r.secrets[constantText(s.In)] {
			r.hide(s)
		}
		if made := r.statement(s); made != nil {
			out = append(out, made)
		}
	}
	return out
}

// hide keeps the lines of s out of messages.
func (r *puppetReader) hide(s *syntax.Statement) {
	first, last := r.line(s.Off), r.line(s.End)
	if strings.TrimSpace(r.src[r.lines[last-1]:s.End]) == "" {
		last-- // where the next one begins
	}
	r.diags.Hide(r.file, first, last)
}

func (r *puppetReader) statement(s *syntax.Statement) Statement {
	switch s.Word {
	case "when":
		return r.when(s)
	case "include", "exclude":
		c := &Classes{Pos: r.Pos(s.Off), Exclude: s.Word == "exclude"}
		for _, name := range s.Names {
			c.Names = append(c.Names, r.text(name.Text, name.Off))
		}
		return c
	case "dependency":
		return &Dependency{Pos: r.Pos(s.Off), From: *r.side(s.Target), To: *r.side(s.Other), Kind: s.Arrow.Text}
	}
	a, ok := r.attributes(s)
	if !ok {
		return nil
	}
	switch s.Word {
	case "parameters":
		return &Parameters{r.target(s.Target), a}
	case "map":
		return &Map{r.target(s.Target), r.target(s.Other), a}
	case "variables":
		return &Variables{a}
	}
	if plain, ok := plainly(&a); ok {
		return plain
	}
	return &Binding{a}
}

func (r *puppetReader) when(s *syntax.Statement) Statement {
	w := &When{Pos: r.Pos(s.Off), Statements: r.statements(s.Statements)}
	for _, all := range s.When {
		var pairs []Pair
		for _, p := range all {
			pair := Pair{Category: r.text(p.Category.Text, p.Category.Off), Pos: r.Pos(p.Off)}
			for _, v := range p.Values {
				pair.Values = append(pair.Values, v.Text)
			}
			pairs = append(pairs, pair)
		}
		w.Alternatives = append(w.Alternatives, pairs)
	}
	return w
}

// text is a text as it is written somewhere.
func (r *puppetReader) text(text string, off int) binding.Literal {
	return binding.Literal{Value: value.FromString(text), Pos: r.Pos(off)}
}

// target is a class, a type or an instance as text.
func (r *puppetReader) target(n *expr.Node) binding.Literal {
	r.checkTarget(n)
	return r.text(targetText(n), n.Off)
}

// checkTarget refuses an instance whose name is not known, or is several.
func (r *puppetReader) checkTarget(n *expr.Node) {
	if n.Op != expr.Access || len(n.Kids) == 2 && n.Kids[1].Op == expr.TypeName { // as Class[Ntp]
		return
	}
	if v, ok := n.Kids[len(n.Kids)-1].Constant(); len(n.Kids) != 2 || !ok || Text(v) == "" {
		r.local(n.Off, "expected one name in the brackets that is known when this is compiled, as Web['one'], found "+
			syntax.Print(n))
	}
}

// targetText is how a class, a type or an instance is written in YAML.
func targetText(n *expr.Node) string {
	if v, ok := n.Constant(); ok {
		return v.Text()
	}
	if n.Op == expr.Access && len(n.Kids) == 2 && n.Kids[0].Op == expr.TypeName {
		if name, ok := n.Kids[1].Constant(); ok && Text(name) != "" {
			return n.Kids[0].Name + "[" + Text(name) + "]"
		}
	}
	return syntax.Print(n)
}

// isTarget tells whether n is a type or an instance of one, and not their value.
func isTarget(n *expr.Node) bool {
	return n != nil && (n.Op == expr.TypeName || n.Op == expr.Access && n.Kids[0].Op == expr.TypeName)
}

// side is one side of a dependency: types are text in it.
func (r *puppetReader) side(n *expr.Node) *binding.Producer {
	return r.produced("to", r.withTargets(n))
}

// withTargets is n with the text of types in place of them.
func (r *puppetReader) withTargets(n *expr.Node) *expr.Node {
	if isTarget(n) {
		r.checkTarget(n)
		return &expr.Node{Op: expr.Const, Off: n.Off, Value: value.FromString(targetText(n))}
	}
	if n.Op != expr.ArrayLit {
		return n
	}
	out := *n
	out.Kids = make([]*expr.Node, len(n.Kids))
	for i, kid := range n.Kids {
		out.Kids[i] = r.withTargets(kid)
	}
	return &out
}

// plainly is a binding of which nothing is said but its key and value.
func plainly(a *binding.Attributes) (*Plain, bool) {
	if a.Key == "" || a.Broken || len(a.Producers) != 1 || a.Producers[0].Name != "to" {
		return nil, false
	}
	p := &a.Producers[0]
	if a.Type != nil || a.Transformer != nil || a.Options != nil || a.In != nil || a.Abstract || a.Override ||
		a.Sensitive || a.Optional {
		return nil, false
	}
	out := &Plain{Pos: a.KeyPos, Key: a.Key}
	if p.Expr != nil {
		out.Value = recipe.AppendCompiled(nil, &recipe.Recipe{Kind: recipe.Expression, Expr: p.Expr})
	} else {
		out.Value = recipe.AppendConstant(nil, p.Argument.Value)
	}
	return out, true
}
