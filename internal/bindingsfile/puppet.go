package bindingsfile

import (
	"math"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"bindc/internal/diag"
	"bindc/internal/expr"
	"bindc/internal/literal"
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
	if (tree == nil || tree.Broken) && slices.ContainsFunc(word.FindAll(src, -1), meansSensitive) {
		diags.Hide(file, 0, math.MaxInt) // which lines it is in cannot be told
	}
	if tree == nil {
		return nil
	}
	p.tree = tree
	if len(errs) == 0 {
		p.hiera(diags)
	}
	return p
}

// hiera warns of what means something to Hiera and is plain text here, as in a set in YAML.
func (p *Puppet) hiera(diags *diag.List) {
	if !strings.Contains(p.src, "%{") && !strings.Contains(p.src, "ENC[") {
		return
	}
	tokens, _ := syntax.Tokens(p.src)
	for _, t := range tokens {
		from, text, more := t.Off, t.Text, ""
		switch {
		case t.Doc > 0:
			if from, text = t.Doc, p.src[t.Doc:t.Done]; !strings.Contains(t.Text, `"`) {
				more = `, in a heredoc whose tag is in double quotes, as @("END")`
			}
		case text[0] == '\'':
			more = ", in double quotes"
		case text[0] != '"':
			continue
		}
		literal.PercentIn(text, func(off int) diag.Pos { return p.Pos(from + off) }, more, diags)
		literal.Encrypted(strings.Trim(text, `'"`), p.Pos(t.Off), diags)
	}
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

// Broken tells whether some of the file could not be read.
func (p *Puppet) Broken() bool { return p.tree.Broken }

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
	name := r.text(p.tree.Name.Text, p.tree.Name.Off)
	if p.tree.Name.Text == "" {
		name.Value = value.Value{} // which is reported
	}
	return &Set{
		Pos:        diag.Pos{File: p.file, Line: 1, Col: 1},
		Name:       &name,
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
		if hasFlag(s, "sensitive") || slices.ContainsFunc(s.Options, isSensitive) ||
			s.Word == "bind" && r.secrets[constantText(s.In)] {
			r.hide(s)
		}
		if made := r.statement(s); made != nil {
			out = append(out, made)
		}
	}
	return out
}

// isSensitive tells whether an option is meant for the flag.
func isSensitive(o syntax.Option) bool { return meansSensitive([]byte(o.Name.Text)) }

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
		return r.dependency(s)
	}
	a, ok := r.attributes(s)
	target, okTarget := r.target(s.Target)
	other, okOther := r.target(s.Other)
	if !ok || !okTarget || !okOther {
		return nil
	}
	switch s.Word {
	case "parameters":
		return &Parameters{target, a}
	case "map":
		return &Map{target, other, a}
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
func (r *puppetReader) text(text string, off int) Literal {
	return Literal{Value: value.FromString(text), Pos: r.Pos(off)}
}

// target is a class, a type or an instance as text; nothing of what is not there. It is false after an error.
func (r *puppetReader) target(n *expr.Node) (Literal, bool) {
	if n == nil {
		return Literal{}, true
	}
	texts := targetTexts(n)
	if len(texts) != 1 {
		r.local(n.Off, "expected a class, a type or one instance, whose name is known when this is compiled, as "+
			"Web['one'], found "+syntax.Print(n))
		return Literal{}, false
	}
	return r.text(texts[0], n.Off), true
}

// targetTexts is how a class, a type or instances of one are written in YAML; nil is what has to be computed.
func targetTexts(n *expr.Node) (texts []string) {
	if v, ok := n.Constant(); ok {
		return []string{v.Text()}
	}
	if n.Op == expr.TypeName {
		return []string{n.Name}
	}
	for _, kid := range n.Kids[1:] {
		name := kid.Name // a type as the name of an instance is that
		if kid.Op != expr.TypeName {
			v, _ := kid.Constant()
			name = Text(v)
		}
		text, ok := JoinTarget(n.Kids[0].Name, name)
		if !ok {
			return nil
		}
		texts = append(texts, text)
	}
	return texts
}

// isTarget tells whether n is a type or an instance of one, and not their value.
func isTarget(n *expr.Node) bool {
	return n.Op == expr.TypeName || n.Op == expr.Access && n.Kids[0].Op == expr.TypeName
}

// dependency reads both sides, in which types are text; nil after an error.
func (r *puppetReader) dependency(s *syntax.Statement) Statement {
	from, okFrom := r.withTargets(s.Target)
	to, okTo := r.withTargets(s.Other)
	if !okFrom || !okTo {
		return nil
	}
	return &Dependency{Pos: r.Pos(s.Off), From: *r.produced("to", from), To: *r.produced("to", to), Kind: s.Arrow.Text}
}

// withTargets is n with the text of types in place of them; several where one is of several instances, as
// File['a', 'b']. It is false after an error.
func (r *puppetReader) withTargets(n *expr.Node) (*expr.Node, bool) {
	if !isTarget(n) && n.Op != expr.ArrayLit {
		return n, true
	}
	out := &expr.Node{Op: expr.ArrayLit, Off: n.Off}
	if n.Op == expr.ArrayLit {
		for _, kid := range n.Kids {
			kid, ok := r.withTargets(kid)
			if !ok {
				return nil, false
			}
			if out.Kids = append(out.Kids, kid); kid.Op == expr.ArrayLit {
				out.Kids = append(out.Kids[:len(out.Kids)-1], kid.Kids...)
			}
		}
		return out, true
	}
	texts := targetTexts(n)
	if texts == nil {
		r.local(n.Off, "expected what a catalog has, known when this is compiled, as File['/etc/ntp.conf'], found "+
			syntax.Print(n))
		return nil, false
	}
	for _, name := range texts {
		out.Kids = append(out.Kids, &expr.Node{Op: expr.Const, Off: n.Off, Value: value.FromString(name)})
	}
	if len(out.Kids) == 1 {
		return out.Kids[0], true
	}
	return out, true
}

// plainly is a binding of which nothing is said but its key and value.
func plainly(a *Attributes) (*Plain, bool) {
	if a.Broken || len(a.Producers) != 1 || a.Producers[0].Name != "to" {
		return nil, false
	}
	p := &a.Producers[0]
	if a.Type != nil || a.Transformer != nil || a.Options != nil || a.In != nil || a.Abstract || a.Override ||
		a.Sensitive || a.Optional {
		return nil, false
	}
	out := &Plain{Pos: a.KeyPos, Key: a.Key}
	if p.Expr != nil {
		r := &recipe.Recipe{Kind: recipe.Expression, Expr: p.Expr, Sensitive: p.Expr.HasHieraSecret()}
		out.Value = recipe.AppendCompiled(nil, r)
	} else {
		out.Value = recipe.AppendConstant(nil, p.Argument.Value)
	}
	return out, true
}
