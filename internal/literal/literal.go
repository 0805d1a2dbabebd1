// Package literal compiles keys and values in YAML data files and bindings files. Strings in values
// interpolate, see language.md, section 7.
package literal

import (
	"bytes"
	"cmp"
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/recipe"
	"bindc/internal/syntax"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// Key returns the text of a key. If n is not a valid key, it adds an error to diags and returns
// false.
func Key(doc *yaml.Document, n *yaml.Node, diags *diag.List) (string, bool) {
	name, ok := n.Text()
	switch {
	case !ok:
		d := diag.Diagnostic{Pos: doc.Pos(n), Code: "key", Message: "expected a string as key, found " + n.Describe()}
		if n.Kind == yaml.Scalar {
			d.Hint = "put it in quotes"
		}
		diags.Add(d)
	case name == "" || strings.ContainsRune(name, 0):
		diags.Errorf(doc.Pos(n), "key", "expected a non-empty key without NUL characters")
		return "", false
	}
	return name, ok
}

// Memo caches compiled strings. Many files of a site contain the same strings with interpolations.
// The zero Memo is empty and ready for use. A Memo is not safe for concurrent use.
type Memo struct{ compiled map[string][]byte }

// memoTexts limits the number of strings that a Memo caches.
const memoTexts = 1 << 12

// Append is like the function Append, but caches strings. Strings with diagnostics are not cached.
func (m *Memo) Append(dst []byte, doc *yaml.Document, n *yaml.Node, diags *diag.List) []byte {
	if n.Kind != yaml.Scalar || isPlain(n) || !diags.Empty() {
		return Append(dst, doc, n, diags)
	}
	text := n.Value.Text()
	if known, ok := m.compiled[text]; ok {
		return append(dst, known...)
	}
	start := len(dst)
	dst = Append(dst, doc, n, diags)
	if diags.Empty() && len(m.compiled) < memoTexts {
		if m.compiled == nil {
			m.compiled = map[string][]byte{}
		}
		m.compiled[strings.Clone(text)] = bytes.Clone(dst[start:])
	}
	return dst
}

// Append compiles n and appends the result to dst. If there is an error, it adds the error to diags
// and appends null.
func Append(dst []byte, doc *yaml.Document, n *yaml.Node, diags *diag.List) []byte {
	if isPlain(n) {
		return appendPlain(append(dst, recipe.CompiledConstant), n)
	}
	node, ok := Compile(doc, n, diags)
	if !ok {
		return recipe.AppendConstant(dst, value.Value{})
	}
	if v, ok := node.Constant(); ok {
		return recipe.AppendConstant(dst, v)
	}
	r := &recipe.Recipe{Kind: recipe.Expression, Expr: node, Sensitive: node.HasHieraSecret()}
	return recipe.AppendCompiled(dst, r)
}

// appendPlain appends the encoding of n.Literal(). Lists and hashes with string keys are very
// common, so it encodes them without creating values.
func appendPlain(dst []byte, n *yaml.Node) []byte {
	start := len(dst)
	switch {
	case n.Kind == yaml.Scalar:
		return value.Append(dst, n.Value)
	case n.Kind == yaml.Sequence:
		for i := range n.Kids {
			dst = appendPlain(dst, &n.Kids[i])
		}
		return value.Wrap(dst, start, value.Array, len(n.Kids))
	case !stringKeys(n):
		return value.Append(dst, n.Literal())
	}
	for i := range n.Kids {
		dst = appendPlain(dst, &n.Kids[i])
	}
	return value.Wrap(dst, start, value.Hash, len(n.Kids)/2)
}

func stringKeys(n *yaml.Node) bool {
	for i := 0; i < len(n.Kids); i += 2 {
		if _, ok := n.Kids[i].Text(); !ok {
			return false
		}
	}
	return true
}

// Compile compiles n to an expression, which is a constant if no string interpolates. If there is
// an error, it adds the error to diags and returns false.
func Compile(doc *yaml.Document, n *yaml.Node, diags *diag.List) (*expr.Node, bool) {
	if isPlain(n) {
		return &expr.Node{Op: expr.Const, Value: n.Literal()}, true
	}
	node, ok := build(doc, n, diags)
	if !ok {
		return nil, false
	}
	return expr.Fold(node.Decrypting(), stdlib.Functions), true
}

// isPlain reports whether no string in n interpolates or is encrypted.
func isPlain(n *yaml.Node) bool {
	if n.Kind == yaml.Scalar {
		return n.Value.Kind() != value.String || strings.IndexByte(n.Value.Text(), '$') < 0 &&
			!expr.SeemsEncrypted(n.Value.Text())
	}
	for i := range n.Kids {
		if !isPlain(&n.Kids[i]) {
			return false
		}
	}
	return true
}

func build(doc *yaml.Document, n *yaml.Node, diags *diag.List) (*expr.Node, bool) {
	if n.Kind == yaml.Scalar {
		return text(doc, n, diags)
	}
	out := &expr.Node{Op: expr.ArrayLit, Kids: make([]*expr.Node, len(n.Kids))}
	if n.Kind == yaml.Mapping {
		out.Op = expr.HashLit
	}
	all := true
	for i := range n.Kids {
		kid, ok := build(doc, &n.Kids[i], diags)
		out.Kids[i] = kid
		all = all && ok
	}
	return out, all
}

// text compiles a scalar. It returns false if it has reported an error.
func text(doc *yaml.Document, n *yaml.Node, diags *diag.List) (*expr.Node, bool) {
	if isPlain(n) {
		return &expr.Node{Op: expr.Const, Value: n.Value}, true
	}
	node, errs := syntax.ParseString(n.Value.Text())
	return node, Report(doc, n, "interpolation", errs, diags) && CheckNames(doc, n, node, diags)
}

// Report adds syntax errors in the text of n to diags. It returns true if errs is empty. code is
// the diagnostic code for errors that do not have one.
func Report(doc *yaml.Document, n *yaml.Node, code diag.Code, errs []syntax.SyntaxError, diags *diag.List) bool {
	for _, e := range errs {
		diags.Add(diag.Diagnostic{Pos: doc.PosIn(n, e.Off), Code: cmp.Or(e.Code, code), Message: e.Message,
			Hint: e.Hint, Fix: e.Fix, InValue: true})
	}
	return len(errs) == 0
}

// CheckNames reports unknown functions, and types and regular expressions that are invalid. node is
// an expression in the text of n. It returns true if there is nothing to report. It also calls
// WarnOfFacts.
func CheckNames(doc *yaml.Document, n *yaml.Node, node *expr.Node, diags *diag.List) bool {
	if !Report(doc, n, "name", syntax.Check(node), diags) {
		return false
	}
	WarnOfFacts(doc, n, node, diags)
	return true
}

// WarnOfFacts warns about variables that are probably misspelt facts. node is an expression in the
// text of n.
func WarnOfFacts(doc *yaml.Document, n *yaml.Node, node *expr.Node, diags *diag.List) {
	for _, e := range syntax.Misspelt(node) {
		diags.Add(diag.Diagnostic{Pos: doc.PosIn(n, e.Off), Severity: diag.Warning, Code: "fact", Message: e.Message,
			Hint: e.Hint, Fix: e.Fix})
	}
}
