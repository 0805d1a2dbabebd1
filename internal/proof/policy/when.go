package policy

import (
	"bindc/internal/syntax"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// factsKey is the key under which 'when' and 'unless' contain an expression.
const factsKey = "facts"

// condition reads 'when' or 'unless', which contains one hash or a list of alternative hashes. If the attribute is
// missing, the condition is nil.
func (r *reader) condition(policy *yaml.Node, name string) (*condition, bool) {
	_, n, ok := policy.Lookup(name)
	if !ok {
		return nil, true
	}
	hashes := []yaml.Node{*n}
	if n.Kind == yaml.Sequence {
		hashes = n.Kids
	}
	var out []*condition
	for i := range hashes {
		if hashes[i].Kind != yaml.Mapping || len(hashes[i].Kids) == 0 {
			r.errorf(&hashes[i], "expected a hash of categories to values for '%s', found %s", name,
				hashes[i].Describe())
			return nil, false
		}
		c, ok := r.hash(&hashes[i])
		if !ok {
			return nil, false
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		r.errorf(n, "expected at least one alternative in the list '%s'", name)
	}
	return joined(or, out), len(out) > 0
}

// hash reads a hash of categories and values, all of which must match.
func (r *reader) hash(n *yaml.Node) (*condition, bool) {
	var out []*condition
	for key, val := range n.Pairs() {
		category, _ := key.Text()
		var c *condition
		ok := true
		switch category {
		case "":
			r.errorf(key, "expected a category name, found %s", key.Describe())
			ok = false
		case factsKey:
			c, ok = r.facts(val)
		default:
			c, ok = r.values(category, val)
		}
		if !ok {
			return nil, false
		}
		out = append(out, c)
	}
	return joined(and, out), true
}

// values reads one value or a list of alternative values of a category. A number stands for its text in the file.
func (r *reader) values(category string, n *yaml.Node) (*condition, bool) {
	nodes := []yaml.Node{*n}
	if n.Kind == yaml.Sequence {
		nodes = n.Kids
	}
	var out []*condition
	for i := range nodes {
		var text string
		switch v := nodes[i].Value; v.Kind() {
		case value.Int, value.Float:
			text = r.doc.Written(&nodes[i])
		case value.String, value.Bool:
			text = string(value.AppendText(nil, v))
		}
		if nodes[i].Kind != yaml.Scalar || text == "" {
			r.errorf(&nodes[i], "expected a value of the category '%s' (a string, number or boolean), found %s",
				category, nodes[i].Describe())
			return nil, false
		}
		out = append(out, &condition{lit: literal{category: category, text: fold(text), written: text}})
	}
	if len(out) == 0 {
		r.errorf(n, "expected at least one value of the category '%s'", category)
	}
	return joined(or, out), len(out) > 0
}

// facts reads the expression under factsKey.
func (r *reader) facts(n *yaml.Node) (*condition, bool) {
	text, isText := n.Text()
	if !isText {
		r.errorf(n, "expected an expression such as \"$facts['os']['family'] == 'Debian'\" for '%s', found %s", factsKey,
			n.Describe())
		return nil, false
	}
	e, errs := syntax.ParseExpression(text)
	if len(errs) == 0 {
		errs = syntax.CheckWithoutLookup(e, "the condition of a policy depends on facts alone")
	}
	if !r.syntax(n, errs) {
		return nil, false
	}
	syntax.Unqualify(e)
	return ofExpression(e), true
}
