package bindingsfile

import (
	"math"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/literal"
	"bindc/internal/recipe"
	"bindc/internal/syntax"
	"bindc/internal/value"
)

// Puppet is a parsed bindings file in Puppet syntax, see language.md, section 14.1.
type Puppet struct {
	*syntax.Text
	file, src string
	tree      *syntax.Bindings
}

// ParsePuppet parses a bindings file in Puppet syntax and adds errors to diags. Statements with a
// syntax error are left out. It returns nil if src is not valid UTF-8.
func ParsePuppet(file string, src []byte, diags *diag.List) *Puppet {
	p := &Puppet{Text: syntax.NewText(file, string(src)), file: file, src: string(src)}
	tree, errs := syntax.ParseBindings(p.src)
	p.Report(errs, diags)
	if (tree == nil || tree.Broken) && slices.ContainsFunc(word().FindAll(src, -1), meansSensitive) {
		diags.Hide(file, 0, math.MaxInt) // it is not known which lines are sensitive
	}
	if tree == nil {
		return nil
	}
	p.tree = tree
	if len(errs) == 0 {
		p.warnOfHiera(diags)
	}
	return p
}

// warnOfHiera warns about Hiera interpolations and encrypted strings. They have no special meaning
// in a bindings file.
func (p *Puppet) warnOfHiera(diags *diag.List) {
	if !strings.Contains(p.src, "%{") && !strings.Contains(p.src, "ENC[") {
		return
	}
	tokens, _ := syntax.Tokens(p.src)
	for _, t := range tokens {
		from, text, hintEnd := t.Off, t.Text, ""
		switch {
		case t.Doc > 0:
			if from, text = t.Doc, p.src[t.Doc:t.Done]; !strings.Contains(t.Text, `"`) {
				hintEnd = `, in a heredoc whose tag is in double quotes, such as @("END")`
			}
		case text[0] == '\'':
			hintEnd = ", in double quotes"
		case text[0] != '"':
			continue
		}
		literal.WarnOfInterpolations(text, func(off int) diag.Pos { return p.Pos(from + off) }, hintEnd, diags)
		literal.CheckDecryptable(strings.Trim(text, `'"`), p.Pos(t.Off), diags)
	}
}

// Broken reports whether the file has a syntax error, so that statements may be missing.
func (p *Puppet) Broken() bool { return p.tree.Broken }

// Secrets implements Source.
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

// multibindID returns the id of a multibinding. By default, that is its key.
func multibindID(s *syntax.Statement) *expr.Node {
	if s.In != nil {
		return s.In
	}
	return s.Key
}

// constantText returns a scalar constant as text. It returns "" for other constants and for nil.
func constantText(n *expr.Node) string {
	if n == nil {
		return ""
	}
	return scalarText(n.Value)
}

// Read implements Source.
func (p *Puppet) Read(secrets map[string]bool, diags *diag.List) *File {
	r := puppetReader{p, diags, secrets}
	name := r.word(p.tree.Name)
	if p.tree.Name.Text == "" {
		name.Value = value.Value{} // the parser has reported an error
	}
	return &File{
		Pos:        diag.Pos{File: p.file, Line: 1, Col: 1},
		Name:       &name,
		Statements: r.statements(p.tree.Statements),
	}
}

// puppetReader converts the syntax tree of a file in Puppet syntax to statements.
type puppetReader struct {
	*Puppet
	diags   *diag.List
	secrets map[string]bool
}

func (r *puppetReader) statements(list []syntax.Statement) []*Statement {
	out := make([]*Statement, 0, len(list))
	for i := range list {
		s := &list[i]
		if hasFlag(s, "sensitive") || slices.ContainsFunc(s.Options, isSensitive) ||
			s.Word == "bind" && r.secrets[constantText(s.In)] {
			r.hide(s)
		}
		if read := r.statement(s); read != nil {
			out = append(out, read)
		}
	}
	return out
}

// isSensitive reports whether the name of an option is sensitive, or a misspelling of it.
func isSensitive(o syntax.Option) bool { return meansSensitive([]byte(o.Name.Text)) }

// hide prevents messages from quoting the lines of a statement.
func (r *puppetReader) hide(s *syntax.Statement) {
	first, last := r.Line(s.Off), r.Line(s.End)
	if begin := strings.LastIndexByte(r.src[:s.End], '\n') + 1; strings.TrimSpace(r.src[begin:s.End]) == "" {
		last-- // the next statement begins on the last line
	}
	r.diags.Hide(r.file, first, last)
}

