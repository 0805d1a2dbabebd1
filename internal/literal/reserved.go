package literal

import (
	"strings"

	"bindc/diag"
	"bindc/internal/recipe"
)

// CheckReserved reports an error for a reserved key. For the first other key of a file that begins
// with '/', it adds a warning and sets warned, because all reserved keys begin with '/'.
func CheckReserved(key string, at diag.Pos, warned *bool, diags *diag.List) {
	switch {
	case !strings.HasPrefix(key, "/"):
	case recipe.IsReserved(key):
		diags.Add(diag.Diagnostic{Pos: at, Code: "reserved", InValue: true,
			Message: "the key '" + key + "' is reserved", Hint: statementFor(key)})
	case !*warned:
		*warned = true
		diags.Add(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "reserved",
			Message: "'" + key + "' begins with '/', like reserved keys",
			Hint:    "choose a name without it: a later version may give the key a meaning"})
	}
}

// statementFor returns a hint that shows the statement for a reserved key in YAML and in Puppet
// syntax.
func statementFor(key string) string {
	words := func(what, yaml, puppet string) string {
		return what + " in structured bindings: {" + yaml + "}, in Puppet syntax " + puppet
	}
	switch kind, _, _ := strings.Cut(strings.TrimPrefix(key, "/"), "/"); kind {
	case "classes":
		return words("include classes", "include: NAME", "include NAME")
	case "dependencies":
		return words("bind a dependency", "dependency: [FROM, TO]", "bind dependency FROM -> TO")
	case "environment":
		return "only the files of a node classifier bind it"
	case "param":
		return words("bind parameters", "parameters: TARGET, to: {…}", "bind parameters TARGET to {…}")
	case "map":
		return words("bind a map", "map: [TYPE, TYPE], to: {…}", "bind map TYPE to TYPE {…}")
	}
	return words("bind variables", "variables: {…}", "bind variables to {…}")
}
