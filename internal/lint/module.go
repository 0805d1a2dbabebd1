package lint

import (
	"strings"

	"bindc/diag"
	"bindc/internal/recipe"
)

// checkModuleKeys reports keys in a module's data that do not begin with the name of the module.
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
			Hint:    "rename it to '" + name + "::…', or bind it in the site"})
	}
}

// module returns the name of the module that contains a file. It returns "" if the file belongs to
// the site itself.
func (l *linter) module(path string) string {
	rest, ok := strings.CutPrefix(l.site.Inputs[l.site.InputOf[path]].Path, "modules/")
	name, _, isDir := strings.Cut(rest, "/")
	if !ok || !isDir {
		return ""
	}
	return name
}
