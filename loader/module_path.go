package loader

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"bindc/internal/fsx"
	"bindc/loader/internal/site"
)

// modulePath returns the module path of the options, or the existing directories of the module path in
// environment.conf.
func modulePath(in *site.Inputs, opts Options) []string {
	if opts.ModulePath != nil {
		return opts.ModulePath
	}
	path := filepath.Join(in.Dir, "environment.conf")
	if there, _ := in.IsFile(path); !there {
		return nil
	}
	src, err := in.Disk.ReadFile(path)
	if err != nil {
		in.Failed(path, err)
		return nil
	}
	var out []string
	for _, dir := range ListedModules(src, in.Dir) {
		if there, _ := in.IsDir(dir); there {
			out = append(out, dir)
		}
	}
	return out
}

// ListedModules returns the directories of the modulepath setting in the text of an environment.conf, or nil if it is
// not set.
func ListedModules(src []byte, site string) (out []string) {
	for line := range strings.Lines(string(src)) {
		key, list, _ := strings.Cut(line, "=")
		if strings.TrimSpace(key) != "modulepath" {
			continue
		}
		for _, dir := range strings.Split(strings.TrimSpace(list), ":") {
			dir = strings.TrimSpace(dir)
			if dir == "" || strings.HasPrefix(dir, "$") {
				continue
			}
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(site, dir)
			}
			out = append(out, dir)
		}
	}
	return out
}

// NamesOfSet returns the valid names of the set of bindings in the file path. In a module, these are the full name and
// the name without the module. There are none if no parent directory is called bindings.
func NamesOfSet(d fsx.Disk, path string) ([]string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	var names []string
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if filepath.Base(dir) != "bindings" {
			continue
		}
		rest := filepath.ToSlash(strings.TrimPrefix(strings.TrimSuffix(path, filepath.Ext(path)), dir)[1:])
		name := strings.ReplaceAll(rest, "/", "::")
		if is, err := isModule(d, filepath.Dir(dir)); is || err != nil {
			return []string{filepath.Base(filepath.Dir(dir)) + "::" + name, name}, err
		}
		if names == nil {
			names = []string{name}
		}
	}
	return names, nil
}

// isModule reports whether dir is a module: it has a metadata.json, or is on the module path of its site.
func isModule(d fsx.Disk, dir string) (bool, error) {
	parent := filepath.Dir(dir)
	site := filepath.Dir(parent)
	if is, err := d.IsFile(filepath.Join(dir, "metadata.json")); is || err != nil {
		return is, err
	}
	conf, err := d.ReadFile(filepath.Join(site, "environment.conf"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if listed := ListedModules(conf, site); listed != nil {
		return slices.Contains(listed, parent), nil
	}
	return filepath.Base(parent) == "modules", nil
}
