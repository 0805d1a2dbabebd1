package migrate

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/fsx"
	"bindc/loader"
)

// writeModulePath writes an environment.conf whose module path includes the modules of the new
// site. It keeps other settings.
func (o *output) writeModulePath() error {
	at := filepath.Join(o.dir, "environment.conf")
	text, err := fsx.Disk{}.ReadFile(at)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	listed, err := loader.ListedModules(fsx.Disk{}, text, o.dir)
	if err != nil {
		return err
	}
	o.reportDirectories(at, text, listed)
	if listed == nil {
		listed = []string{filepath.Join(o.dir, "modules")}
	}
	missing := slices.DeleteFunc(o.moduleDirectories(), func(dir string) bool {
		return slices.Contains(listed, filepath.Join(o.dir, filepath.FromSlash(dir)))
	})
	if written := withModules(string(text), missing); strings.Contains(written, "modulepath") {
		o.files["environment.conf"] = []byte(written)
	}
	return nil
}

// moduleDirectories returns the directories of the new site that contain modules, sorted and with
// slashes.
func (o *output) moduleDirectories() []string {
	dirs := map[string]bool{}
	for _, h := range o.hierarchies {
		if h.module == "" {
			continue
		}
		module := o.newPath(h, "")
		for name := range o.files {
			if strings.HasPrefix(name, module+"/") {
				dirs[path.Dir(module)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(dirs))
}

// withModules returns the text of an environment.conf with dirs at the beginning of the module
// path. They must precede the original directories of the same modules, which may be in the path
// too.
func withModules(conf string, dirs []string) string {
	if len(dirs) == 0 {
		return conf
	}
	var out strings.Builder
	found := false
	for line := range strings.Lines(conf) {
		name, list, _ := strings.Cut(line, "=")
		if strings.TrimSpace(name) == "modulepath" && !found {
			found = true
			line = name + "= " + strings.Join(append(dirs, strings.TrimSpace(list)), ":") + "\n"
		}
		out.WriteString(line)
	}
	if !found {
		if conf != "" && !strings.HasSuffix(conf, "\n") {
			out.WriteString("\n")
		}
		out.WriteString("modulepath = " + strings.Join(append(dirs, "$basemodulepath"), ":") + "\n")
	}
	return out.String()
}

// reportDirectories reports directories of the module path that do not exist, and those inside the
// site that the new site does not have. If a flag overrides the module path, it reports nothing.
func (o *output) reportDirectories(conf string, text []byte, listed []string) {
	if o.opts.ModulePathGiven {
		return
	}
	at := diag.Pos{File: conf}
	for line := range strings.Lines(string(text)) {
		at.Line++
		if name, _, _ := strings.Cut(line, "="); strings.TrimSpace(name) == "modulepath" {
			at.Col = 1
			break
		}
	}
	written := o.moduleDirectories()
	for _, dir := range listed {
		name, err := filepath.Rel(o.dir, dir)
		if err != nil || strings.HasPrefix(name, "..") {
			name = dir
		}
		info, _ := fsx.Disk{}.Info(dir)
		switch {
		case info == nil:
			o.diags.Add(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "migrate",
				Message: "the module path has '" + name + "', which does not exist: data, lookup_options and manifests " +
					"of its modules are missing",
				Hint: "install the modules, or give their directories with --modulepath"})
		case info != nil && name != dir && !slices.Contains(written, filepath.ToSlash(name)):
			o.diags.Add(diag.Diagnostic{Pos: at, Severity: diag.Info, Code: "migrate",
				Message: "the module path has '" + name + "', which is not in the new site: no module in it has data"})
		}
	}
}
