package loader

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"bindc/diag"
)

type module struct{ name, dir string }

// modules are those of the module path, sorted; the first of a name counts.
type modules struct {
	all   []module
	names map[string]int  // places in all
	dirs  map[string]int  // the same by directory
	roots map[string]bool // the directories of all of them and of the site, without symbolic links
}

var moduleName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// findModules finds the modules of a site. Only the default module path, nil, need not be there.
func findModules(f files, site string, path []string) modules {
	ms := modules{names: map[string]int{}, dirs: map[string]int{}, roots: map[string]bool{}}
	if real, ok := f.real(site); ok {
		ms.roots[real] = true
	}
	for _, dir := range path {
		if there, ok := f.isDir(dir); !there && ok {
			f.diags.Errorf(diag.Pos{File: dir}, "modulepath", "expected a directory of the module path, there is none")
		}
	}
	if path == nil {
		path = []string{filepath.Join(site, "modules")}
	}
	for _, dir := range path {
		ms.add(f, dir)
	}
	slices.SortFunc(ms.all, func(a, b module) int { return strings.Compare(a.name, b.name) })
	for i, m := range ms.all {
		ms.names[m.name], ms.dirs[m.dir] = i, i
	}
	return ms
}

// add adds the modules in one directory.
func (ms *modules) add(f files, dir string) {
	if there, _ := f.isDir(dir); !there {
		return
	}
	for _, e := range f.list(dir) {
		m := module{e.Name(), filepath.Join(dir, e.Name())}
		if !moduleName.MatchString(m.name) {
			continue
		}
		real, ok := f.real(m.dir)
		if !ok {
			continue
		}
		ms.roots[real] = true
		if _, taken := ms.names[m.name]; !taken {
			ms.names[m.name] = len(ms.all)
			ms.all = append(ms.all, m)
		}
	}
}

func (ms *modules) named(name string) (module, bool) {
	i, ok := ms.names[name]
	if !ok {
		return module{}, false
	}
	return ms.all[i], true
}

// of is the module that a file is in.
func (ms *modules) of(path string) (module, bool) {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if i, ok := ms.dirs[dir]; ok {
			return ms.all[i], true
		}
		if dir == filepath.Dir(dir) {
			return module{}, false
		}
	}
}

func (ms *modules) known() []string {
	out := make([]string, len(ms.all))
	for i, m := range ms.all {
		out[i] = m.name
	}
	return out
}
