package params

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/lookup"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/internal/value"
)

// hint suggests how to correct the refused value v at the given position. It returns "" if no suggestion is obvious.
func (p *prover) hint(s *suspect, e *lookup.Explanation, at diag.Pos, m *types.Mismatch, v lookup.Value) string {
	to, _ := conversion(e.Options)
	if plain, err := s.param.misfitOf(v); to == sensitive && plain == nil && err == nil {
		return "lookup_options convert the value to Sensitive: remove convert_to, or declare the parameter as " +
			"Sensitive[" + s.param.Type + "]"
	}
	if hint := s.param.hintOfOptions(e, to); hint != "" {
		return hint
	}
	n := expressionAt(p.site.Values[s.places[at].value], m.Path)
	if n == nil || s.merged && len(m.Path) > 0 {
		return s.param.hint(m, v)
	}
	if n.Op == expr.Concat && len(n.Kids) == 1 {
		n = n.Kids[0]
	}
	if n.Op == expr.Call && (n.Name == expr.HieraAlias || n.Name == expr.HieraLookup) {
		return p.hintOfLookup(n)
	}
	if !isText(n) {
		return s.param.hint(m, v)
	}
	switch kind := m.Expected.Kind(); {
	case kind == types.Array || strings.HasPrefix(m.Expected.String(), sensitive):
		return s.param.hint(m, v)
	case len(m.Path) > 0:
		return ""
	case convertible[kind] != "":
		return fmt.Sprintf("text with interpolations is a string; add to lookup_options: '%s': {convert_to: %s}",
			s.param.key(), convertible[kind])
	}
	return ""
}

// hintOfOptions suggests a change of lookup_options if they are the reason why the value does not fit. Otherwise it
// returns "".
func (p *param) hintOfOptions(e *lookup.Explanation, to string) string {
	winners := effective(e)
	if e.Options == nil || slices.ContainsFunc(winners, func(w lookup.Candidate) bool { return !p.fitsAlone(&w) }) {
		return ""
	}
	switch {
	case to != "" && to != sensitive:
		return "lookup_options convert the value to " + to + ": remove convert_to"
	case to == "":
		return "the value fits if it is not merged: change 'merge' in lookup_options"
	}
	return ""
}

// convertible maps types to the value of convert_to that converts strings to them.
var convertible = map[types.Kind]string{types.Integer: "Integer", types.Float: "Float", types.Numeric: "Numeric",
	types.Boolean: "Boolean"}

// hintOfLookup suggests a change if the value comes from looking up another key. It returns "" otherwise.
func (p *prover) hintOfLookup(n *expr.Node) (hint string) {
	expr.HieraKeys(n, func(key string) {
		number := slices.Index(p.site.Keys, key)
		switch {
		case number < 0 || !p.isBound[number]:
			hint = "bind '" + key + "': no data binds this key"
		case n.Name == expr.HieraLookup:
			hint = "lookup() makes a string of the value; write %{alias('" + key + "')}"
		default:
			hint = "the value is that of '" + key + "'"
		}
	})
	return hint
}

// expressionAt returns the expression that computes the part of a value at path. It returns nil if that part is
// constant.
func expressionAt(compiled string, path []value.Value) *expr.Node {
	if compiled[0] == recipe.CompiledConstant {
		return nil
	}
	r, err := recipe.Decode(compiled[1:])
	if err != nil || r.Kind != recipe.Expression {
		return nil
	}
	n := r.Expr
	for _, key := range path {
		if n = element(n, key); n == nil {
			return nil
		}
	}
	return n
}

// element returns the expression for the element of n, a list or hash, at key. It returns nil if there is none.
func element(n *expr.Node, key value.Value) *expr.Node {
	switch {
	case n.Op == expr.ArrayLit && key.Kind() == value.Int && key.Int() < int64(len(n.Kids)):
		return n.Kids[key.Int()]
	case n.Op == expr.HashLit:
		for k := 0; k+1 < len(n.Kids); k += 2 {
			if v, constant := n.Kids[k].Constant(); constant && v.Kind() == value.String && v.Text() == key.Text() {
				return n.Kids[k+1]
			}
		}
	}
	return nil
}

// hint suggests how to correct v without regard to where it comes from. It returns "" if no suggestion is obvious.
func (p *param) hint(m *types.Mismatch, v lookup.Value) string {
	switch found := m.Found; {
	case m.Expected.Kind() == types.Array && (found == "String" || found == "Integer"):
		return "write a list, even of one element"
	case m.Expected.Kind() == types.Integer && found == "String" && isNumber(v, m.Path):
		return "write the number without quotes"
	case m.Expected.Kind() == types.Boolean && found == "String":
		return "write true or false without quotes"
	case m.Expected.Kind() == types.String && (found == "Integer" || found == "Float" || found == "Boolean"):
		return "put the value in quotes"
	case strings.HasPrefix(m.Expected.String(), "Sensitive"):
		return fmt.Sprintf("add to lookup_options: '%s': {convert_to: Sensitive}", p.key())
	}
	return hintOfTexts(m, v)
}

// hintOfTexts suggests a string that an Enum in the type accepts: one that is similar to v or, if the message does not
// list them, all of them.
func hintOfTexts(m *types.Mismatch, v lookup.Value) string {
	texts := m.Expected.Choices()
	whole, err := v.Whole()
	if err != nil || v.Sensitive() || len(texts) == 0 {
		return ""
	}
	part := partAt(whole, m.Path)
	near := ""
	if part.Kind() == value.String {
		near = diag.DidYouMean(part.Text(), texts)
	}
	if near == "" && m.Expected.Kind() != types.Enum { // the message already lists the strings of an Enum
		return "write one of " + diag.Quoted(texts)
	}
	return near
}

// isNumber reports whether the part of v at path is a string with an integer. It returns false for sensitive values.
func isNumber(v lookup.Value, path []value.Value) bool {
	part, err := v.Whole()
	if err != nil || v.Sensitive() {
		return false
	}
	part = partAt(part, path)
	n, err := strconv.ParseInt(part.Text(), 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == part.Text()
}
