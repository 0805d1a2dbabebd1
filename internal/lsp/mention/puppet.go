package mention

import (
	"slices"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/manifest"
	"bindc/internal/pattern"
	"bindc/internal/syntax"
	"bindc/internal/value"
)

// manifest finds class parameters and lookups in a manifest.
func (w *finder) manifest() {
	for _, n := range manifest.Names(w.text.Src) {
		role := LooksUp
		if n.Parameter {
			role = Parameter
		}
		w.add(role, n.Key, n.From, n.To)
	}
}

// set finds the mentions in a bindings file in Puppet syntax. It uses regular expressions for statements with syntax
// errors.
func (w *finder) set() {
	r := setReader{finder: w}
	tree, _ := syntax.ParseBindings(w.text.Src)
	if tree != nil {
		r.statements(tree.Statements)
	}
	if tree != nil && !tree.Broken {
		return
	}
	rest := finder{text: w.text}
	rest.calls()
	rest.setByPattern()
	for _, m := range rest.out {
		if !slices.ContainsFunc(r.done, func(s span) bool { return s.from <= m.From && m.From < s.to }) {
			w.out = append(w.out, m)
		}
	}
}

// environments finds the names of environments and the variables in an environments.pp.
func (w *finder) environments() {
	tree, _ := syntax.ParseEnvironments(w.text.Src)
	r := setReader{finder: w}
	for _, d := range tree.Static {
		r.addText(Environment, d.Title)
		for _, kid := range d.Title.Kids {
			r.addText(Environment, kid)
		}
	}
	for _, n := range tree.Statements {
		r.expression(n)
	}
}

type span struct{ from, to int }

// setReader finds the mentions in the statements of a bindings file in Puppet syntax.
type setReader struct {
	*finder
	done []span // ranges of the statements read so far
}

func (r *setReader) statements(list []syntax.Statement) {
	for i := range list {
		s := &list[i]
		for _, alternative := range s.When {
			r.when(alternative)
		}
		r.statements(s.Statements)
		if len(s.Statements) == 0 && s.Word != "when" {
			r.done = append(r.done, span{s.Off, s.End})
		}
		r.addText(LooksUp, s.Old)
		id := Joins
		if s.Word == "multibind" {
			id = Collects
		} else if s.In != nil {
			s.Key = nil // a contribution's name is not a key
		}
		r.addText(Binds, s.Key)
		r.addText(id, s.In)
		r.expression(s.To)
		for j := range s.Options {
			r.option(&s.Options[j])
		}
	}
}

func (r *setReader) when(pairs []syntax.Pair) {
	for _, p := range pairs {
		r.addAt(Category, p.Category.Text, p.Category.Off)
		for _, v := range p.Values {
			before := len(r.out)
			if r.addAt(Value, v.Text, v.Off); len(r.out) > before {
				r.out[before].Of = p.Category.Text
			}
		}
	}
}

func (r *setReader) option(o *syntax.Option) {
	if o.Value == nil {
		return
	}
	switch o.Name.Text {
	case "multibind_id":
		r.addText(Collects, o.Value)
	case "to_lookup_of", "to_alias_of", "to_renamed":
		r.target(o.Value)
	case "to_first_found":
		for _, kid := range o.Value.Kids {
			r.target(kid)
		}
	case "to_hash_lookup":
		for i := 0; i+1 < len(o.Value.Kids); i += 2 {
			if key, ok := o.Value.Kids[i].Constant(); ok && key.Kind() == value.String && key.Text() == "name" {
				r.target(o.Value.Kids[i+1])
			}
		}
	default:
		r.expression(o.Value)
	}
}

// target finds the key in an argument of the form 'NAME' or [TYPE, 'NAME'].
func (r *setReader) target(n *expr.Node) {
	if n.Op == expr.ArrayLit && len(n.Kids) > 0 {
		n = n.Kids[len(n.Kids)-1]
	}
	r.addText(LooksUp, n)
}

// expression finds lookups and variables in an expression. It ignores parameters of lambdas.
func (r *setReader) expression(n *expr.Node) {
	if n == nil {
		return
	}
	own, parts := map[string]bool{}, map[*expr.Node]bool{}
	for x := range syntax.All(n) {
		if x.Lambda != nil {
			for _, p := range x.Lambda.Params {
				own[p.Name] = true
			}
		}
		switch {
		case x.Op == expr.Call && x.Name == "lookup" && len(x.Kids) > 0:
			r.addText(LooksUp, x.Kids[0])
		case x.Op == expr.Access && !parts[x]:
			r.access(x, own, parts)
		case x.Op == expr.Var && !own[x.Name] && !parts[x]:
			r.addVariable(x.Name, x.Off, 0)
		}
	}
}

