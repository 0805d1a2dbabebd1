package migrate

import (
	"regexp"
	"strconv"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/lookupkey"
	"bindc/internal/syntax"
	"bindc/internal/value"
)

// edit puts a text in the place of another, at a byte offset.
type edit struct {
	off      int
	old, new string
}

// apply is text with the edits made, which are in order.
func apply(text string, edits []edit) string {
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(text[at:e.off] + e.new)
		at = e.off + len(e.old)
	}
	return b.String() + text[at:]
}

// interpolation is one of Hiera 5 in a text.
var interpolation = regexp.MustCompile(`%\{[^}]*\}`)

// translate says a text of Hiera 5 with the interpolations of Hiera-2; problem is why that cannot be done.
func (m *migration) translate(text string) (edits []edit, problem string) {
	last := 0
	for _, at := range interpolation.FindAllStringIndex(text, -1) {
		n, problems := expr.ParseHiera(text[at[0]:at[1]])
		if len(problems) > 0 {
			return nil, problems[0].Message
		}
		source, problem := m.interpolated(n)
		if problem != "" {
			return nil, problem
		}
		before := text[last:at[0]]
		if strings.HasPrefix(source, "$") && strings.HasSuffix(before, `\`) { // it would escape the dollar sign
			before, at[0], source = before[:len(before)-1], at[0]-1, `${"\\"}`+source
		}
		edits = append(escaped(edits, last, before, at[1] < len(text) || source != ""),
			edit{at[0], text[at[0]:at[1]], source})
		last = at[1]
	}
	edits = escaped(edits, last, text[last:], false)
	if !m.means(apply(text, edits), text) {
		return nil, "the text cannot be written so that it means the same"
	}
	return edits, ""
}

// escaped adds what makes each dollar sign of a constant text one that means nothing; more tells that text follows.
func escaped(edits []edit, off int, text string, more bool) []edit {
	for i := range len(text) {
		if text[i] != '$' {
			continue
		}
		next := byte('a')
		if i+1 < len(text) {
			next = text[i+1]
		} else if !more {
			next = ' '
		}
		starts := next == '{' || next == ':' || next == '_' || next|0x20 >= 'a' && next|0x20 <= 'z'
		if starts || i > 0 && text[i-1] == '\\' {
			edits = append(edits, edit{off + i, "$", `\$`})
		}
	}
	return edits
}

// means tells whether a text of Hiera-2 has the constant texts, and as many interpolations between them, as one of
// Hiera 5.
func (m *migration) means(hiera2, hiera5 string) bool {
	n, errs := syntax.ParseString(hiera2)
	if len(errs) > 0 {
		return false
	}
	want, _ := expr.ParseHiera(hiera5)
	return shape(n) == shape(want)
}

func shape(n *expr.Node) string {
	switch v, ok := n.Constant(); {
	case ok:
		return string(value.AppendText(nil, v))
	case n.Op != expr.Concat:
		return "\x00"
	}
	var b strings.Builder
	for _, k := range n.Kids {
		b.WriteString(shape(k))
	}
	return b.String()
}

// interpolated is one interpolation as Hiera-2 writes it.
func (m *migration) interpolated(n *expr.Node) (source, problem string) {
	if n.Op == expr.Concat {
		if len(n.Kids) == 0 {
			return "", ""
		}
		n = n.Kids[0]
	}
	if v, ok := n.Constant(); ok {
		edits := escaped(nil, 0, v.Text(), true)
		return apply(v.Text(), edits), ""
	}
	switch n.Name {
	case expr.HieraScope:
		source, problem = variable(n)
	case expr.HieraLookup:
		source, problem = m.lookedUp(n.Kids[0].Value.Text(), true)
	default:
		return "", "%{alias} in a text"
	}
	return "${" + source + "}", problem
}

var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// variable is a variable with the keys into it.
func variable(n *expr.Node) (source, problem string) {
	name := strings.TrimPrefix(string(value.AppendText(nil, n.Kids[0].Value)), "::")
	if !plainName.MatchString(name) {
		return "", "'" + name + "' is not a valid name of a variable"
	}
	var path []value.Value
	for _, k := range n.Kids[1:] {
		path = append(path, k.Value)
	}
	keys, problem := access(path)
	return name + keys, problem
}

// access is what digs in a value.
func access(path []value.Value) (source, problem string) {
	for _, k := range path {
		if k.Kind() == value.Int {
			source += "[" + strconv.FormatInt(k.Int(), 10) + "]"
			continue
		}
		if strings.ContainsAny(k.Text(), `'\}`) {
			return "", "a key with quotes or braces in it"
		}
		source += "['" + k.Text() + "']"
	}
	return source, ""
}

