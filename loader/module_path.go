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
	var out []string
	for _, dir := range ListedModules(environmentConf(in), in.Dir) {
		if there, _ := in.IsDir(dir); there {
			out = append(out, dir)
		}
	}
	return out
}

// environmentConf returns the text of the site's environment.conf, or nil if there is none.
func environmentConf(in *site.Inputs) []byte {
	path := filepath.Join(in.Dir, "environment.conf")
	if there, _ := in.IsFile(path); !there {
		return nil
	}
	src, err := in.Disk.ReadFile(path)
	if err != nil {
		in.Failed(path, err)
		return nil
	}
	return src
}

// manifests returns the file or directory that Puppet reads before the modules: the setting manifest in
// environment.conf, or manifests.
func manifests(in *site.Inputs) string {
	path := "manifests"
	for _, text := range settingOf(environmentConf(in), "manifest") {
		path = text
	}
	return below(in.Dir, path)
}

// ListedModules returns the directories of the modulepath setting in the text of an environment.conf, or nil if it is
// not set.
func ListedModules(src []byte, site string) (out []string) {
	for _, list := range settingOf(src, "modulepath") {
		for _, dir := range strings.Split(list, ":") {
			dir = strings.TrimSpace(dir)
			if dir != "" && !strings.HasPrefix(dir, "$") {
				out = append(out, below(site, dir))
			}
		}
	}
	return out
}

// settingOf returns the values of a setting in the text of an environment.conf.
func settingOf(src []byte, name string) (values []string) {
	for line := range strings.Lines(string(src)) {
		key, text, _ := strings.Cut(line, "=")
		if strings.TrimSpace(key) == name {
			values = append(values, strings.TrimSpace(text))
		}
	}
	return values
}

func below(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// NamesOfSet returns the valid names of the set of bindings in the file path. In a module, these are the full name and
// the name without the module. There are no valid names if no parent directory is called bindings.
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
