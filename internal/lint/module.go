package lint

import (
	"strings"

	"bindc/diag"
	"bindc/internal/recipe"
)

// checkModuleKeys advises on keys that a module binds and that do not have its name: they are another one's, or
// nobody's.
func (l *linter) checkModuleKeys() {
	if !l.wants("module_key") {
		return
	}
	for b := range l.bindings {
		name := l.module(b.at.File)
		if name == "" || b.key == name || strings.HasPrefix(b.key, name+"::") || b.key == "lookup_options" ||
			recipe.IsReserved(b.key) {
			continue
		}
		l.add(diag.Diagnostic{Pos: b.at, Code: "module_key",
			Message: "module '" + name + "' binds '" + b.key + "', which does not begin with '" + name + "::'",
			Hint:    "call it '" + name + "::…', or bind it in the site"})
	}
}

// module is the name of the module that a file belongs to, "" if it is the site's.
func (l *linter) module(path string) string {
	rest, ok := strings.CutPrefix(l.site.Inputs[l.site.InputOf[path]].Path, "modules/")
	name, _, isDir := strings.Cut(rest, "/")
	if !ok || !isDir {
		return ""
	}
	return name
}
