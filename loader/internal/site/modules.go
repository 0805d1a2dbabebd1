package site

import (
	"path/filepath"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/pattern"
)

// Module is a Puppet module.
type Module struct{ Name, Dir string }

// Modules lists the modules on the module path, sorted by name. If several modules have the same name, the first module
// on the path wins.
type Modules struct {
	All   []Module
	names map[string]int  // index in All, by name
	dirs  map[string]int  // index in All, by directory
	Roots map[string]bool // directories of the site and all modules, with links resolved
}

var moduleName = pattern.Lazy(`^[a-z][a-z0-9_]*$`)

// FindModules finds the modules of a site. A nil path means the default path, which may be missing. Otherwise, each
// directory in path must exist.
func FindModules(f Files, site string, path []string) Modules {
	ms := Modules{names: map[string]int{}, dirs: map[string]int{}, Roots: map[string]bool{}}
	if real, ok := f.Real(site); ok {
		ms.Roots[real] = true
	}
	for _, dir := range path {
		if there, ok := f.IsDir(dir); !there && ok {
			f.Diags.Errorf(diag.Pos{File: dir}, "modulepath", "this directory of the module path does not exist")
		}
	}
	if path == nil {
		path = []string{filepath.Join(site, "modules")}
	}
	for _, dir := range path {
		ms.add(f, dir)
	}
	slices.SortFunc(ms.All, func(a, b Module) int { return strings.Compare(a.Name, b.Name) })
	for i, m := range ms.All {
		ms.names[m.Name], ms.dirs[m.Dir] = i, i
	}
	return ms
}

func (ms *Modules) add(f Files, dir string) {
	if there, _ := f.IsDir(dir); !there {
		return
	}
	for _, e := range f.List(dir) {
		m := Module{e.Name(), filepath.Join(dir, e.Name())}
		if !moduleName().MatchString(m.Name) {
			continue
		}
		real, ok := f.Real(m.Dir)
		if !ok {
			continue
		}
		ms.Roots[real] = true
		if _, taken := ms.names[m.Name]; !taken {
			ms.names[m.Name] = len(ms.All)
			ms.All = append(ms.All, m)
		}
	}
}

func (ms *Modules) Named(name string) (Module, bool) {
	i, ok := ms.names[name]
	if !ok {
		return Module{}, false
	}
	return ms.All[i], true
}

// Find returns the module that contains the file path.
func (ms *Modules) Find(path string) (Module, bool) {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if i, ok := ms.dirs[dir]; ok {
			return ms.All[i], true
		}
		if dir == filepath.Dir(dir) {
			return Module{}, false
		}
	}
}

// Known returns the names of the modules.
func (ms *Modules) Known() []string {
	out := make([]string, len(ms.All))
	for i, m := range ms.All {
		out[i] = m.Name
	}
	return out
}
