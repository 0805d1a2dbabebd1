package hiera5

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/yaml"
	"bindc/loader/internal/site"
)

// ownEnvironment lists the interpolations that result in the name of the request's environment.
var ownEnvironment = []string{"%{environment}", "%{::environment}", "%{server_facts.environment}"}

// belowEnvironment returns an absolute path relative to the site, if the path is in the directory of the request's
// environment. Otherwise it returns false.
func (r *Reader) belowEnvironment(text string) (below string, ok bool) {
	in := path.Join(r.codedir, "environments") + "/"
	if text, ok = strings.CutPrefix(text, in); !ok {
		return "", false
	}
	for _, name := range ownEnvironment {
		if below, ok := strings.CutPrefix(text, name); ok && (below == "" || below[0] == '/') {
			return strings.TrimLeft(below, "/"), true
		}
	}
	return "", false
}

// environmentDir returns the directory that is used as the environment. For the environment's own hierarchy, this is
// the directory of its hiera.yaml. For modules and a global hierarchy, it is the site.
func (c config) environmentDir() string {
	if c.Module != "" || c.Doc.File == c.global {
		return c.Dir
	}
	return c.root
}

// isAbsolute reports whether Puppet treats text as an absolute path.
func isAbsolute(text string) bool { return strings.HasPrefix(text, "/") || filepath.IsAbs(text) }

// resolve splits a path into the directory that it starts from and the rest of the path.
func (c config) resolve(text string) (root, rest string) {
	if below, ok := c.belowEnvironment(text); ok {
		return c.environmentDir(), below
	}
	if isAbsolute(text) {
		return "", text
	}
	return c.root, text
}

// divided is a path or glob split in two. The directory dir is the same for all requests; datadir + path may differ
// between requests. datadir is "" or ends with a slash.
type divided struct {
	dir, datadir, path string
	forData            bool // dir contains only data
	tooWide            bool // do not search dir: it may contain much more than data
}

// divide splits a path or glob below datadir. If path is absolute or leads out of datadir, its leading constant names
// become part of dir, so that no variable can lead out of dir.
func (c config) divide(datadir, path string, isGlob bool) (d divided) {
	root, text := c.resolve(datadir)
	if i := strings.Index(text, "%{"); i >= 0 {
		cut := strings.LastIndexByte(text[:i], '/') + 1
		text, d.datadir = text[:cut], text[cut:]+"/"
	}
	d.dir, d.path, d.forData = joinDir(root, text), path, true
	if isAbsolute(path) {
		root, d.path = c.resolve(path)
		d.dir, d.datadir = joinDir(root, ""), ""
	}
	names := constantNames(d.path, isGlob)
	switch {
	case isAbsolute(path) || d.datadir == "" && leadsOut(names):
		d.dir, d.path, d.forData = joinDir(d.dir, names), d.path[len(names):], false
	case hasDots(names) && !leadsOut(names):
		d.path = clean(names) + d.path[len(names):]
	}
	if _, inSite := site.Below(c.Dir, d.dir); d.datadir != "" && !inSite {
		d.forData = false
	}
	d.tooWide = filepath.Dir(d.dir) == d.dir && (isGlob || strings.Contains(d.datadir+d.path, "%{"))
	return d
}

// treeOf returns the tree of the directory of d. It returns nil if the directory does not exist or is too wide.
func (c config) treeOf(d divided) *site.Tree {
	if d.tooWide {
		return nil
	}
	return c.treeAt(d.dir, d.forData)
}

func joinDir(dir, text string) string { return filepath.Join(dir, filepath.FromSlash(text)) }