// statement converts a statement and reports its errors. It returns nil only if the key, a target
// or a side of a dependency is invalid.
func (r *puppetReader) statement(s *syntax.Statement) *Statement {
	out := &Statement{Keyword: keywordOf(s.Word), Pos: r.Pos(s.Off), KeyPos: r.Pos(s.Off)}
	switch out.Keyword {
	case When:
		out.Alternatives, out.Statements = r.alternatives(s.When), r.statements(s.Statements)
		return out
	case Include, Exclude:
		for _, name := range s.Names {
			out.Subjects = append(out.Subjects, r.word(name))
		}
		return out
	case Dependency:
		return r.dependency(out, s)
	}
	if ok := r.attributes(out, s); !r.targets(out, s.Target, s.Other) || !ok {
		return nil
	}
	if out.Keyword == Bind && out.isPlain() {
		out.compileValue()
	}
	return out
}

// keywordOf returns the keyword for the first word of a statement. It returns Bind for multibind,
// rebind, alias and renamed.
func keywordOf(word string) Keyword {
	return Keyword(max(0, slices.Index(keywords, word)))
}

func (r *puppetReader) alternatives(when [][]syntax.Pair) (out [][]Pair) {
	for _, all := range when {
		var pairs []Pair
		for _, p := range all {
			pair := Pair{Category: r.word(p.Category), Pos: r.Pos(p.Off)}
			for _, v := range p.Values {
				pair.Values = append(pair.Values, v.Text)
			}
			pairs = append(pairs, pair)
		}
		out = append(out, pairs)
	}
	return out
}

func (r *puppetReader) word(w syntax.Word) Literal { return r.text(w.Text, w.Off) }

// text returns a string literal. off is its offset in the file.
func (r *puppetReader) text(text string, off int) Literal {
	return Literal{Value: value.FromString(text), Pos: r.Pos(off)}
}

// targets sets s.Subjects to the target of parameters or the types of a map. It returns false if it
// has reported an error.
func (r *puppetReader) targets(s *Statement, nodes ...*expr.Node) bool {
	all := true
	for _, n := range nodes {
		if n != nil {
			l, ok := r.target(n)
			s.Subjects = append(s.Subjects, l)
			all = all && ok
		}
	}
	return all
}

// target converts a class, type or instance to a string. It returns false if it has reported an
// error.
func (r *puppetReader) target(n *expr.Node) (Literal, bool) {
	texts := targetTexts(n)
	if len(texts) != 1 {
		r.attributeError(n.Off, "expected a class, a type or one instance, whose name is constant, such as "+
			"Web['one'], found "+syntax.Print(n))
		return Literal{}, false
	}
	return r.text(texts[0], n.Off), true
}

// targetTexts converts a class, a type or several instances to strings, as written in YAML. It
// returns nil if n is computed.
func targetTexts(n *expr.Node) (texts []string) {
	if v, ok := n.Constant(); ok {
		return []string{v.Text()}
	}
	if n.Op == expr.TypeName {
		return []string{n.Name}
	}
	for _, kid := range n.Kids[1:] {
		name := kid.Name // a type in brackets is the name of an instance
		if kid.Op != expr.TypeName {
			v, _ := kid.Constant()
			name = scalarText(v)
		}
		text, ok := joinTarget(n.Kids[0].Name, name)
		if !ok {
			return nil
		}
		texts = append(texts, text)
	}
	return texts
}

// isTarget reports whether n is a type or an instance of a type, such as Web or Web['one'].
func isTarget(n *expr.Node) bool {
	return n.Op == expr.TypeName || n.Op == expr.Access && n.Kids[0].Op == expr.TypeName
}

// dependency converts a dependency statement. It returns nil if it has reported an error.
func (r *puppetReader) dependency(out *Statement, s *syntax.Statement) *Statement {
	from, okFrom := r.withTargets(s.Target)
	to, okTo := r.withTargets(s.Other)
	if !okFrom || !okTo {
		return nil
	}
	out.Producers, out.Notifies = []Producer{r.producerOf("to", from), r.producerOf("to", to)}, s.Arrow.Text == "~>"
	return out
}

// withTargets replaces the types and instances in n by strings. Several instances, as in File['a',
// 'b'], become several strings. It returns false if it has reported an error.
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
		r.attributeError(n.Off, "expected a constant reference to a resource, such as File['/etc/ntp.conf'], found "+
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

// isPlain reports whether a binding has no attributes other than a key and a value.
func (s *Statement) isPlain() bool {
	return len(s.Producers) == 1 && s.Producers[0].Name == "to" && !s.Broken && s.Type == nil && s.Transformer == nil &&
		s.Options == nil && s.In == nil && !s.Abstract && !s.Override && !s.Sensitive && !s.Optional
}

// compileValue compiles the value of a binding for which isPlain is true. The result is the same as
// for the short form in YAML.
func (s *Statement) compileValue() {
	p := s.Producers[0]
	*s = Statement{Keyword: Bind, Pos: s.KeyPos, Key: s.Key}
	if p.Expr == nil {
		s.Value = recipe.AppendConstant(nil, p.Argument.Value)
		return
	}
	r := &recipe.Recipe{Kind: recipe.Expression, Expr: p.Expr, Sensitive: p.Expr.HasHieraSecret()}
	s.Value = recipe.AppendCompiled(nil, r)
}
