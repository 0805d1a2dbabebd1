package literal

import (
	"strings"

	"bindc/internal/diag"
	"bindc/internal/recipe"
)

// CheckReserved reports a key that is reserved, and warns of the first of a file that begins as reserved ones do.
func CheckReserved(key string, at diag.Pos, warned *bool, diags *diag.List) {
	switch {
	case !strings.HasPrefix(key, "/"):
	case recipe.IsReserved(key):
		diags.Add(diag.Diagnostic{Pos: at, Code: "reserved", InValue: true,
			Message: "the key '" + key + "' is reserved", Hint: statementFor(key)})
	case !*warned:
		*warned = true
		diags.Add(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "reserved",
			Message: "'" + key + "' begins with '/', as the keys do that are reserved",
			Hint:    "choose a name without it: a later version may give the key a meaning"})
	}
}

// statementFor says by what a reserved key is bound.
func statementFor(key string) string {
	switch kind, _, _ := strings.Cut(strings.TrimPrefix(key, "/"), "/"); kind {
	case "classes":
		return "include classes in structured bindings: {include: NAME}"
	case "dependencies":
		return "bind a dependency in structured bindings: {dependency: [FROM, TO]}"
	case "environment":
		return "only the files of a node classifier bind it"
	case "param":
		return "bind parameters in structured bindings: {parameters: TARGET, to: {…}}"
	case "map":
		return "bind a map in structured bindings: {map: [TYPE, TYPE], to: {…}}"
	}
	return "bind variables in structured bindings: {variables: {…}}"
}