// lookedUp is a lookup in a text, or of a value that is taken as it is: of a key that always has one of a kind that
// both write alike.
func (m *migration) lookedUp(key string, text bool) (source, problem string) {
	k, err := lookupkey.Parse(key)
	if err != nil || lookupkey.Reserved(key) || strings.ContainsAny(k.Root, `'\}.`) {
		return "", "'" + key + "' is no key that a lookup() of Hiera-2 can have"
	}
	if m.touched[k.Root] && (text || len(k.Path) > 0) {
		return "", "'" + key + "' is merged"
	}
	always := text // nothing is written as nothing
	for _, b := range m.bound[k.Root] {
		v, found, err := k.Dig(b.value)
		switch {
		case err != nil, hasInterpolation(b.value, "%{alias", "%{literal", "%{hiera", "%{lookup") && len(k.Path) > 0:
			return "", "what '" + key + "' is cannot be told"
		case hasInterpolation(b.value, "%{alias", "%{literal", "ENC["):
			return "", "what '" + key + "' is cannot be told"
		case found && text && (v.Kind() == value.Array || v.Kind() == value.Hash):
			return "", "'" + key + "' is a list or hash, of which the text would be another"
		}
		always = always || found && b.level.constant() && b.level.hierarchy.module == ""
	}
	if !always {
		return "", "'" + key + "' may be bound to nothing, where an alias is an empty text"
	}
	keys, problem := access(k.Path)
	return "lookup('" + k.Root + "')" + keys, problem
}

// hasInterpolation tells whether a text in v has one of some.
func hasInterpolation(v value.Value, some ...string) bool {
	for text := range texts(v) {
		for _, s := range some {
			if strings.Contains(text, s) {
				return true
			}
		}
	}
	return false
}

// texts are all strings in v, keys of hashes included.
func texts(v value.Value) func(func(string) bool) {
	return func(yield func(string) bool) { eachText(v, yield) }
}

func eachText(v value.Value, yield func(string) bool) bool {
	switch v.Kind() {
	case value.String:
		return yield(v.Text())
	case value.Array:
		for e := range v.Elems() {
			if !eachText(e, yield) {
				return false
			}
		}
	case value.Hash:
		for k, e := range v.Pairs() {
			if !eachText(k, yield) || !eachText(e, yield) {
				return false
			}
		}
	}
	return true
}

// translated is v with all its texts translated. Those that cannot be are not to be asked for.
func (m *migration) translated(v value.Value) value.Value {
	switch v.Kind() {
	case value.String:
		edits, _ := m.translate(v.Text())
		return value.FromString(apply(v.Text(), edits))
	case value.Array:
		var out []value.Value
		for e := range v.Elems() {
			out = append(out, m.translated(e))
		}
		return value.FromSlice(out)
	case value.Hash:
		var b value.Builder
		for k, e := range v.Pairs() {
			b.Set(m.translated(k), m.translated(e))
		}
		return b.Hash()
	}
	return v
}

// isAlias tells whether a text is nothing but an alias, and of which key.
func isAlias(text string) (key string, ok bool) {
	n, problems := expr.ParseHiera(text)
	if len(problems) > 0 || n.Name != expr.HieraAlias {
		return "", false
	}
	return n.Kids[0].Value.Text(), true
}

// expression is the source of an expression that yields v, in which there are aliases.
func (m *migration) expression(v value.Value) (source, problem string) {
	n, problem := m.expressionNode(v)
	if problem != "" {
		return "", problem
	}
	return syntax.Print(n), ""
}

func (m *migration) expressionNode(v value.Value) (n *expr.Node, problem string) {
	switch v.Kind() {
	case value.String:
		return m.textNode(v.Text())
	case value.Array:
		n = &expr.Node{Op: expr.ArrayLit}
		for e := range v.Elems() {
			kid, problem := m.expressionNode(e)
			if problem != "" {
				return nil, problem
			}
			n.Kids = append(n.Kids, kid)
		}
		return n, ""
	case value.Hash:
		n = &expr.Node{Op: expr.HashLit}
		for k, e := range v.Pairs() {
			key, problem := m.expressionNode(k)
			if problem != "" {
				return nil, problem
			}
			val, problem := m.expressionNode(e)
			if problem != "" {
				return nil, problem
			}
			n.Kids = append(n.Kids, key, val)
		}
		return n, ""
	}
	return &expr.Node{Op: expr.Const, Value: v}, ""
}

func (m *migration) textNode(text string) (*expr.Node, string) {
	if key, ok := isAlias(text); ok {
		source, problem := m.lookedUp(key, false)
		if problem != "" {
			return nil, problem
		}
		n, errs := syntax.ParseExpression(source)
		if len(errs) > 0 {
			return nil, errs[0].Message
		}
		return n, ""
	}
	edits, problem := m.translate(text)
	if problem != "" {
		return nil, problem
	}
	n, errs := syntax.ParseString(apply(text, edits))
	if len(errs) > 0 {
		return nil, errs[0].Message
	}
	return n, ""
}
