package migrate

import (
	"strconv"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/lookupkey"
	"bindc/internal/pattern"
	"bindc/internal/syntax"
	"bindc/internal/value"
)

type edit struct {
	off      int
	old, new string
}

func apply(text string, edits []edit) string {
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(text[at:e.off] + e.new)
		at = e.off + len(e.old)
	}
	return b.String() + text[at:]
}

var interpolation = pattern.Lazy(`%\{[^}]*\}`)

// translate returns the edits that translate a string from Hiera 5 to Hiera 2 syntax. If that is
// impossible, problem describes the reason.
func (m *migration) translate(text string) (edits []edit, problem string) {
	last := 0
	for _, at := range interpolation().FindAllStringIndex(text, -1) {
		n, problems := expr.ParseHiera(text[at[0]:at[1]])
		if len(problems) > 0 {
			return nil, problems[0].Message
		}
		source, problem := m.interpolationSource(n)
		if problem != "" {
			return nil, problem
		}
		before := text[last:at[0]]
		if strings.HasPrefix(source, "$") && strings.HasSuffix(before, `\`) { // the backslash would escape the $
			before, at[0], source = before[:len(before)-1], at[0]-1, `${"\\"}`+source
		}
		edits = append(escapeDollars(edits, last, before, at[1] < len(text) || source != ""),
			edit{at[0], text[at[0]:at[1]], source})
		last = at[1]
	}
	edits = escapeDollars(edits, last, text[last:], false)
	if !m.hasShapeOf(apply(text, edits), text) {
		return nil, "its text cannot be written with the same meaning"
	}
	return edits, ""
}

// escapeDollars adds edits that escape dollar signs. It escapes those that would begin an
// interpolation or follow a backslash. textFollows reports whether more text follows.
func escapeDollars(edits []edit, off int, text string, textFollows bool) []edit {
	for i := range len(text) {
		if text[i] != '$' {
			continue
		}
		next := byte('a')
		if i+1 < len(text) {
			next = text[i+1]
		} else if !textFollows {
			next = ' '
		}
		starts := next == '{' || next == ':' || next == '_' || next|0x20 >= 'a' && next|0x20 <= 'z'
		if starts || i > 0 && text[i-1] == '\\' {
			edits = append(edits, edit{off + i, "$", `\$`})
		}
	}
	return edits
}

// hasShapeOf reports whether two strings have the same constant parts and interpolations in the
// same places. The first is in Hiera 2 syntax, the second in Hiera 5 syntax.
func (m *migration) hasShapeOf(hiera2, hiera5 string) bool {
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

// interpolationSource translates an interpolation to Hiera 2 syntax.
func (m *migration) interpolationSource(n *expr.Node) (source, problem string) {
	if n.Op == expr.Concat {
		if len(n.Kids) == 0 {
			return "", ""
		}
		n = n.Kids[0]
	}
	if v, ok := n.Constant(); ok {
		edits := escapeDollars(nil, 0, v.Text(), true)
		return apply(v.Text(), edits), ""
	}
	switch n.Name {
	case expr.HieraScope:
		source, problem = variableSource(n)
	case expr.HieraLookup:
		source, problem = m.lookupSource(n.Kids[0].Value.Text(), true)
	default:
		return "", "it has an %{alias} within a string"
	}
	return "${" + source + "}", problem
}

var plainName = pattern.Lazy(`^[a-z_][a-z0-9_]*$`)

// variableSource returns a variable and the keys that dig into it, in Hiera 2 syntax.
func variableSource(n *expr.Node) (source, problem string) {
	name := strings.TrimPrefix(string(value.AppendText(nil, n.Kids[0].Value)), "::")
	if !plainName().MatchString(name) {
		return "", "'" + name + "' is not a valid variable name"
	}
	var path []value.Value
	for _, k := range n.Kids[1:] {
		path = append(path, k.Value)
	}
	keys, problem := accessSource(path)
	return name + keys, problem
}

// accessSource returns path in Hiera 2 syntax, such as ['a'][0].
func accessSource(path []value.Value) (source, problem string) {
	for _, k := range path {
		if k.Kind() == value.Int {
			source += "[" + strconv.FormatInt(k.Int(), 10) + "]"
			continue
		}
		if strings.ContainsAny(k.Text(), `'\}`) {
			return "", "it digs with a key that has quotes or braces"
		}
		source += "['" + k.Text() + "']"
	}
	return source, ""
}

// lookupSource returns a lookup of key in Hiera 2 syntax. text reports whether the lookup is in a
// string with other text. If the result might differ from that in Hiera 5, problem describes the
// reason.
func (m *migration) lookupSource(key string, text bool) (source, problem string) {
	k, err := lookupkey.Parse(key)
	if err != nil || lookupkey.Reserved(key) || strings.ContainsAny(k.Root, `'\}.`) {
		return "", "'" + key + "' cannot be a key of lookup() in Hiera 2"
	}
	if m.hasOptions[k.Root] && (text || len(k.Path) > 0) {
		return "", "'" + key + "' is merged"
	}
	alwaysBound := text // in a string, an unset value becomes ""
	for _, b := range m.bound[k.Root] {
		v, found, err := k.Dig(b.value)
		switch {
		case err != nil, containsAny(b.value, "%{alias", "%{literal", "%{hiera", "%{lookup") && len(k.Path) > 0:
			return "", "the value of '" + key + "' is not known"
		case containsAny(b.value, "%{alias", "%{literal", "ENC["):
			return "", "the value of '" + key + "' is not known"
		case found && text && (v.Kind() == value.Array || v.Kind() == value.Hash):
			return "", "'" + key + "' is a list or hash, whose text would differ"
		}
		alwaysBound = alwaysBound || found && b.level.constant() && b.level.hierarchy.module == ""
	}
	if !alwaysBound {
		return "", "'" + key + "' may be unset; Hiera 5 then turns an alias into an empty string"
	}
	keys, problem := accessSource(k.Path)
	return "lookup('" + k.Root + "')" + keys, problem
}

func containsAny(v value.Value, parts ...string) bool {
	for text := range texts(v) {
		for _, s := range parts {
			if strings.Contains(text, s) {
				return true
			}
		}
	}
	return false
}

// texts returns an iterator over all strings in v, including the keys of hashes.
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

// translateAll translates all strings in v. The caller must have checked that this is possible.
func (m *migration) translateAll(v value.Value) value.Value {
	switch v.Kind() {
	case value.String:
		edits, _ := m.translate(v.Text())
		return value.FromString(apply(v.Text(), edits))
	case value.Array:
		var out []value.Value
		for e := range v.Elems() {
			out = append(out, m.translateAll(e))
		}
		return value.FromSlice(out)
	case value.Hash:
		var b value.Builder
		for k, e := range v.Pairs() {
			b.Set(m.translateAll(k), m.translateAll(e))
		}
		return b.Hash()
	}
	return v
}

// isAlias reports whether a string consists only of an alias interpolation, and returns the key of
// the alias.
func isAlias(text string) (key string, ok bool) {
	n, problems := expr.ParseHiera(text)
	if len(problems) > 0 || n.Name != expr.HieraAlias {
		return "", false
	}
	return n.Kids[0].Value.Text(), true
}

// expression returns an expression for v, in which at least one string is an alias.
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
		source, problem := m.lookupSource(key, false)
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
