package bindingsfile

import (
	"fmt"
	"math"

	"bindc/diag"
	"bindc/internal/literal"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

var fileKeys = []string{"bindings_version", "name", "bind"}

// yamlReader converts a YAML document to statements. It adds errors to diags.
type yamlReader struct {
	*yaml.Document
	diags *diag.List
}

// Read implements Source.
func (y YAML) Read(secrets map[string]bool, diags *diag.List) *File {
	doc, root := y.Document, y.Root
	if root != nil {
		(&hider{doc, diags, secrets}).hideSensitive(root, 1, math.MaxInt)
	}
	r := yamlReader{doc, diags}
	if root == nil || root.Kind != yaml.Mapping {
		at := diag.Pos{File: doc.File, Line: 1, Col: 1}
		diags.Errorf(at, "bindings", "expected a hash of %s", diag.Quoted(fileKeys))
		return nil
	}
	r.onlyKeys(root, "top-level attribute of bindings", fileKeys)
	if wrong := doc.CheckVersion("bindings_version", 1); wrong != nil {
		diags.Add(*wrong)
		return nil
	}
	f := &File{Pos: doc.Pos(root)}
	if _, name, ok := root.Lookup("name"); ok {
		l := r.literal(name)
		f.Name = &l
	}
	if _, bind, ok := root.Lookup("bind"); ok {
		literal.WarnOfHiera(doc, bind, diags)
		f.Statements = r.statements(bind)
	}
	return f
}

func (r *yamlReader) errorf(n *yaml.Node, code diag.Code, format string, args ...any) {
	r.diags.Errorf(r.Pos(n), code, format, args...)
}

// onlyKeys reports keys of a hash that are not in allowed. what describes the keys in messages.
func (r *yamlReader) onlyKeys(n *yaml.Node, what string, allowed []string) {
	for _, found := range r.UnknownKeys(n, "bindings", what, allowed) {
		r.diags.Add(found)
	}
}

func (r *yamlReader) statements(n *yaml.Node) []*Statement {
	if n.Kind != yaml.Sequence {
		d := diag.Diagnostic{Pos: r.Pos(n), Code: "bindings",
			Message: "expected a list of bindings for 'bind', found " + n.Describe()}
		if n.Kind == yaml.Mapping {
			d.Hint = "begin each binding with '- ', or put brackets around: bind: [[key, value], {name: …}]"
		}
		r.diags.Add(d)
		return nil
	}
	out := make([]*Statement, 0, len(n.Kids))
	for i := range n.Kids {
		if s := r.statement(&n.Kids[i]); s != nil {
			out = append(out, s)
		}
	}
	return out
}

func (r *yamlReader) statement(n *yaml.Node) *Statement {
	switch {
	case n.Kind == yaml.Sequence:
		return r.shortForm(n)
	case n.Kind != yaml.Mapping:
		r.diags.Add(diag.Diagnostic{Pos: r.Pos(n), Code: "bindings",
			Message: "expected [name, value], a binding or a conditional, found " + n.Describe(),
			Hint:    "write [KEY, VALUE] or {name: KEY, to: VALUE}"})
		return nil
	case has(n, "when") || has(n, "bind"):
		return r.conditional(n)
	}
	if s, ok := r.keywordStatement(n); ok {
		return s
	}
	return r.longForm(n)
}

func has(n *yaml.Node, key string) bool {
	_, _, ok := n.Lookup(key)
	return ok
}

func (r *yamlReader) shortForm(n *yaml.Node) *Statement {
	if len(n.Kids) != 2 {
		r.diags.Add(diag.Diagnostic{Pos: r.Pos(n), Code: "bindings", Hint: r.shortFormHint(n.Kids),
			Message: fmt.Sprintf("expected the short form [name, value], found a list of %d", len(n.Kids))})
		return nil
	}
	if n.Kids[0].Kind != yaml.Scalar {
		r.diags.Add(diag.Diagnostic{Pos: r.Pos(&n.Kids[0]), Code: "key", Hint: r.shortFormHint(n.Kids[:1]),
			Message: "expected a key, found " + n.Kids[0].Describe()})
		return nil
	}
	key, ok := literal.Key(r.Document, &n.Kids[0], r.diags)
	if !ok {
		return nil
	}
	return &Statement{Keyword: Bind, Pos: r.Pos(&n.Kids[0]), Key: key,
		Value: literal.Append(nil, r.Document, &n.Kids[1], r.diags)}
}

// shortFormHint returns a hint for a list in the short form that does not have exactly two
// elements.
func (r *yamlReader) shortFormHint(elements []yaml.Node) string {
	if len(elements) == 1 { // [key: value] is a list that contains a hash
		for key, val := range elements[0].Pairs() {
			name, _ := key.Text()
			return bindingHint(name, r.Written(val), val)
		}
	}
	if len(elements) > 2 {
		return "put brackets around a list: [KEY, [VALUE, …]]"
	}
	return "write [KEY, VALUE]"
}

func (r *yamlReader) conditional(n *yaml.Node) *Statement {
	_, when, hasWhen := n.Lookup("when")
	_, bind, hasBind := n.Lookup("bind")
	unknown := r.UnknownKeys(n, "bindings", "attribute of a conditional", []string{"when", "bind"})
	switch {
	case hasWhen && !hasBind:
		r.diags.Add(diag.Diagnostic{Pos: r.Pos(n), Code: "bindings",
			Message: "expected 'bind', a list of bindings, next to 'when'",
			Hint:    "write the bindings of this condition below it: bind: [[KEY, VALUE], …]"})
		return nil
	case !hasWhen && len(unknown) == 0:
		r.errorf(n, "bindings", "expected 'when', a hash of categories to values, next to 'bind'")
		return nil
	}
	for _, d := range unknown {
		r.diags.Add(d)
	}
	if !hasWhen {
		return nil
	}
	w := &Statement{Keyword: When, Pos: r.Pos(when)}
	if !r.when(w, when) {
		return nil
	}
	w.Statements = r.statements(bind)
	return w
}

// when sets the alternatives of a condition, which is a hash or a list of hashes. It returns false
// if it has reported an error.
func (r *yamlReader) when(w *Statement, n *yaml.Node) bool {
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
			r.diags.Add(diag.Diagnostic{Pos: r.Pos(h), Code: "when", Hint: "write when: {CATEGORY: VALUE}",
				Message: "expected a hash of categories to values for 'when', found " + h.Describe()})
			return false
		}
		var all []Pair
		for key, val := range h.Pairs() {
			values := r.values(val)
			if values == nil {
				return false
			}
			all = append(all, Pair{r.literal(key), r.Pos(val), values})
		}
		w.Alternatives = append(w.Alternatives, all)
	}
	return true
}

