package bindingsfile

import (
	"fmt"
	"math"
	"slices"

	"bindc/internal/diag"
	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/syntax"
	"bindc/internal/value"
)

// Remarks are the comments of a file, from the # on, and empty lines among them: at its head, and by the place of the
// statement they are about.
type Remarks struct {
	Head   []string
	Above  map[diag.Pos][]string
	Beside map[diag.Pos]string
}

// ToPuppet is the set called name in the syntax of Puppet. Comments are with the statements they were with.
func ToPuppet(s *Set, name string, remarks Remarks) (*syntax.Bindings, error) {
	w := puppetWriter{remarks: remarks}
	out := &syntax.Bindings{Name: syntax.Word{Text: name}, Statements: w.statements(s.Statements),
		Above: remarks.Head}
	return out, w.err
}

// puppetWriter makes statements of the syntax. What that cannot say is err.
type puppetWriter struct {
	remarks Remarks
	err     error
}

// At is where a statement is written.
func At(s Statement) diag.Pos {
	switch s := s.(type) {
	case *When:
		return s.Pos
	case *Plain:
		return s.Pos
	case *Classes:
		return s.Pos
	case *Dependency:
		return s.Pos
	}
	return attributesOf(s).Pos
}

// attributesOf is what a statement says that comes to bindings; nil of others.
func attributesOf(s Statement) *Attributes {
	switch s := s.(type) {
	case *Binding:
		return &s.Attributes
	case *Parameters:
		return &s.Attributes
	case *Variables:
		return &s.Attributes
	case *Map:
		return &s.Attributes
	}
	return nil
}

func (w *puppetWriter) statements(list []Statement) []syntax.Statement {
	out := make([]syntax.Statement, 0, len(list))
	for _, s := range list {
		made := w.statement(s)
		made.Above, made.Beside = w.remarks.Above[At(s)], w.remarks.Beside[At(s)]
		out = append(out, made)
	}
	return out
}

func (w *puppetWriter) statement(s Statement) syntax.Statement {
	switch s := s.(type) {
	case *When:
		return syntax.Statement{Word: "when", When: pairsOf(s), Statements: w.statements(s.Statements)}
	case *Plain:
		n, err := Node(s.Value)
		if err != nil {
			w.err = err
		}
		return syntax.Statement{Word: "bind", Key: textNode(s.Key), To: n}
	case *Classes:
		out := syntax.Statement{Word: "include"}
		if s.Exclude {
			out.Word = "exclude"
		}
		for _, name := range s.Names {
			out.Names = append(out.Names, syntax.Word{Text: Text(name.Value)})
		}
		return out
	case *Dependency:
		return syntax.Statement{Word: "dependency", Target: producedBy(&s.From), Other: producedBy(&s.To),
			Arrow: syntax.Word{Text: s.Kind}}
	}
	a := attributesOf(s)
	out := w.attributes(a)
	switch s := s.(type) {
	case *Parameters:
		out.Word, out.Target, out.Type = "parameters", w.target(s.Target), nil
		if s.Type != nil { // for which there is no place in front of it
			out.Options = append(out.Options, syntax.Option{Name: syntax.Word{Text: "type"}, Value: node(s.Type.Value)})
		}
		w.mapOption(&out, s.Options)
		if to := out.To; to != nil && to.Value.Kind() == value.String {
			out.To = w.target(Literal{Value: to.Value})
		}
	case *Map:
		out.Word, out.Target, out.Other = "map", w.target(s.From), w.target(s.To)
	case *Variables:
		out.Word = "variables"
	}
	return out
}

// mapOption has a map among the options of parameters stand by itself.
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

func pairsOf(w *When) (out [][]syntax.Pair) {
	for _, all := range w.Alternatives {
		var pairs []syntax.Pair
		for _, p := range all {
			pair := syntax.Pair{Category: syntax.Word{Text: Text(p.Category.Value)}}
			for _, v := range p.Values {
				pair.Values = append(pair.Values, syntax.Word{Text: v})
			}
			pairs = append(pairs, pair)
		}
		if pairs == nil { // always
			pairs = []syntax.Pair{{Category: syntax.Word{Text: "common"}, Values: []syntax.Word{{Text: "true"}}}}
		}
		out = append(out, pairs)
	}
	return out
}

func textNode(s string) *expr.Node { return &expr.Node{Op: expr.Const, Value: value.FromString(s)} }

// target is the class, type or instance that a text names.
func (w *puppetWriter) target(l Literal) *expr.Node {
	name := Text(l.Value)
	if name != "" && 'a' <= name[0] && name[0] <= 'z' {
		return textNode(name)
	}
	if of, instance, ok := SplitTarget(name); ok && instance != "" {
		return &expr.Node{Op: expr.Access, Kids: []*expr.Node{{Op: expr.TypeName, Name: of}, textNode(instance)}}
	}
	return w.parsed(l)
}

