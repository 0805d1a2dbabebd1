package loader

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/yaml"
	"bindc/loader/internal/hiera5"
	"bindc/loader/internal/site"
)

// unread warns about files that look like part of the site but are not used.
type unread struct {
	*planner
	quiet site.Files // discards errors: unused files may be unreadable
}

// warnOfUnread warns about files that no layer and no hierarchy uses.
func (p *planner) warnOfUnread() {
	u := unread{p, p.Quiet(&diag.List{})}
	for _, dir := range slices.Sorted(maps.Keys(p.hiera2.dirs)) {
		if h := p.hiera2.dirs[dir]; h != nil && h.otherVersion == "" {
			u.data(h)
		}
	}
	u.hiera5Data()
	if !p.namedComplete {
		return // an invalid URI may be meant for any of these files
	}
	u.hierarchy(p.Dir, uri{scheme: "confdir-hiera"}, uri{scheme: "hiera"})
	u.dataAlone()
	u.classified()
	u.sets(p.Dir, "confdir", "")
	u.misspelt()
	u.yml(filepath.Join(p.Dir, "binder_config"), uri{})
	u.yml(filepath.Join(p.Dir, "bindings_config"), uri{})
	for _, m := range p.Modules.All {
		u.hierarchy(m.Dir, uri{scheme: "module-hiera", path: m.Name}, uri{scheme: "module-hiera5", path: m.Name})
		u.sets(m.Dir, "module", m.Name+"::")
	}
}

// misspelt warns about files and directories in the site whose names resemble those of a site's parts.
func (u *unread) misspelt() {
	for _, entry := range u.quiet.List(u.Dir) {
		if part := diag.Misspelt(entry.Name(), partsOfSites); part != "" && filepath.Ext(entry.Name()) != ".yml" {
			u.warn(filepath.Join(u.Dir, entry.Name()), "config",
				"bindc does not read this, but its name is similar to one that it reads", "did you mean '"+part+"'?")
		}
	}
}

func (u *unread) warn(path string, code diag.Code, message, hint string) {
	u.Diags.Add(diag.Diagnostic{Pos: diag.Pos{File: path}, Severity: diag.Warning, Code: code, Message: message,
		Hint: hint})
}

// data warns about missing directories of a Hiera 2 hierarchy, and about data files that no entry matches. It does
// nothing if some paths are unknown or extensions may read the files.
func (u *unread) data(h *hiera2Dir) {
	isExtension := func(backend string) bool { return !builtinBackend(backend) }
	if slices.ContainsFunc(h.backends, isExtension) || !h.isWhole() || h.doc.Mentions("%{") {
		return
	}
	for top, at := range h.topDirs() {
		if there, ok := u.quiet.IsDir(h.tree.Path(top)); ok && !there {
			u.Diags.Warnf(at, "data_directory",
				"there is no directory '%s' next to this file; this entry never finds data", top)
		}
	}
	const hint = "add an entry with its path to the hierarchy in hiera.yaml, or rename the file"
	for _, f := range u.dataDirFiles(h) {
		path := h.tree.PathOf(f)
		if isData(f) && !u.ReadsData(path) && !h.mentions(f) {
			d := diag.Diagnostic{Pos: diag.Pos{File: path}, Severity: diag.Warning, Code: "data_unreached",
				Hint: hint, Message: "no hierarchy entry matches this file; its data is never used"}
			if at, ok := h.nearEntry(f); ok {
				d.Notes = []diag.Note{{Pos: at, Message: "the path of this entry is similar"}}
			}
			u.Diags.Add(d)
		}
	}
}

// nearEntry returns the position of an entry whose path resembles that of f. For a path with variables, it compares
// only the constant directory.
func (h *hiera2Dir) nearEntry(f site.Listed) (diag.Pos, bool) {
	for _, e := range h.entries {
		path, name := e.path.before, f.Name()
		if e.path.refs > 0 {
			path = e.path.fixedDir()
			parts := strings.SplitAfter(name, "/")
			name = strings.Join(parts[:min(strings.Count(path, "/"), len(parts)-1)], "")
		}
		if diag.Misspelt(name, []string{path}) != "" {
			return e.pathAt, true
		}
	}
	return diag.Pos{}, false
}

