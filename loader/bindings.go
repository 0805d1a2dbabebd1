package loader

import (
	"math"
	"slices"
	"strings"

	"bindc/internal/datafile"
	"bindc/internal/diag"
	"bindc/internal/literal"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

var setKeys = []string{"bindings_version", "name", "bind"}

// setReader reads one file of structured bindings (language.md, section 5).
type setReader struct {
	document
	*dimensions
	pools   *datafile.Pools
	secrets map[string]bool // the ids of sensitive multibindings of the site
	out     []Binding
}

// read is the bindings of a set that is called name; "" for one that an extension makes.
func (r *setReader) read(name string) []Binding {
	if r.Root != nil {
		r.hideSensitive(r.Root, 1, math.MaxInt)
	}
	if !r.isHash() {
		at := diag.Pos{File: r.File, Line: 1, Col: 1}
		r.diags.Errorf(at, "bindings", "expected a hash of %s", diag.Quoted(setKeys))
		return nil
	}
	r.onlyKeys(r.Root, "bindings", "top-level attribute of bindings", setKeys)
	if !r.isVersion("bindings_version", 1) {
		return nil
	}
	if name != "" {
		r.checkName(name)
	}
	_, bind, ok := r.Root.Lookup("bind")
	if !ok {
		r.errorf(r.Root, "bindings", "expected 'bind', a list of bindings")
		return nil
	}
	literal.Hiera(r.Document, bind, r.diags)
	r.bind(bind, []Condition{nil}, []int{0})
	return r.out
}

func (r *setReader) checkName(name string) {
	_, n, ok := r.Root.Lookup("name")
	if !ok {
		r.errorf(r.Root, "bindings", "expected 'name: %s', the name these bindings have by their path", name)
	} else if given, _ := n.Text(); given != name {
		r.errorf(n, "bindings", "expected the name '%s', as the path of the file says, found %s", name, n.Describe())
	}
}

// bind reads a list of bindings that are effective under any of the conditions, which when has the numbers of.
func (r *setReader) bind(n *yaml.Node, conditions []Condition, when []int) {
	if n.Kind != yaml.Sequence {
		d := diag.Diagnostic{Pos: r.Pos(n), Code: "bindings",
			Message: "expected a list of bindings as 'bind', found " + n.Describe()}
		if n.Kind == yaml.Mapping {
			d.Hint = "begin each binding with '- ', or put brackets around: bind: [[key, value], {name: …}]"
		}
		r.diags.Add(d)
		return
	}
	for i := range n.Kids {
		kid := &n.Kids[i]
		switch {
		case kid.Kind == yaml.Sequence:
			r.shortForm(kid, when)
		case kid.Kind != yaml.Mapping:
			r.errorf(kid, "bindings", "expected [name, value], a binding or a conditional, found %s", kid.Describe())
		case has(kid, "when") || has(kid, "bind"):
			r.conditional(kid, conditions)
		default:
			r.longForm(kid, when)
		}
	}
}

func has(n *yaml.Node, key string) bool {
	_, _, ok := n.Lookup(key)
	return ok
}

func (r *setReader) shortForm(n *yaml.Node, when []int) {
	if len(n.Kids) != 2 {
		r.errorf(n, "bindings", "expected the short form [name, value], found a list of %d", len(n.Kids))
		return
	}
	if name, ok := literal.Key(r.Document, &n.Kids[0], r.diags); ok {
		b := Binding{Key: name, When: when, Pos: r.Pos(&n.Kids[0])}
		r.number(&b, literal.Append(nil, r.Document, &n.Kids[1], r.diags))
		r.out = append(r.out, b)
	}
}

// conditional reads `when` with `bind`.
func (r *setReader) conditional(n *yaml.Node, outer []Condition) {
	r.onlyKeys(n, "bindings", "attribute of a conditional", []string{"when", "bind"})
	_, when, hasWhen := n.Lookup("when")
	_, bind, hasBind := n.Lookup("bind")
	if !hasWhen || !hasBind {
		r.errorf(n, "bindings", "expected both 'when' and 'bind' in a conditional")
		return
	}
	conditions, ok := r.when(when, outer)
	if !ok {
		return
	}
	ids := make([]int, len(conditions))
	for i, c := range conditions {
		ids[i] = r.condition(c)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if r.multiply(when, bind, len(ids)) {
		r.bind(bind, conditions, ids)
	}
}

// multiply counts alternatives for each entry of bind, as the memory they take does.
func (r *setReader) multiply(when, bind *yaml.Node, alternatives int) bool {
	r.alternatives -= max(0, alternatives-1) * (1 + len(bind.Kids))
	if r.alternatives < 0 {
		r.errorf(when, "when", "the conditions of this site have too many alternatives in all, counted for each "+
			"binding; write fewer lists of values, or raise --max-alternatives")
	}
	return r.alternatives >= 0
}

// maxAlternatives bounds the conditions a `when` multiplies out to.
const maxAlternatives = 1 << 16

// when adds what a `when` asks to each of the outer conditions.
func (r *setReader) when(n *yaml.Node, outer []Condition) ([]Condition, bool) {
	hashes := []*yaml.Node{n}
	if n.Kind == yaml.Sequence {
		hashes = nil
		for i := range n.Kids {
			hashes = append(hashes, &n.Kids[i])
		}
		if len(hashes) == 0 {
			r.errorf(n, "when", "expected at least one alternative in the list")
			return nil, false
		}
	}
	var out []Condition
	for _, h := range hashes {
		if h.Kind != yaml.Mapping {
			r.errorf(h, "when", "expected a hash of categories to values as 'when', found %s", h.Describe())
			return nil, false
		}
		alternatives := outer
		for key, val := range h.Pairs() {
			var ok bool
			if alternatives, ok = r.and(alternatives, key, val); !ok {
				return nil, false
			}
		}
		out = append(out, alternatives...)
		if len(out) > maxAlternatives {
			r.errorf(n, "when", "expected at most %d alternatives, this condition has more", maxAlternatives)
			return nil, false
		}
	}
	return out, true
}

// and narrows conditions to those in which a category has one of the values given.
func (r *setReader) and(conditions []Condition, key, val *yaml.Node) ([]Condition, bool) {
	name, _ := key.Text()
	category, ok := r.category(name)
	if !ok {
		found, known := strings.TrimPrefix(key.Describe(), "the string "), r.categoryNames()
		hint := r.diags.DidYouMean(name, known)
		r.diags.Add(diag.Diagnostic{Pos: r.Pos(key), Code: "category", Hint: hint,
			Message: "the site has no category " + found + "; it has " + diag.QuotedFor(hint, known)})
		return nil, false
	}
	values, ok := r.values(val)
	if !ok || category < 0 {
		return conditions, ok
	}
	var out []Condition
	for _, c := range conditions {
		i := slices.IndexFunc(c, func(t Term) bool { return t.Dimension == category })
		for _, v := range values {
			switch {
			case i < 0:
				out = append(out, append(slices.Clone(c), Term{Dimension: category, Value: v}))
			case c[i].Value == v:
				out = append(out, c)
			}
		}
		if len(out) > maxAlternatives {
			r.errorf(val, "when", "expected at most %d alternatives, this condition has more", maxAlternatives)
			return nil, false
		}
	}
	if len(out) == 0 {
		r.errorf(val, "when", "this can never hold: an outer 'when' asks the category '%s' for another value", name)
		return nil, false
	}
	return out, true
}

// values is the values a category may have, folded.
func (r *setReader) values(n *yaml.Node) ([]string, bool) {
	nodes := []yaml.Node{*n}
	if n.Kind == yaml.Sequence {
		nodes = n.Kids
	}
	var out []string
	for i := range nodes {
		text := scalarText(nodes[i].Value)
		if kind := nodes[i].Value.Kind(); kind == value.Int || kind == value.Float {
			text = r.Written(&nodes[i]) // 6.10 is no 6.1
		}
		if text == "" {
			r.errorf(&nodes[i], "when",
				"expected a value of the category, a string, number or boolean, found %s", nodes[i].Describe())
			return nil, false
		}
		if text = Fold(text); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	if len(out) == 0 {
		r.errorf(n, "when", "expected at least one value of the category")
	}
	return out, len(out) > 0
}

// scalarText is a string, number or boolean as text, "" for anything else.
func scalarText(v value.Value) string {
	switch v.Kind() {
	case value.String, value.Int, value.Bool, value.Float:
		return string(value.AppendText(nil, v))
	}
	return ""
}
