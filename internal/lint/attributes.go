package lint

import (
	"strings"

	"bindc/diag"
	"bindc/internal/bindingsfile"
	"bindc/internal/recipe"
	"bindc/internal/value"
)

// checkAttributesAsValues reports bindings in the short form, [key, value], whose value looks like
// a hash of attributes. Its author probably expected the attributes to have an effect.
func (l *linter) checkAttributesAsValues() {
	if !l.wants("attributes_as_value") {
		return
	}
	for b := range l.bindings {
		if b.data || b.more != nil {
			continue
		}
		if names := attributesIn(l.site.Values[b.value]); len(names) > 0 {
			l.add(diag.Diagnostic{Pos: b.at, Code: "attributes_as_value",
				Message: "the value of '" + b.key + "' is a hash with the keys " + diag.Quoted(names) +
					"; a binding in the short form has no attributes",
				Hint: "for attributes write the long form: {name: " + b.key + ", " + strings.Join(names, ": …, ") + ": …}"})
		}
	}
}

// attributesIn returns the keys of a compiled hash that looks like the attributes of a binding, or
// nil. All keys must be attributes, and one of them must determine the value. If the only key is
// 'to', the hash may be data.
func attributesIn(compiled string) []string {
	if compiled[0] != recipe.CompiledConstant {
		return nil
	}
	v, _, _ := value.View(compiled[1:])
	if v.Kind() != value.Hash {
		return nil
	}
	var names []string
	isProduced, hasTo := false, false
	for key := range v.Pairs() {
		name := ""
		if key.Kind() == value.String {
			name = key.Text()
		}
		if !bindingsfile.IsAttribute(name) {
			return nil
		}
		names = append(names, name)
		isProduced = isProduced || strings.HasPrefix(name, "to_")
		hasTo = hasTo || name == "to"
	}
	if isProduced || hasTo && len(names) > 1 {
		return names
	}
	return nil
}
