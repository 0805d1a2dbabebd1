package bindingsfile

import (
	"fmt"
	"math"
	"slices"

	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/syntax"
	"bindc/internal/value"
)

// puppetText returns a bindings file in Puppet syntax, with the given name and comments.
func puppetText(f *File, name string, c comments) ([]byte, error) {
	w := puppetWriter{comments: c}
	out := &syntax.Bindings{Name: syntax.Word{Text: name}, Statements: w.statements(f.Statements), Above: c.head}
	return []byte(syntax.PrintBindings(out)), w.err
}

// puppetWriter converts statements to a syntax tree. It sets err if Puppet syntax cannot express
// one of them.
type puppetWriter struct {
	comments comments
	err      error
}

func (w *puppetWriter) statements(list []*Statement) []syntax.Statement {
	out := make([]syntax.Statement, 0, len(list))
	for _, s := range list {
		made := w.statement(s)
		made.Above, made.LineComment = w.comments.above[s.Pos], w.comments.inline[s.Pos]
		out = append(out, made)
	}
	return out
}

func (w *puppetWriter) statement(s *Statement) syntax.Statement {
	out := syntax.Statement{Word: s.Keyword.String()}
	switch s.Keyword {
	case When:
		out.When, out.Statements = pairsOf(s), w.statements(s.Statements)
	case Include, Exclude:
		for i := range s.Subjects {
			out.Names = append(out.Names, syntax.Word{Text: s.Subjects[i].ScalarText()})
		}
	case Dependency:
		out.Target, out.Other = producerNode(&s.Producers[0]), producerNode(&s.Producers[1])
		out.Arrow = syntax.Word{Text: s.Arrow()}
	case Bind:
		if s.Value == nil {
			return w.attributes(s)
		}
		var err error
		if out.To, err = decode(s.Value); err != nil {
			w.err = err
		}
		out.Key = textNode(s.Key)
	default:
		return w.targeted(s)
	}
	return out
}

// targeted converts a statement with the keyword parameters, variables or map.
func (w *puppetWriter) targeted(s *Statement) syntax.Statement {
	out := w.attributes(s)
	out.Word = s.Keyword.String()
	switch s.Keyword {
	case Map:
		out.Target, out.Other = w.target(&s.Subjects[0]), w.target(&s.Subjects[1])
	case Parameters:
		out.Target, out.Type = w.target(&s.Subjects[0]), nil
		if s.Type != nil { // in Puppet syntax, the type of parameters is an option
			out.Options = append(out.Options, syntax.Option{Name: syntax.Word{Text: "type"}, Value: node(s.Type.Value)})
		}
		w.mapOption(&out, s.Options)
		if to := out.To; to != nil && to.Value.Kind() == value.String {
			out.To = w.target(&Literal{Value: to.Value})
		}
	}
	return out
}

// mapOption replaces the option {map: …} of parameters by an option of its own.
func (w *puppetWriter) mapOption(s *syntax.Statement, options *Literal) {
	if options == nil || options.Value.Len() != 1 {
		return
	}
	given := options.Named("map")
	for i := range s.Options {
		if o := &s.Options[i]; o.Name.Text == "options" && given != nil {
			o.Name.Text, o.Value = "map", node(given.Value)
		}
	}
}

func pairsOf(w *Statement) (out [][]syntax.Pair) {
	for _, all := range w.Alternatives {
		var pairs []syntax.Pair
		for _, p := range all {
			pair := syntax.Pair{Category: syntax.Word{Text: p.Category.ScalarText()}}
			for _, v := range p.Values {
				pair.Values = append(pair.Values, syntax.Word{Text: v})
			}
			pairs = append(pairs, pair)
		}
		if pairs == nil { // a condition that is always true
			pairs = []syntax.Pair{{Category: syntax.Word{Text: "common"}, Values: []syntax.Word{{Text: "true"}}}}
		}
		out = append(out, pairs)
	}
	return out
}

func textNode(s string) *expr.Node { return &expr.Node{Op: expr.Const, Value: value.FromString(s)} }

// target converts the name of a class, type or instance to an expression.
func (w *puppetWriter) target(l *Literal) *expr.Node {
	name := l.ScalarText()
	if name != "" && 'a' <= name[0] && name[0] <= 'z' {
		return textNode(name)
	}
	if typ, instance, ok := SplitTarget(name); ok && instance != "" {
		return &expr.Node{Op: expr.Access, Kids: []*expr.Node{{Op: expr.TypeName, Name: typ}, textNode(instance)}}
	}
	return w.parsed(l)
}

func (w *puppetWriter) parsed(l *Literal) *expr.Node {
	n, errs := syntax.ParseExpression(l.ScalarText())
	if len(errs) > 0 {
		w.fail("%s cannot be expressed in Puppet syntax", value.Describe(l.Value))
		return textNode("")
	}
	return n
}

func (w *puppetWriter) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

func (w *puppetWriter) attributes(b *Statement) syntax.Statement {
	s := syntax.Statement{Word: "bind"}
	if b.Key != "" {
		s.Key = textNode(b.Key)
	}
	for _, flag := range b.flags() {
		s.Flags = append(s.Flags, syntax.Word{Text: flag})
	}
	if b.Type != nil {
		s.Type = w.parsed(b.Type)
	}
	for i := range b.Producers {
		writeProducer(&s, b, &b.Producers[i])
	}
	if b.In != nil {
		s.In = textNode(b.In.ScalarText())
	}
	if s.Optional = b.Optional; b.Optional && s.To == nil && s.Query == nil {
		option := syntax.Option{Name: syntax.Word{Text: "optional"}, Value: node(value.FromBool(true))}
		s.Options = append(s.Options, option)
	}
	writeOptions(&s, b)
	return s
}