// constantNames returns the leading directories of a path that have neither variables nor wildcards.
func constantNames(path string, isGlob bool) string {
	end := strings.Index(path, "%{")
	if isGlob {
		end = strings.IndexAny(path, `%*?[\`)
	}
	if end >= 0 {
		path = path[:end]
	}
	return path[:strings.LastIndexByte(path, '/')+1]
}

// leadsOut reports whether a relative path leads out of the directory that it starts from.
func leadsOut(names string) bool {
	names = path.Clean(names)
	return names == ".." || strings.HasPrefix(names, "../")
}

func hasDots(names string) bool { return slices.Contains(strings.Split(names, "/"), "..") }

// clean removes each '..' together with the name before it. names must not lead out of its directory. The result is ""
// or ends with a slash.
func clean(names string) string {
	if names = path.Clean(names); names != "." {
		return names + "/"
	}
	return ""
}

// checkDatadir records a warning if a datadir of the site does not exist. It ignores the datadirs of modules, which
// are up to the authors of the modules.
func (c config) checkDatadir(at diag.Pos, source dataSource) {
	dir := source.datadir
	if c.Module != "" || c.checked[dir] || c.hasDatadir(dir) {
		return
	}
	c.checked[dir] = true
	user := "this entry"
	if source.inDefaults != (diag.Pos{}) {
		at, user = source.inDefaults, "an entry without another datadir"
	}
	d := diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "data_directory"}
	if isAbsolute(dir) {
		d.Hint = c.absoluteHint(dir)
	} else {
		d.Fix = c.Diags.CorrectTypo(dir, c.dirsBeside())
	}
	if strings.Contains(dir, "%{") || isAbsolute(dir) {
		d.Message = "no directory matches the datadir '" + dir + "'; level '" + source.level +
			"', and every other level with this datadir, finds no data"
	} else {
		d.Message = "there is no directory '" + dir + "' next to this file; " + user + " never finds data"
	}
	c.absent = append(c.absent, d)
}

// dirsBeside returns the names of the directories next to the configuration file.
func (c config) dirsBeside() (names []string) {
	for _, e := range c.List(c.root) {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// WarnOfAbsent reports the recorded directories and files that do not exist. It reports nothing if the site has errors.
// Call it after all files have been parsed, so that the result does not depend on the order of files.
func (r *Reader) WarnOfAbsent() {
	if r.Diags.Failed() {
		return
	}
	for _, d := range r.absent {
		r.Diags.Add(d)
	}
}

// absoluteHint returns a hint for an absolute path that does not exist. The hint explains which absolute paths are in
// the site, unless the path is from a global hierarchy and outside all environments.
func (c config) absoluteHint(text string) string {
	if c.Doc.File == c.global && !strings.Contains(text, "/environments/") {
		return "create it, or correct the path; a relative path starts from the directory of this file"
	}
	return "write a path relative to this file; absolute paths are in the site only below " +
		path.Join(c.codedir, "environments") + "/%{environment}, see --codedir"
}

// hasRelative reports whether any path of an entry is relative. If none is, the entry's datadir has no effect.
func hasRelative(places *yaml.Node) bool {
	texts := site.StringsOf(places)
	if text, ok := places.Text(); ok {
		texts = []string{text}
	}
	return slices.ContainsFunc(texts, func(text string) bool { return !isAbsolute(text) })
}

// hasDatadir reports whether a datadir exists. A datadir with variables exists if any directory matches.
func (c config) hasDatadir(datadir string) bool {
	d := c.divide(datadir, "", false)
	tree := c.treeOf(d)
	node, problems := expr.ParseHiera(d.datadir)
	if tree == nil || d.datadir == "" || len(problems) > 0 { // errors are reported elsewhere
		return tree != nil
	}
	pattern := pathPattern(withoutDots(partsOf(node)))
	matches := func(f site.Listed) bool { return pattern.MatchString(f.Path + "/") }
	return pattern.MatchString("") || slices.ContainsFunc(tree.Below("", -1, true), matches)
}

// checkAbsolute records a warning if an absolute path or glob of the site matches no file.
func (c config) checkAbsolute(at diag.Pos, source dataSource, path string, found bool) {
	if c.Module != "" || found || !isAbsolute(path) {
		return
	}
	c.absent = append(c.absent, diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "data_directory",
		Message: "no file matches '" + path + "'; level '" + source.level + "' finds no data there",
		Hint:    c.absoluteHint(path)})
}
