package loader

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/fsx"
	"bindc/loader/internal/hiera5"
	"bindc/loader/internal/site"
)

// modulePath returns opts.ModulePath. If that is nil, it returns the existing directories of the module path in
// environment.conf, or nil if the file does not set it.
func modulePath(in *site.Inputs, opts Options) []string {
	conf := environmentConf{filepath.Join(in.Dir, "environment.conf"), readConf(in)}
	conf.warnOfMisspelt(in)
	if opts.ModulePath != nil {
		return opts.ModulePath
	}
	listed, err := ListedModules(in.Disk, conf.text, in.Dir)
	if err != nil {
		in.Failed(conf.path, err)
	}
	if !conf.sets("modulepath") {
		return nil
	}
	var missing []string
	found := []string{}
	for _, dir := range listed {
		if there, ok := in.IsDir(dir); there {
			found = append(found, dir)
		} else if ok {
			missing = append(missing, dir)
		}
	}
	conf.warnOfMissing(in, missing, len(found) == 0)
	if here, _ := in.IsDir(filepath.Join(in.Dir, "modules")); here && len(listed) == 0 {
		in.Diags.Add(diag.Diagnostic{Pos: conf.posOf("modulepath"), Severity: diag.Warning, Code: "modulepath",
			Message: "the module path names no directory of this site, so the modules in 'modules' are not used, as in Puppet",
			Hint:    "write 'modulepath = modules:$basemodulepath', or remove the setting"})
	}
	return found
}

// environmentConf is the environment.conf of a site. text is nil if the file is missing.
type environmentConf struct {
	path string
	text []byte
}

// confSettings are the settings that Puppet reads from an environment.conf.
var confSettings = []string{"modulepath", "manifest", "config_version", "environment_timeout",
	"environment_data_provider", "disable_per_environment_manifest", "static_catalogs", "rich_data"}

// warnOfMisspelt warns about settings with nearly the name of one that Puppet reads.
func (c environmentConf) warnOfMisspelt(in *site.Inputs) {
	at := diag.Pos{File: c.path, Col: 1}
	for line := range strings.Lines(string(c.text)) {
		at.Line++
		name, _, hasValue := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		if strings.HasPrefix(name, "#") || strings.HasPrefix(name, ";") {
			continue
		}
		if meant := in.Diags.CorrectTypo(name, confSettings); hasValue && !meant.IsNone() {
			in.Diags.Add(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "config",
				Message: "Puppet has no setting '" + name + "', and ignores it", Fix: meant})
		}
	}
}

// warnOfMissing warns about directories of the module path that do not exist. A checkout often lacks the directory of
// modules that a deployment installs, so some may be missing, unless another directory has nearly the same name.
func (c environmentConf) warnOfMissing(in *site.Inputs, missing []string, all bool) {
	for _, dir := range missing {
		name, err := filepath.Rel(in.Dir, dir)
		if err != nil || strings.HasPrefix(name, "..") {
			name = dir
		}
		var siblings []string
		if parent := filepath.Dir(dir); parent == in.Dir {
			for _, e := range in.List(parent) {
				siblings = append(siblings, e.Name())
			}
		}
		hint := in.Diags.CorrectTypo(filepath.Base(dir), siblings).Hint()
		switch {
		case strings.Contains(name, "#"):
			hint = "a comment after a value belongs to the value, as in Puppet: move it to its own line"
		case filepath.IsAbs(name) && strings.Contains(name, "/environments/"):
			hint = "write a path relative to this file, or use --modulepath: the name of the environment is not known here"
		}
		if all || hint != "" {
			in.Diags.Add(diag.Diagnostic{Pos: c.posOf("modulepath"), Severity: diag.Warning, Code: "modulepath",
				Message: "the module path has '" + name +
					"', which does not exist; the site has no modules from there",
				Hint: hint})
		}
	}
}

