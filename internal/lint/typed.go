package lint

import (
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/internal/value"
)

// typed is a type that a binding states.
type typed struct {
	*types.Type
	at diag.Pos
}

// checkTypes advises on bindings that state no type where another one of their key does: a type is held against the
// value it is written beside, and no other. Not on values that are known to be of it.
func (l *linter) checkTypes() {
	if !l.wants("untyped") {
		return
	}
	stated := map[string][]typed{}
	for b := range l.bindings {
		if b.more != nil && b.more.Type != nil {
			stated[b.key] = append(stated[b.key], typed{b.more.Type, b.at})
		}
	}
	for b := range l.bindings {
		if b.more != nil && (b.more.Type != nil || b.more.Abstract) {
			continue
		}
		for _, t := range stated[b.key] {
			if !l.checkType(b, t) {
				break
			}
		}
	}
}

// checkType advises on b, which may be no t, and tells whether there was no need to.
func (l *linter) checkType(b written, t typed) bool {
	m, known := l.mismatch(l.site.Values[b.value], t.Type)
	if known && m == nil {
		return true
	}
	d := diag.Diagnostic{Pos: b.at, Code: "untyped", Notes: []diag.Note{{Pos: t.at, Message: "it is stated here"}},
		Message: "nothing holds '" + b.key + "' to " + t.String() + " here, as another binding does",
		Hint:    "a type counts for the binding that it stands in: state it here too, in the long form, 'type: …'"}
	switch {
	case strings.HasSuffix(b.at.File, ".pp"):
		d.Hint = "a type counts for the binding that it stands in: state it here too, bind " + t.String() + ", '" +
			b.key + "' to …"
	case b.data:
		d.Hint = "a type counts for the binding that it stands in, and data files have none: bind it in a file of " +
			"bindings, or ask for the type where the key is looked up"
	}
	if m != nil {
		d.Message += ": " + m.Text(b.more != nil && b.more.Recipe != nil && b.more.Recipe.Sensitive)
	}
	l.add(d)
	return false
}

// mismatch is why a compiled value is no t, if that is known; nil if it is one.
func (l *linter) mismatch(compiled string, t *types.Type) (m *types.Mismatch, known bool) {
	if compiled[0] == recipe.CompiledConstant {
		v, _, _ := value.View(compiled[1:]) // the loader has made it
		return t.Check(v), true
	}
	r, err := recipe.Decode(compiled[1:])
	if err != nil || r.Transformer != nil {
		return nil, false
	}
	switch {
	case r.Kind == recipe.Constant:
		return t.Check(r.Value), true
	case r.Kind == recipe.Expression:
		m = recipe.Misfit(t, r.Expr)
		text := r.Expr.Op == expr.Concat && t.Accepts(types.Of(types.String))
		return m, m != nil || text
	}
	return nil, false
}
