package bindingsfile

import (
	"fmt"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/literal"
	"bindc/internal/syntax"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

var bindingAttributes = []string{"name", "type", "to", "multibind_id", "in", "options", "transformer", "abstract",
	"override", "sensitive", "to_lookup_of", "to_first_found", "to_hash_lookup", "to_expression", "to_producer",
	"to_instance", "to_query", "optional", "to_alias_of", "to_renamed", "rebind"}

func Attributes() []string { return slices.Clone(bindingAttributes) }

// IsAttribute reports whether name is an attribute of a binding.
func IsAttribute(name string) bool { return slices.Contains(bindingAttributes, name) }

func (r *yamlReader) longForm(n *yaml.Node) *Statement {
	allowed := bindingAttributes
	if !has(n, "name") { // the unknown attribute may be a misspelt keyword
		for _, form := range keywordForms {
			allowed = append(slices.Clip(allowed), form.keyword.String())
		}
	}
	s := &Statement{Keyword: Bind, Pos: r.Pos(n), KeyPos: r.Pos(n)}
	unknown := r.UnknownKeys(n, "attribute", "attribute of a binding", allowed)
	if s.Unsure = len(unknown) > 0; s.Unsure && !has(n, "name") && !has(n, "rebind") {
		if len(unknown) == 1 && unknown[0].Hint == "" {
			unknown[0].Message = "expected 'name', the key to bind, and 'to', its value"
			unknown[0].Hint, unknown[0].Discreet = r.keyAsAttribute(n), "" // the hint quotes the value
		}
		r.diags.Add(unknown[0]) // the key is not known
		return nil
	}
	r.reportInValue(unknown)
	for key, val := range n.Pairs() {
		name, _ := key.Text()
		r.attribute(s, name, val)
		if name == "name" && s.Key == "" {
			return nil
		}
	}
	r.combinator(s, n)
	return s
}

// keyAsAttribute returns a hint for a binding without a name whose key may have been written as an
// attribute, as in {KEY: VALUE}.
func (r *yamlReader) keyAsAttribute(n *yaml.Node) string {
	for key, val := range n.Pairs() {
		if name, _ := key.Text(); !IsAttribute(name) {
			return bindingHint(name, r.Written(val), val)
		}
	}
	return ""
}

// bindingHint returns a hint that shows how to bind key to val. text is the source of val.
func bindingHint(key, text string, val *yaml.Node) string {
	if _, isText := val.Text(); isText || val.Kind != yaml.Scalar {
		text = "…"
	}
	if key == "" {
		key = "KEY"
	}
	return "write [" + key + ", " + text + "] or {name: " + key + ", to: " + text + "}"
}

// reportInValue reports errors in attributes. The key and the condition of the binding remain
// valid.
func (r *yamlReader) reportInValue(found []diag.Diagnostic) {
	for _, d := range found {
		d.InValue = true
		r.diags.Add(d)
	}
}

func (r *yamlReader) attribute(s *Statement, name string, n *yaml.Node) {
	switch name {
	case "name":
		s.Key, _ = literal.Key(r.Document, n, r.diags)
		s.KeyPos = r.Pos(n)
	case "abstract":
		s.Abstract = r.flag(s, name, n)
	case "override":
		s.Override = r.flag(s, name, n)
	case "sensitive":
		s.Sensitive = r.flag(s, name, n)
	case "optional":
		s.Optional = r.flag(s, name, n)
	case "transformer":
		if l := r.lambda(s, n); l != nil {
			s.Transformer = &Lambda{l, r.Pos(n)}
		}
	case "to":
		node, ok := literal.Compile(r.Document, n, r.diags)
		r.valueProducer(s, name, n, node, ok)
	case "to_expression":
		node, ok := r.expression(n)
		r.valueProducer(s, name, n, node, ok)
	case "to_query":
		s.Producers = append(s.Producers, r.query(s, n))
	default:
		r.literalAttribute(s, name, n)
	}
}

// literalAttribute sets an attribute in which strings do not interpolate.
func (r *yamlReader) literalAttribute(s *Statement, name string, n *yaml.Node) {
	if !slices.Contains(bindingAttributes, name) {
		return
	}
	l := r.literal(n)
	switch name {
	case "type":
		s.Type = &l
	case "options":
		s.Options = &l
	case "in":
		s.In = &l
	default:
		s.Producers = append(s.Producers, Producer{Name: name, Argument: &l})
	}
}

// valueProducer adds the producer for a value. node is the value as an expression; if ok is false,
// it is invalid.
func (r *yamlReader) valueProducer(s *Statement, name string, n *yaml.Node, node *expr.Node, ok bool) {
	p := Producer{Name: name}
	if ok {
		l := r.literal(n)
		p.Argument = &l
		if v, constant := node.Constant(); constant {
			l.Value = v
		} else {
			p.Expr = node
		}
	} else {
		s.Broken = true
	}
	s.Producers = append(s.Producers, p)
}

// combinator sets the combinator of a multibinding, if its options have one.
func (r *yamlReader) combinator(s *Statement, n *yaml.Node) {
	_, options, _ := n.Lookup("options")
	if !has(n, "multibind_id") || options == nil {
		return
	}
	if _, c, ok := options.Lookup("combinator"); ok {
		s.Combinator = r.lambda(s, c)
	}
}

// query parses a PuppetDB query in a string. It returns a producer whose argument is the query in
// list form.
func (r *yamlReader) query(s *Statement, n *yaml.Node) Producer {
	text, ok := n.Text()
	if !ok {
		r.attributeError(n, "expected a query as a string, such as \"Sql[?? name == 'one']\", found %s", n.Describe())
	}
	if ok {
		q, errs := syntax.ParseQuery(text)
		if ok = literal.Report(r.Document, n, "expression", errs, r.diags); ok {
			list, constant := expr.Fold(queryList(q), stdlib.Functions).Constant()
			if constant {
				return Producer{Name: "to_query", Argument: &Literal{Value: list, Pos: r.Pos(n)}}
			}
			r.attributeError(n, "expected a query with constant values")
		}
	}
	s.Broken = true
	return Producer{Name: "to"}
}

func (r *yamlReader) expression(n *yaml.Node) (*expr.Node, bool) {
	if n.Kind != yaml.Scalar {
		r.attributeError(n, "expected an expression as a string for 'to_expression', found %s", n.Describe())
		return nil, false
	}
	src, ok := n.Text()
	if !ok { // YAML reads some expressions, such as 42, as numbers or booleans
		return &expr.Node{Op: expr.Const, Value: n.Value}, true
	}
	node, errs := syntax.ParseExpression(src)
	if !literal.Report(r.Document, n, "expression", errs, r.diags) ||
		!literal.CheckNames(r.Document, n, node, r.diags) {
		return nil, false
	}
	return expr.Fold(node.Decrypting(), stdlib.Functions), true
}

func (r *yamlReader) lambda(s *Statement, n *yaml.Node) *expr.Lambda {
	text, ok := n.Text()
	if !ok {
		r.attributeError(n, "expected a lambda as a string, such as '|$value| { $value + 1 }', found %s", n.Describe())
		s.Broken = true
		return nil
	}
	l, errs := syntax.ParseLambda(text)
	if !literal.Report(r.Document, n, "expression", errs, r.diags) ||
		!literal.CheckNames(r.Document, n, syntax.Around(l), r.diags) {
		s.Broken = true
		return nil
	}
	return l
}

// flag returns the value of a boolean attribute. If the value is not a boolean, it reports an
// error. The message may quote strings such as 'true' even if the binding is sensitive.
func (r *yamlReader) flag(s *Statement, name string, n *yaml.Node) bool {
	if n.Value.Kind() == value.Bool {
		return n.Value.Bool()
	}
	s.Unsure = true
	d := diag.Diagnostic{Pos: r.Pos(n), Code: "attribute", InValue: true,
		Message: "expected true or false for '" + name + "', found " + n.Describe()}
	if text, _ := n.Text(); slices.Contains([]string{"true", "false", "yes", "no"}, strings.ToLower(text)) {
		d.Hint, d.Discreet = "remove the quotes", d.Message
	}
	r.diags.Add(d)
	return false
}

// attributeError reports an error in an attribute. The key and the condition of the binding remain
// valid.
func (r *yamlReader) attributeError(n *yaml.Node, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	r.diags.Add(diag.Diagnostic{Pos: r.Pos(n), Code: "attribute", Message: message, InValue: true})
}