// sets reports whether a line gives a value to a setting, even an empty one.
func (c environmentConf) sets(setting string) bool { return c.posOf(setting).Line > 0 }

// posOf returns the position of the first line with a setting, or that of the file.
func (c environmentConf) posOf(setting string) diag.Pos {
	n := 0
	for line := range strings.Lines(string(c.text)) {
		n++
		if name, _, ok := strings.Cut(line, "="); ok && strings.TrimSpace(name) == setting {
			return diag.Pos{File: c.path, Line: n, Col: 1}
		}
	}
	return diag.Pos{File: c.path}
}

func readConf(in *site.Inputs) []byte {
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

// manifests returns the path of the site's manifests, a file or a directory: the setting 'manifest' in
// environment.conf, or 'manifests'.
func manifests(in *site.Inputs) string {
	return below(in.Dir, cmp.Or(settingOf(readConf(in), "manifest"), "manifests"))
}

// ListedModules returns the directories of the modulepath setting in the text of an environment.conf, or nil if it
// names none. As in Puppet, an element with wildcards is replaced by the existing directories that match.
func ListedModules(d fsx.Disk, src []byte, site string) (out []string, err error) {
	for _, dir := range strings.Split(settingOf(src, "modulepath"), ":") {
		dir = strings.TrimSpace(dir)
		if dir == "" || strings.HasPrefix(dir, "$") {
			continue
		}
		dirs, err := matchingDirs(d, below(site, dir))
		if err != nil {
			return nil, err
		}
		out = append(out, dirs...)
	}
	return out, nil
}

// matchingDirs expands the braces and wildcards in a path. The matches of a wildcard are sorted by name.
func matchingDirs(d fsx.Disk, path string) (out []string, err error) {
	globs, ok := hiera5.Unbraced(path)
	if !ok || strings.Contains(path, "**") {
		return nil, &fs.PathError{Op: "glob", Path: path,
			Err: errors.New("a modulepath with '**' or with this many braces is not supported: name the directories")}
	}
	for _, glob := range globs {
		dirs, err := dirsOf(d, glob)
		if err != nil {
			return nil, err
		}
		out = append(out, dirs...)
	}
	return out, nil
}

// dirsOf expands the wildcards in a path without braces. It returns a path without wildcards even if it does not
// exist.
func dirsOf(d fsx.Disk, path string) (out []string, err error) {
	const wildcards = "*?["
	if !strings.ContainsAny(path, wildcards) {
		return []string{path}, nil
	}
	dirs, err := dirsOf(d, filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	name := filepath.Base(path)
	for _, dir := range dirs {
		if !strings.ContainsAny(name, wildcards) {
			out = append(out, filepath.Join(dir, name))
			continue
		}
		entries, err := d.List(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if ok, _ := filepath.Match(name, e.Name()); ok && (name[0] == '.' || e.Name()[0] != '.') {
				out = append(out, filepath.Join(dir, e.Name()))
			}
		}
	}
	return out, nil
}

// settingOf returns the value of a setting in the text of an environment.conf, or "". As in Puppet, the first line with
// the setting counts.
func settingOf(src []byte, name string) string {
	for line := range strings.Lines(string(src)) {
		key, text, hasValue := strings.Cut(line, "=")
		if hasValue && strings.TrimSpace(key) == name {
			return unquoted(strings.TrimSpace(text))
		}
	}
	return ""
}

// unquoted returns text without the quotes around it, as Puppet reads a setting.
func unquoted(text string) string {
	if n := len(text); n > 1 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] {
		return text[1 : n-1]
	}
	return text
}

func below(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// NamesOfSet returns the names that the bindings file at path may declare. In a module, these are the full name and
// the name without the module. It returns nil if no parent directory is called bindings.
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
	listed, err := ListedModules(d, conf, site)
	if listed != nil || err != nil {
		return slices.Contains(listed, parent), err
	}
	return filepath.Base(parent) == "modules", nil
}
