package set

import (
	"fmt"
	"slices"

	"bindc/internal/binding"
	"bindc/internal/diag"
	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/literal"
	"bindc/internal/syntax"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

var bindingKeys = []string{"name", "type", "to", "multibind_id", "in", "options", "transformer", "abstract", "override",
	"sensitive", "to_lookup_of", "to_first_found", "to_hash_lookup", "to_expression", "to_producer", "to_instance",
	"to_query", "optional", "to_alias_of", "to_renamed", "rebind"}

// IsAttribute reports whether a binding in the long form can have an attribute of that name.
func IsAttribute(name string) bool { return slices.Contains(bindingKeys, name) }

// longForm reads a binding that is written as a hash of attributes.
func (r *reader) longForm(n *yaml.Node) Statement {
	known := bindingKeys
	if !has(n, "name") { // then a statement may be meant
		for _, keys := range statementKeys {
			known = append(slices.Clip(known), keys[0])
		}
	}
	for _, d := range r.UnknownKeys(n, "attribute", "attribute of a binding", known) {
		d.InValue = true
		r.diags.Add(d)
	}
	b := &Binding{binding.Attributes{Pos: r.Pos(n), KeyPos: r.Pos(n)}}
	for key, val := range n.Pairs() {
		name, _ := key.Text()
		r.attribute(&b.Attributes, name, val)
		if name == "name" && b.Key == "" {
			return nil
		}
	}
	r.combinator(&b.Attributes, n)
	return b
}

// attribute reads one attribute of a binding. What cannot be read is reported.
func (r *reader) attribute(a *binding.Attributes, name string, n *yaml.Node) {
	switch name {
	case "name":
		a.Key, _ = literal.Key(r.Document, n, r.diags)
		a.KeyPos = r.Pos(n)
	case "type":
		a.Type = r.literal(n)
	case "options":
		a.Options = r.literal(n)
	case "in":
		a.In = r.literal(n)
	case "abstract":
		a.Abstract = r.flag(name, n)
	case "override":
		a.Override = r.flag(name, n)
	case "sensitive":
		a.Sensitive = r.flag(name, n)
	case "optional":
		a.Optional = r.flag(name, n)
	case "transformer":
		a.Transformer, a.TransformerPos = r.lambda(a, n), r.Pos(n)
	case "to":
		node, ok := literal.Compile(r.Document, n, r.diags)
		r.computed(a, name, n, node, ok)
	case "to_expression":
		node, ok := r.expression(n)
		r.computed(a, name, n, node, ok)
	case "to_query":
		a.Producers = append(a.Producers, r.query(a, n))
	default:
		if slices.Contains(bindingKeys, name) {
			a.Producers = append(a.Producers, binding.Producer{Name: name, Argument: r.literal(n)})
		}
	}
}

// computed notes a producer whose value node computes, or is.
func (r *reader) computed(a *binding.Attributes, name string, n *yaml.Node, node *expr.Node, ok bool) {
	p := binding.Producer{Name: name}
	if !ok {
		a.Broken = true
	} else if v, known := node.Constant(); known {
		p.Argument = r.literal(n)
		p.Argument.Value = v
	} else {
		p.Argument, p.Expr = r.literal(n), node
	}
	a.Producers = append(a.Producers, p)
}

// query reads the text of a query, which is the value that the producer of that name is given.
func (r *reader) query(a *binding.Attributes, n *yaml.Node) binding.Producer {
	text, ok := n.Text()
	if !ok {
		r.local(n, "expected the text of a query, as \"Sql[?? name == 'one']\", found %s", n.Describe())
	}
	if ok {
		q, errs := syntax.ParseQuery(text)
		if ok = literal.Report(r.Document, n, "expression", errs, r.diags); ok {
			list, known := expr.Fold(queryList(q), stdlib.Functions).Constant()
			if known {
				return binding.Producer{Name: "to_query", Argument: &binding.Literal{Value: list, Pos: r.Pos(n)}}
			}
			r.local(n, "expected a query whose values are known when it is compiled")
		}
	}
	a.Broken = true
	return binding.Producer{Name: "to"}
}

func (r *reader) expression(n *yaml.Node) (*expr.Node, bool) {
	if n.Kind != yaml.Scalar {
		r.local(n, "expected the text of an expression as 'to_expression', found %s", n.Describe())
		return nil, false
	}
	src, ok := n.Text()
	if !ok { // YAML reads an expression such as 42 or true as what it is
		return &expr.Node{Op: expr.Const, Value: n.Value}, true
	}
	node, errs := syntax.ParseExpression(src)
	if !literal.Report(r.Document, n, "expression", errs, r.diags) ||
		!literal.CheckNames(r.Document, n, node, r.diags) {
		return nil, false
	}
	return expr.Fold(node.Decrypting(), stdlib.Functions), true
}

func (r *reader) lambda(a *binding.Attributes, n *yaml.Node) *expr.Lambda {
	text, ok := n.Text()
	if !ok {
		r.local(n, "expected a lambda as text, as '|$value| { $value + 1 }', found %s", n.Describe())
		a.Broken = true
		return nil
	}
	l, errs := syntax.ParseLambda(text)
	if !literal.Report(r.Document, n, "expression", errs, r.diags) ||
		!literal.CheckNames(r.Document, n, syntax.Around(l), r.diags) {
		a.Broken = true
		return nil
	}
	return l
}

func (r *reader) flag(name string, n *yaml.Node) bool {
	if n.Value.Kind() != value.Bool {
		r.local(n, "expected true or false as '%s', found %s", name, n.Describe())
	}
	return n.Value.Bool()
}

// local reports an attribute that cannot be read, which leaves the other bindings to be judged.
func (r *reader) local(n *yaml.Node, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	r.diags.Add(diag.Diagnostic{Pos: r.Pos(n), Code: "attribute", Message: message, InValue: true})
}