// access finds the variable in an expression such as $facts['os']['family']. It adds all nodes of that expression to
// parts, so that the caller skips them.
func (r *setReader) access(n *expr.Node, own map[string]bool, parts map[*expr.Node]bool) {
	var keys []string
	last := n.Off
	for parts[n] = true; n.Op == expr.Access; n = n.Kids[0] {
		parts[n.Kids[0]] = true
		if len(n.Kids) != 2 {
			return
		}
		key, ok := n.Kids[1].Constant()
		if !ok || key.Kind() != value.String {
			return
		}
		last, keys = max(last, n.Kids[1].Off), append([]string{key.Text()}, keys...)
	}
	if n.Op == expr.Var && !own[n.Name] {
		r.addVariable(strings.Join(append([]string{n.Name}, keys...), "."), n.Off, last)
	}
}

// addVariable adds the variable at off. last is the offset of its last subscript, or 0 if there is none.
func (r *setReader) addVariable(name string, off, last int) {
	src := r.text.Src
	if strings.HasPrefix(src[off:], "$") {
		off++
	}
	off += len(src[off:]) - len(strings.TrimPrefix(src[off:], "::"))
	name = strings.TrimPrefix(name, "::")
	root, _, _ := strings.Cut(name, ".")
	if !strings.HasPrefix(src[off:], root) {
		return
	}
	to := off + len(root)
	if i := strings.IndexByte(src[max(to, last):lineEnd(r.text, max(to, last))], ']'); last > to && i >= 0 {
		to = last + i + 1
	}
	r.add(Variable, strings.TrimPrefix(name, "facts."), off, to)
}

// addText adds the name in a constant string. It ignores other expressions and nil.
func (r *setReader) addText(role Role, n *expr.Node) {
	if n == nil {
		return
	}
	if v, ok := n.Constant(); ok && v.Kind() == value.String {
		r.addAt(role, v.Text(), n.Off)
	}
}

// addAt adds the name at off, where it may be in quotes.
func (r *setReader) addAt(role Role, text string, off int) {
	name := text
	if role == LooksUp {
		name = Root(text)
	}
	src := r.text.Src[off:lineEnd(r.text, off)]
	if i := strings.Index(src, text); i == 0 || i == 1 {
		r.add(role, name, off+i, off+i+len(text))
	}
}

var (
	boundInSet = pattern.Lazy(`(?m)^\s*(?:abstract\s+|override\s+)*(?:bind|rebind|multibind)\b[^'"\n]*?` +
		`(?:\s(alias|renamed)\s+['"]([^'"\n]+)['"]\s+as\s*)?['"]([^'"\n]+)['"]`)
	targetInSet = pattern.Lazy(`\bto_(?:lookup_of|alias_of|renamed|first_found)\s*=>\s*\[?\s*([^\]\n}]+)`)
	quoted      = pattern.Lazy(`['"]([^'"\n]+)['"]`)
	idInSet     = pattern.Lazy(`\b(in|multibind_id)\s*(?:=>)?\s*['"]([^'"\n]+)['"]`)
)

// setByPattern finds mentions in a bindings file in Puppet syntax with regular expressions.
func (w *finder) setByPattern() {
	src := w.text.Src
	for _, m := range boundInSet().FindAllStringSubmatchIndex(src, -1) {
		if m[4] >= 0 {
			w.add(LooksUp, src[m[4]:m[5]], m[4], m[5])
		}
		w.add(Binds, src[m[6]:m[7]], m[6], m[7])
	}
	for _, m := range targetInSet().FindAllStringSubmatchIndex(src, -1) {
		for _, q := range quoted().FindAllStringSubmatchIndex(src[m[2]:m[3]], -1) {
			w.add(LooksUp, src[m[2]+q[2]:m[2]+q[3]], m[2]+q[2], m[2]+q[3])
		}
	}
	for _, m := range idInSet().FindAllStringSubmatchIndex(src, -1) {
		role := Joins
		if src[m[2]:m[3]] == "multibind_id" {
			role = Collects
		}
		w.add(role, src[m[4]:m[5]], m[4], m[5])
	}
}