// parsed is the expression that a text is.
func (w *puppetWriter) parsed(l Literal) *expr.Node {
	n, errs := syntax.ParseExpression(Text(l.Value))
	if len(errs) > 0 {
		w.fail("%s cannot be said in the syntax of Puppet", value.Describe(l.Value))
		return textNode("")
	}
	return n
}

func (w *puppetWriter) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// attributes is a binding with what is said of it.
func (w *puppetWriter) attributes(a *Attributes) syntax.Statement {
	s := syntax.Statement{Word: "bind"}
	if a.Key != "" {
		s.Key = textNode(a.Key)
	}
	for _, f := range []struct {
		word string
		set  bool
	}{{"abstract", a.Abstract}, {"override", a.Override}, {"sensitive", a.Sensitive}} {
		if f.set {
			s.Flags = append(s.Flags, syntax.Word{Text: f.word})
		}
	}
	if a.Type != nil {
		s.Type = w.parsed(*a.Type)
	}
	for i := range a.Producers {
		w.producer(&s, a, &a.Producers[i])
	}
	if a.In != nil {
		s.In = textNode(Text(a.In.Value))
	}
	if s.Optional = a.Optional; a.Optional && s.To == nil && s.Query == nil {
		option := syntax.Option{Name: syntax.Word{Text: "optional"}, Value: node(value.FromBool(true))}
		s.Options = append(s.Options, option)
	}
	w.options(&s, a)
	return s
}

// producer says what produces the value.
func (w *puppetWriter) producer(s *syntax.Statement, a *Attributes, p *Producer) {
	isText := p.Argument.Value.Kind() == value.String
	switch {
	case p.Name == "to" || p.Name == "to_expression":
		s.To = producedBy(p)
	case p.Name == "multibind_id" && isText && a.In == nil:
		s.Word = "multibind"
		if id := p.Argument.Value.Text(); id != a.Key {
			s.In = textNode(id)
		}
	case p.Name == "to_producer" && isText:
		s.To, s.Producer = node(p.Argument.Value), true
	case (p.Name == "to_alias_of" || p.Name == "to_renamed") && isText && a.In == nil:
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

// options says what has no word of its own.
func (w *puppetWriter) options(s *syntax.Statement, a *Attributes) {
	add := func(name string, n *expr.Node) {
		s.Options = append(s.Options, syntax.Option{Name: syntax.Word{Text: name}, Value: n})
	}
	if a.Transformer != nil {
		s.Options = append(s.Options, syntax.Option{Name: syntax.Word{Text: "transformer"},
			Lambda: writtenLambda(a.Transformer)})
	}
	switch {
	case a.Options == nil:
	case s.Producer:
		add("producer_args", node(a.Options.Value))
	case collects(a) && a.Options.Value.Kind() == value.Hash && a.Options.Value.Len() > 0:
		for k, v := range a.Options.Value.Pairs() {
			add(Text(k), node(v))
			if Text(k) == "combinator" && a.Combinator != nil {
				s.Options[len(s.Options)-1].Lambda = writtenLambda(a.Combinator)
			}
		}
	default:
		add("options", node(a.Options.Value))
	}
}

func collects(a *Attributes) bool {
	return slices.ContainsFunc(a.Producers, func(p Producer) bool { return p.Name == "multibind_id" })
}

// producedBy is the expression of a producer.
func producedBy(p *Producer) *expr.Node {
	if p.Expr != nil {
		return written(p.Expr)
	}
	return node(p.Argument.Value)
}

// Node is a compiled value as an expression.
func Node(compiled []byte) (*expr.Node, error) {
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
	return written(r.Expr), nil
}

// node is a value as an expression that prints as it.
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
		if v.Int() == math.MinInt64 { // of which the digits are no number
			least := []*expr.Node{node(value.FromInt(-math.MaxInt64)), node(value.FromInt(1))}
			return &expr.Node{Op: expr.Binary, Name: "-", Kids: least}
		}
	}
	return &expr.Node{Op: expr.Const, Value: v}
}

// written is n with the constants in it as they are written.
func written(n *expr.Node) *expr.Node {
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
		out.Kids[i] = written(kid)
	}
	if n.Lambda != nil {
		out.Lambda = writtenLambda(n.Lambda)
	}
	return &out
}

func writtenLambda(l *expr.Lambda) *expr.Lambda {
	out := &expr.Lambda{Params: slices.Clone(l.Params), Body: written(l.Body)}
	for i := range out.Params {
		p := &out.Params[i]
		p.Type, p.Default = written(p.Type), written(p.Default)
	}
	return out
}

// queryOf is the query that a value is, as queryList has made it.
func queryOf(v value.Value) *syntax.Query {
	list := v.Slice()
	return &syntax.Query{Type: syntax.Word{Text: list[1].Slice()[2].Text()}, Where: node(list[2])}
}