// flags returns the names of the flags that are set. It leaves out optional, which Puppet syntax
// writes as an option.
func (s *Statement) flags() (set []string) {
	for _, flag := range []struct {
		name string
		set  bool
	}{{"abstract", s.Abstract}, {"override", s.Override}, {"sensitive", s.Sensitive}} {
		if flag.set {
			set = append(set, flag.name)
		}
	}
	return set
}

func writeProducer(s *syntax.Statement, b *Statement, p *Producer) {
	isText := p.Argument.Value.Kind() == value.String
	switch {
	case p.Name == "to" || p.Name == "to_expression":
		s.To = producerNode(p)
	case p.Name == "multibind_id" && isText && b.In == nil:
		s.Word = "multibind"
		if id := p.Argument.Value.Text(); id != b.Key {
			s.In = textNode(id)
		}
	case p.Name == "to_producer" && isText:
		s.To, s.Producer = node(p.Argument.Value), true
	case (p.Name == "to_alias_of" || p.Name == "to_renamed") && isText && b.In == nil:
		s.Word = map[string]string{"to_alias_of": "alias", "to_renamed": "renamed"}[p.Name]
		s.Old = node(p.Argument.Value)
	case p.Name == "rebind":
		s.Word, s.Key = "rebind", node(p.Argument.Value)
	case p.Name == "to_query":
		s.Query = queryOf(p.Argument.Value)
	default:
		s.Options = append(s.Options, syntax.Option{Name: syntax.Word{Text: p.Name}, Value: node(p.Argument.Value)})
	}
}

// writeOptions adds the attributes that are options in Puppet syntax.
func writeOptions(s *syntax.Statement, b *Statement) {
	add := func(name string, n *expr.Node) {
		s.Options = append(s.Options, syntax.Option{Name: syntax.Word{Text: name}, Value: n})
	}
	if b.Transformer != nil {
		s.Options = append(s.Options, syntax.Option{Name: syntax.Word{Text: "transformer"},
			Lambda: printableLambda(b.Transformer.Lambda)})
	}
	switch {
	case b.Options == nil:
	case s.Producer:
		add("producer_args", node(b.Options.Value))
	case b.collects() && b.Options.Value.Kind() == value.Hash && b.Options.Value.Len() > 0:
		for k, v := range b.Options.Value.Pairs() {
			add(scalarText(k), node(v))
			if scalarText(k) == "combinator" && b.Combinator != nil {
				s.Options[len(s.Options)-1].Lambda = printableLambda(b.Combinator)
			}
		}
	default:
		add("options", node(b.Options.Value))
	}
}

// collects reports whether the statement is a multibinding.
func (s *Statement) collects() bool {
	return slices.ContainsFunc(s.Producers, func(p Producer) bool { return p.Name == "multibind_id" })
}

// producerNode returns the value of a producer as an expression that can be printed.
func producerNode(p *Producer) *expr.Node {
	if p.Expr != nil {
		return printable(p.Expr)
	}
	return node(p.Argument.Value)
}

// decode returns a compiled value as an expression that can be printed.
func decode(compiled []byte) (*expr.Node, error) {
	if compiled[0] == recipe.CompiledConstant {
		v, _, err := value.View(string(compiled[1:]))
		if err != nil {
			return nil, err
		}
		return node(v), nil
	}
	r, err := recipe.Decode(string(compiled[1:]))
	if err != nil {
		return nil, err
	}
	return printable(r.Expr), nil
}

// node returns v as an expression that can be printed.
func node(v value.Value) *expr.Node {
	switch v.Kind() {
	case value.Array:
		n := &expr.Node{Op: expr.ArrayLit}
		for e := range v.Elems() {
			n.Kids = append(n.Kids, node(e))
		}
		return n
	case value.Hash:
		n := &expr.Node{Op: expr.HashLit}
		for k, e := range v.Pairs() {
			n.Kids = append(n.Kids, node(k), node(e))
		}
		return n
	case value.Int:
		if v.Int() == math.MinInt64 { // the parser cannot read its digits without the sign
			least := []*expr.Node{node(value.FromInt(-math.MaxInt64)), node(value.FromInt(1))}
			return &expr.Node{Op: expr.Binary, Name: "-", Kids: least}
		}
	}
	return &expr.Node{Op: expr.Const, Value: v}
}

// printable returns a copy of n in which constants are replaced by expressions that print the same.
func printable(n *expr.Node) *expr.Node {
	if n == nil || n.Op == expr.Const {
		if n != nil {
			return node(n.Value)
		}
		return nil
	}
	if inner, ok := n.Encrypted(); ok {
		return node(inner.Value)
	}
	out := *n
	out.Kids = make([]*expr.Node, len(n.Kids))
	for i, kid := range n.Kids {
		out.Kids[i] = printable(kid)
	}
	if n.Lambda != nil {
		out.Lambda = printableLambda(n.Lambda)
	}
	return &out
}

func printableLambda(l *expr.Lambda) *expr.Lambda {
	out := &expr.Lambda{Params: slices.Clone(l.Params), Body: printable(l.Body)}
	for i := range out.Params {
		p := &out.Params[i]
		p.Type, p.Default = printable(p.Type), printable(p.Default)
	}
	return out
}

// queryOf reverses queryList.
func queryOf(v value.Value) *syntax.Query {
	list := v.Slice()
	return &syntax.Query{Type: syntax.Word{Text: list[1].Slice()[2].Text()}, Where: node(list[2])}
}
