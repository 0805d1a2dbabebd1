package bindingsfile

import (
	"math"

	"bindc/internal/diag"
	"bindc/internal/literal"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

var setKeys = []string{"bindings_version", "name", "bind"}

// reader reads a set that is written in YAML. What is wrong goes to diags.
type reader struct {
	*yaml.Document
	diags *diag.List
}

// Read is the set in the document.
func (y YAML) Read(secrets map[string]bool, diags *diag.List) *Set {
	doc, root := y.Document, y.Root
	if root != nil {
		(&hider{doc, diags, secrets}).hideSensitive(root, 1, math.MaxInt)
	}
	r := reader{doc, diags}
	if root == nil || root.Kind != yaml.Mapping {
		at := diag.Pos{File: doc.File, Line: 1, Col: 1}
		diags.Errorf(at, "bindings", "expected a hash of %s", diag.Quoted(setKeys))
		return nil
	}
	r.onlyKeys(root, "top-level attribute of bindings", setKeys)
	if wrong := doc.CheckVersion("bindings_version", 1); wrong != nil {
		diags.Add(*wrong)
		return nil
	}
	s := &Set{Pos: doc.Pos(root)}
	if _, name, ok := root.Lookup("name"); ok {
		s.Name = r.literal(name)
	}
	if _, bind, ok := root.Lookup("bind"); ok {
		literal.Hiera(doc, bind, diags)
		s.Statements = r.statements(bind)
	}
	return s
}

func (r *reader) errorf(n *yaml.Node, code diag.Code, format string, args ...any) {
	r.diags.Errorf(r.Pos(n), code, format, args...)
}

// onlyKeys reports the keys of a hash that are none of allowed.
func (r *reader) onlyKeys(n *yaml.Node, what string, allowed []string) {
	for _, found := range r.UnknownKeys(n, "bindings", what, allowed) {
		r.diags.Add(found)
	}
}

// statements reads a list of bindings.
func (r *reader) statements(n *yaml.Node) []Statement {
	if n.Kind != yaml.Sequence {
		d := diag.Diagnostic{Pos: r.Pos(n), Code: "bindings",
			Message: "expected a list of bindings as 'bind', found " + n.Describe()}
		if n.Kind == yaml.Mapping {
			d.Hint = "begin each binding with '- ', or put brackets around: bind: [[key, value], {name: …}]"
		}
		r.diags.Add(d)
		return nil
	}
	out := make([]Statement, 0, len(n.Kids))
	for i := range n.Kids {
		if s := r.statement(&n.Kids[i]); s != nil {
			out = append(out, s)
		}
	}
	return out
}

func (r *reader) statement(n *yaml.Node) Statement {
	switch {
	case n.Kind == yaml.Sequence:
		return r.shortForm(n)
	case n.Kind != yaml.Mapping:
		r.errorf(n, "bindings", "expected [name, value], a binding or a conditional, found %s", n.Describe())
		return nil
	case has(n, "when") || has(n, "bind"):
		return r.conditional(n)
	}
	if s, ok := r.further(n); ok {
		return s
	}
	return r.longForm(n)
}

func has(n *yaml.Node, key string) bool {
	_, _, ok := n.Lookup(key)
	return ok
}

func (r *reader) shortForm(n *yaml.Node) Statement {
	if len(n.Kids) != 2 {
		r.errorf(n, "bindings", "expected the short form [name, value], found a list of %d", len(n.Kids))
		return nil
	}
	key, ok := literal.Key(r.Document, &n.Kids[0], r.diags)
	if !ok {
		return nil
	}
	return &Plain{r.Pos(&n.Kids[0]), key, literal.Append(nil, r.Document, &n.Kids[1], r.diags)}
}

// conditional reads `when` with `bind`.
func (r *reader) conditional(n *yaml.Node) Statement {
	r.onlyKeys(n, "attribute of a conditional", []string{"when", "bind"})
	_, when, hasWhen := n.Lookup("when")
	_, bind, hasBind := n.Lookup("bind")
	if !hasWhen || !hasBind {
		r.errorf(n, "bindings", "expected both 'when' and 'bind' in a conditional")
		return nil
	}
	w := &When{Pos: r.Pos(when)}
	if !r.when(w, when) {
		return nil
	}
	w.Statements = r.statements(bind)
	return w
}

// when reads what a `when` asks: a hash, or a list of them.
func (r *reader) when(w *When, n *yaml.Node) bool {
	hashes := []yaml.Node{*n}
	if n.Kind == yaml.Sequence {
		hashes = n.Kids
	}
	if len(hashes) == 0 {
		r.errorf(n, "when", "expected at least one alternative in the list")
		return false
	}
	for i := range hashes {
		h := &hashes[i]
		if h.Kind != yaml.Mapping {
			r.errorf(h, "when", "expected a hash of categories to values as 'when', found %s", h.Describe())
			return false
		}
		var all []Pair
		for key, val := range h.Pairs() {
			values := r.values(val)
			if values == nil {
				return false
			}
			all = append(all, Pair{r.literalOf(key), r.Pos(val), values})
		}
		w.Alternatives = append(w.Alternatives, all)
	}
	return true
}

// values is the values a category may have, nil after an error.
func (r *reader) values(n *yaml.Node) []string {
	nodes := []yaml.Node{*n}
	if n.Kind == yaml.Sequence {
		nodes = n.Kids
	}
	var out []string
	for i := range nodes {
		text := Text(nodes[i].Value)
		if kind := nodes[i].Value.Kind(); kind == value.Int || kind == value.Float {
			text = r.Written(&nodes[i]) // 6.10 is no 6.1
		}
		if text == "" {
			r.errorf(&nodes[i], "when",
				"expected a value of the category, a string, number or boolean, found %s", nodes[i].Describe())
			return nil
		}
		out = append(out, text)
	}
	if len(out) == 0 {
		r.errorf(n, "when", "expected at least one value of the category")
	}
	return out
}

// Text is a string, number or boolean as text, "" for anything else.
func Text(v value.Value) string {
	switch v.Kind() {
	case value.String, value.Int, value.Bool, value.Float:
		return string(value.AppendText(nil, v))
	}
	return ""
}

// literal is n as a value with places.
func (r *reader) literal(n *yaml.Node) *Literal {
	l := r.literalOf(n)
	return &l
}

func (r *reader) literalOf(n *yaml.Node) Literal {
	l := Literal{Value: n.Value, Pos: r.Pos(n), Kids: make([]Literal, len(n.Kids))}
	for i := range n.Kids {
		l.Kids[i] = r.literalOf(&n.Kids[i])
	}
	if n.Kind != yaml.Scalar {
		l.Value = composed(n.Kind == yaml.Mapping, l.Kids)
	}
	return l
}
