package loader

import (
	"io/fs"
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
	if real, err := l.realDir(l.dir); err != nil {
		l.cannotRead(l.dir, err)
	} else {
		l.roots[real] = true
	}
	var out []module
	for _, dir := range path {
		for _, m := range l.modulesIn(dir) {
			taken := slices.ContainsFunc(out, func(o module) bool { return o.name == m.name })
			if !taken {
				out = append(out, m)
			}
		}
	}
	slices.SortFunc(out, func(a, b module) int { return strings.Compare(a.name, b.name) })
	return out
}

// modulesIn lists the modules in one directory of the module path, which only the default one need not be there.
func (l *load) modulesIn(dir string) []module {
	if len(l.opts.ModulePath) > 0 {
		if there, err := l.disk.IsDir(dir); !there && err == nil {
			l.diags.Errorf(diag.Pos{File: dir}, "modulepath",
				"cannot read this directory of the module path: expected a directory")
			return nil
		}
	}
	entries, err := l.disk.List(dir)
	if err != nil {
		l.cannotRead(dir, err)
		return nil
	}
	real, err := l.realDir(dir)
	if err != nil {
		l.cannotRead(dir, err)
		return nil
	}
	var out []module
	for _, e := range entries {
		m := module{e.Name(), filepath.Join(dir, e.Name())}
		if !moduleName.MatchString(m.name) {
			continue
		}
		is, err := e.IsDir(), error(nil)
		if e.Type()&fs.ModeSymlink != 0 {
			is, err = l.disk.IsDir(m.dir)
		}
		if err != nil {
			l.cannotRead(m.dir, err)
		}
		if is {
			out = append(out, m)
			l.roots[filepath.Join(real, m.name)] = true
		}
	}
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

// isFile tells whether there is a file; not ok if that cannot be told, which is reported.
func (l *load) isFile(path string) (there, ok bool) {
	there, err := l.disk.IsFile(path)
	if err != nil {
		l.cannotRead(path, err)
	}
	return there, err == nil
}

// realDir is a directory without symbolic links, "" if it is not there.
func (l *load) realDir(dir string) (string, error) {
	if there, err := l.disk.IsDir(dir); !there || err != nil {
		return "", err
	}
	return l.disk.Resolve(dir)
}
