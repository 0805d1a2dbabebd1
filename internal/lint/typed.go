package lint

import (
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/internal/value"
)

type statedType struct {
	*types.Type
	at diag.Pos
}

// checkTypes reports bindings without a type if another binding of the same key has a type. A type
// applies only to its own binding. Values that are known to have the type are not reported.
func (l *linter) checkTypes() {
	if !l.wants("untyped") {
		return
	}
	stated := map[string][]statedType{}
	for b := range l.bindings {
		if b.more != nil && b.more.Type != nil {
			stated[b.key] = append(stated[b.key], statedType{b.more.Type, b.at})
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

// checkType reports b unless its value is known to have type t. It returns true if it does not
// report b.
func (l *linter) checkType(b boundValue, t statedType) bool {
	m, known := l.mismatch(l.site.Values[b.value], t.Type)
	if known && m == nil {
		return true
	}
	d := diag.Diagnostic{Pos: b.at, Code: "untyped",
		Notes: []diag.Note{{Pos: t.at, Message: "the type is stated here"}},
		Message: "'" + b.key + "' is not checked against " + t.String() +
			" here, although another binding states that type",
		Hint: "a type applies only to its own binding; state it here, too, in the long form: 'type: …'"}
	switch {
	case strings.HasSuffix(b.at.File, ".pp"):
		d.Hint = "a type applies only to its own binding; state it here, too: bind " + t.String() + ", '" +
			b.key + "' to …"
	case b.data:
		d.Hint = "a type applies only to its own binding, and data files have no types; bind the key in a bindings " +
			"file, or request the type in the lookup"
	}
	if m != nil {
		d.Message += ": " + m.Text(b.more != nil && b.more.Recipe != nil && b.more.Recipe.Sensitive)
	}
	l.add(d)
	return false
}

// mismatch returns the reason why a compiled value does not have type t, or nil if it has that
// type. known is false if the type of the value is not known until lookup.
func (l *linter) mismatch(compiled string, t *types.Type) (m *types.Mismatch, known bool) {
	if compiled[0] == recipe.CompiledConstant {
		v, _, _ := value.View(compiled[1:]) // the loader has checked it
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
