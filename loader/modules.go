package loader

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"bindc/internal/diag"
)

type module struct{ name, dir string }

var moduleName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// findModules lists the modules of the module path, sorted; the first of a name counts.
func (l *load) findModules() []module {
	path := l.opts.ModulePath
	if len(path) == 0 {
		path = []string{filepath.Join(l.dir, "modules")}
	}
	var out []module
	for _, dir := range path {
		entries, err := os.ReadDir(dir)
		if err != nil && (len(l.opts.ModulePath) > 0 || !os.IsNotExist(err)) {
			l.diags.Errorf(diag.Pos{File: dir}, "modulepath", "cannot read this directory of the module path: %v", reason(err))
		}
		for _, e := range entries {
			m := module{e.Name(), filepath.Join(dir, e.Name())}
			taken := slices.ContainsFunc(out, func(o module) bool { return o.name == m.name })
			if moduleName.MatchString(m.name) && !taken && isDir(m.dir) {
				out = append(out, m)
			}
		}
	}
	slices.SortFunc(out, func(a, b module) int { return strings.Compare(a.name, b.name) })
	return out
}

func (l *load) module(name string) (module, bool) {
	i := slices.IndexFunc(l.modules, func(m module) bool { return m.name == name })
	if i < 0 {
		return module{}, false
	}
	return l.modules[i], true
}

func (l *load) moduleNames() []string {
	out := make([]string, len(l.modules))
	for i, m := range l.modules {
		out[i] = m.name
	}
	return out
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