// hiera5Data warns about data files that no Hiera 5 path matches. It only searches directories that contain nothing but
// data.
func (u *unread) hiera5Data() {
	for _, h := range u.hiera5.Dirs {
		if h == nil || h.Broken || h.HasPlans() {
			return // some paths are unknown
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(u.hiera5.Trees)) {
		t := u.hiera5.Trees[dir]
		if t == nil || !t.ForData || t.Roots[t.Real] || site.IsBelow(t.Real, u.Dir) {
			continue
		}
		var lost []string
		all := &site.Tree{Files: u.quiet, Dir: t.Dir, Real: t.Real, Roots: t.Roots, Dangling: true, Lost: &lost}
		linked := u.readThroughLinks(t)
		for _, f := range all.Below("", -1, false) {
			path := t.Path(f.Path)
			if isData(f) && !u.ReadsData(path) && !linked[u.target(path)] {
				hint := "add an entry with its path to the hierarchy in hiera.yaml, or rename the file"
				if right, ok := strings.CutSuffix(filepath.Base(path), ".yml"); ok {
					hint = "rename it to " + right + ".yaml, if a path in the hierarchy expects that name"
				}
				u.Diags.Add(diag.Diagnostic{Pos: diag.Pos{File: path}, Severity: diag.Warning, Code: "data_unreached",
					Message: "no path in the hierarchy matches this file; its data is never used", Hint: hint,
					Notes: u.similar(t, f.Path)})
			}
		}
		for _, path := range lost {
			switch ext := filepath.Ext(path); {
			case t.Globbed[path]: // an error reports it
			case site.IsDataExtension(ext):
				u.warn(t.Path(path), "data_unreached", "broken symbolic link; Hiera 5 finds no file",
					"create the file that it refers to, or remove the link")
			case ext == "":
				u.warn(t.Path(path), "data_unreached", "broken symbolic link; Hiera 5 finds no directory",
					"create the directory that it refers to, or remove the link")
			}
		}
	}
}

// similar returns a note about a Hiera 5 path that resembles path, a file below the directory of t.
func (u *unread) similar(t *site.Tree, path string) []diag.Note {
	for _, config := range slices.Sorted(maps.Keys(u.hiera5.Dirs)) {
		if at, ok := u.hiera5.Dirs[config].Similar(t, path); ok {
			return []diag.Note{{Pos: at, Message: "this path is similar"}}
		}
	}
	return nil
}

// readThroughLinks returns the targets of the data files in t that are read, if t has links to directories.
func (u *unread) readThroughLinks(t *site.Tree) map[string]bool {
	if !t.HasLinks() {
		return nil
	}
	read := map[string]bool{}
	named := site.Tree{Files: u.quiet, Dir: t.Dir, Real: t.Real, Dangling: true, ForData: true}
	for _, f := range named.Below("", -1, true) {
		if path := t.Path(f.Path); u.ReadsData(path) {
			read[u.target(path)] = true
		}
	}
	return read
}

// target returns path with links resolved, or path itself if that fails.
func (u *unread) target(path string) string {
	if real, err := u.Disk.Resolve(path); err == nil {
		return real
	}
	return path
}

// isWhole reports whether all entries and backends in the configuration are valid.
func (h *hiera2Dir) isWhole() bool {
	whole := func(key string, n int) bool {
		_, list, ok := h.doc.Root.Lookup(key)
		return !ok || list.Kind == yaml.Sequence && len(list.Kids) == n
	}
	return whole("hierarchy", len(h.entries)) && whole("backends", len(h.backends))
}

func isData(f site.Listed) bool {
	return f.Err == nil && !f.Outside && site.IsDataExtension(filepath.Ext(f.Path))
}

// mentions reports whether the loader has already reported f, because its extension is wrong or because it was
// rejected.
func (h *hiera2Dir) mentions(f site.Listed) bool {
	mentioned := slices.Contains(h.backends, strings.ReplaceAll(filepath.Ext(f.Path)[1:], "yml", "yaml"))
	return slices.ContainsFunc(h.entries, func(e hiera2Entry) bool {
		return e.path.matches(f.Path) || mentioned && e.path.matches(f.Name())
	})
}

func (u *unread) dataDirFiles(h *hiera2Dir) []site.Listed {
	t := &site.Tree{Files: u.quiet, Dir: h.tree.Dir, Real: h.tree.Real, Roots: h.tree.Roots}
	tops := h.topDirs()
	if _, ok := tops[""]; ok && !t.Roots[t.Real] { // the top directory of a site or module contains more than data
		return t.Below("", -1, false)
	}
	tops["data"] = diag.Pos{} // the default directory, even if no path uses it
	delete(tops, "")
	var out []site.Listed
	for _, top := range slices.Sorted(maps.Keys(tops)) {
		out = append(out, t.Below(top+"/", -1, false)...)
	}
	return out
}

// topDirs returns the top-level directories of the hierarchy's paths, with the position of the first entry for each. ""
// is the directory of the hiera.yaml.
func (h *hiera2Dir) topDirs() map[string]diag.Pos {
	out := map[string]diag.Pos{}
	for _, e := range h.entries {
		top, _, _ := strings.Cut(e.path.fixedDir(), "/")
		if _, ok := out[top]; !ok {
			out[top] = e.pathAt
		}
	}
	return out
}

// hierarchy warns about the hiera.yaml of a site or module if no layer includes it. include is its URI as Hiera 2, and
// of5 its URI as Hiera 5. A Hiera 5 file at the top of the site is never read as Hiera 2, so only the exclusion of of5
// prevents the warning.
func (u *unread) hierarchy(dir string, include, of5 uri) {
	u.yml(filepath.Join(dir, "hiera"), include)
	_, named5 := u.named[of5.String()]
	if path := filepath.Join(dir, hiera5.ConfigNames[0]); !named5 {
		if there, _ := u.quiet.IsFile(path); there {
			u.notIncluded(path, of5)
		}
	}
	included, named := u.named[include.String()]
	path, _ := hiera2File(u.quiet, dir)
	if path == "" || included || named && (named5 || include.scheme != "confdir-hiera") {
		return
	}
	src, _ := u.Disk.ReadFile(path) // an unreadable file is not reported here
	doc, ok := yaml.Parse(path, src, yaml.Options{}, u.quiet.Diags)
	switch d := (site.Document{Document: doc, Diags: u.quiet.Diags}); {
	case !ok || !d.IsHash():
	case otherHiera(d) == "":
		if !named {
			u.notIncluded(path, include)
		}
	case !named5 && hiera5.VersionOf(doc) >= 4 && !hiera5.AsksSnapshotOnly(d):
		u.notIncluded(path, of5)
	}
}

// notIncluded warns about a file that no layer includes, and suggests a URI that includes it.
func (u *unread) notIncluded(path string, include uri) {
	d := diag.Diagnostic{Pos: diag.Pos{File: path}, Severity: diag.Warning, Code: "not_included",
		Message: "no layer includes this file; its data is never used",
		Hint:    "include '" + include.String() + "' in a layer of the site, or add it to the layer's 'exclude' to ignore it"}
	if include.scheme == "hiera" || include.scheme == "module-hiera5" {
		d.Hint = "include '" + include.String() + "' in a separate layer, or add it to another layer's 'exclude' to ignore it"
	}
	u.Diags.Add(d)
}

// dataAlone warns about data directories of the site and of modules that have no hiera.yaml, which are never read.
func (u *unread) dataAlone() {
	if included, named := u.named["confdir-hiera:/"]; !named || included {
		u.dataWithoutConfig(u.Dir, "", "write one; with only 'version: 2', it reads data/osfamily/${osfamily} and data/common")
	}
	for _, m := range u.Modules.All {
		u.dataWithoutConfig(m.Dir, m.Name+"::", "write one; with only 'version: 5', Puppet reads data/common.yaml")
	}
}

// dataWithoutConfig warns about the directory 'data' in dir if dir has no hiera.yaml, and a file has a key that begins
// with prefix: other programs may read a directory with this name in a module.
func (u *unread) dataWithoutConfig(dir, prefix, hint string) {
	if path, _ := hiera2File(u.quiet, dir); path != "" || u.hiera5.ConfigIn(dir) != "" {
		return
	}
	real, _ := u.quiet.Real(dir) // after an error, the build fails anyway
	t := site.Tree{Files: u.quiet, Dir: dir, Real: real, Roots: u.Modules.Roots}
	data := slices.DeleteFunc(t.Below("data/", -1, false), func(f site.Listed) bool { return !isData(f) })
	isRead := func(f site.Listed) bool { return u.ReadsData(t.Path(f.Path)) }
	isForHiera := func(f site.Listed) bool {
		if prefix == "" {
			return true
		}
		text, err := u.Disk.ReadFile(t.Path(f.Path)) // nothing is said about a file that may be another program's
		return err == nil && bytes.Contains(text, []byte(prefix))
	}
	if slices.ContainsFunc(data, isForHiera) && !slices.ContainsFunc(data, isRead) {
		u.warn(t.Path("data"), "data_unreached",
			"there is no hiera.yaml next to this directory; its data is never used", hint)
	}
}

// sets warns about bindings files that no layer includes. In a module, sets other than the default set are optional,
// unless a layer includes some of the module's sets.
func (u *unread) sets(dir, scheme, prefix string) {
	dir = u.SetsDir(dir)
	ofModule := func(uri string) bool { return strings.HasPrefix(uri, scheme+":/"+prefix) }
	chosen := slices.ContainsFunc(slices.Collect(maps.Keys(u.named)), ofModule)
	for _, ext := range []string{".yaml", ".yml", ".pp"} {
		for _, name := range u.quiet.SetsBelow(dir, ext) {
			include := uri{scheme: scheme, path: prefix + name}
			path := filepath.Join(dir, filepath.FromSlash(strings.ReplaceAll(name, "::", "/")))
			_, named := u.named[include.String()]
			switch {
			case scheme == "module" && !named && diag.Misspelt(name, []string{"default"}) != "":
				u.warn(path+ext, "not_included", "no layer includes this file; its data is never used",
					"rename it to default"+strings.ReplaceAll(ext, ".yml", ".yaml")+
						"; layers include only 'default' from modules")
			case scheme == "module" && (name != "default" || chosen):
			case ext == ".yml":
				u.yml(path, include)
			case !named:
				u.notIncluded(path+ext, include)
			}
		}
	}
}

// yml warns about a path with the extension .yml instead of .yaml, unless a layer excludes the file.
func (u *unread) yml(path string, include uri) {
	there, _ := u.quiet.IsFile(path + ".yml")
	twin, _ := u.quiet.IsFile(path + ".yaml")
	if included, named := u.named[include.String()]; there && !twin && (included || !named) {
		u.warn(path+".yml", "yml", "this file is not read: expected the extension '.yaml'",
			"rename it to "+filepath.Base(path)+".yaml")
	}
}