// values returns the values of a category. It returns nil if it has reported an error.
func (r *yamlReader) values(n *yaml.Node) []string {
	nodes := []yaml.Node{*n}
	if n.Kind == yaml.Sequence {
		nodes = n.Kids
	}
	var out []string
	for i := range nodes {
		text := scalarText(nodes[i].Value)
		if kind := nodes[i].Value.Kind(); kind == value.Int || kind == value.Float {
			text = r.Written(&nodes[i]) // 6.10 must not become 6.1
		}
		if text == "" {
			r.errorf(&nodes[i], "when",
				"expected a category value (a string, number or boolean), found %s", nodes[i].Describe())
			return nil
		}
		out = append(out, text)
	}
	if len(out) == 0 {
		r.errorf(n, "when", "expected at least one category value")
	}
	return out
}

// literal returns n as a literal with the positions of the values inside it.
func (r *yamlReader) literal(n *yaml.Node) Literal {
	l := Literal{Value: n.Value, Pos: r.Pos(n), Kids: make([]Literal, len(n.Kids))}
	for i := range n.Kids {
		l.Kids[i] = r.literal(&n.Kids[i])
	}
	if n.Kind != yaml.Scalar {
		l.Value = collect(n.Kind == yaml.Mapping, l.Kids)
	}
	return l
}
