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

// ownEnvironment has the interpolations that name the environment of a request.
var ownEnvironment = []string{"%{environment}", "%{::environment}", "%{server_facts.environment}"}

// belowEnvironment returns the rest of an absolute path below the directory where Puppet has the environment, which is
// the site. It returns false for a path to anything else.
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

// environmentDir returns the directory of the environment: that of its hiera.yaml, or the site for a global hiera.yaml
// and that of a module.
func (c config) environmentDir() string {
	if c.Module != "" || c.Doc.File == c.global {
		return c.Dir
	}
	return c.root
}

// isAbsolute reports whether Puppet reads text as an absolute path.
func isAbsolute(text string) bool { return strings.HasPrefix(text, "/") || filepath.IsAbs(text) }

// resolve returns the directory that a text starts from and the rest of the text.
func (c config) resolve(text string) (root, rest string) {
	if below, ok := c.belowEnvironment(text); ok {
		return c.environmentDir(), below
	}
	if isAbsolute(text) {
		return "", text
	}
	return c.root, text
}

// divided is a path or glob below a datadir, divided into a directory that is the same for every request, and the
// remaining texts of datadir and path. That of the datadir ends with a slash, or is empty.
type divided struct {
	dir, datadir, path string
	forData            bool // dir has nothing but data
	tooWide            bool // the directory is too large to search
}

// divide divides a path. If the path is absolute or leads out of the datadir, its leading constant names become part of
// the directory: only variables must not lead out.
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

// treeOf returns the tree of the directory; nil if it does not exist.
func (c config) treeOf(d divided) *site.Tree {
	if d.tooWide {
		return nil
	}
	return c.treeAt(d.dir, d.forData)
}

func joinDir(dir, text string) string { return filepath.Join(dir, filepath.FromSlash(text)) }

// constantNames returns the leading directories of a path that contain no variable and no wildcard.
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

// hasDots reports whether one of the names of a path is '..'.
func hasDots(names string) bool { return slices.Contains(strings.Split(names, "/"), "..") }

// clean removes each '..' with the name before it. names do not lead out.
func clean(names string) string {
	if names = path.Clean(names); names != "." {
		return names + "/"
	}
	return ""
}

// checkDatadir records a datadir of the site that does not exist. The authors of modules are responsible for theirs.
func (c config) checkDatadir(at diag.Pos, source dataSource) {
	dir := source.datadir
	if c.Module != "" || c.checked[dir] || c.hasDatadir(dir) {
		return
	}
	c.checked[dir] = true
	d := diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "data_directory"}
	if isAbsolute(dir) {
		d.Hint = c.absoluteHint()
	}
	if strings.Contains(dir, "%{") || isAbsolute(dir) {
		d.Message = "no directory matches the datadir '" + dir + "'; level '" + source.level +
			"', and every other level with this datadir, finds no data"
	} else {
		d.Message = "there is no directory '" + dir + "' next to this file; this entry never finds data"
	}
	c.absent = append(c.absent, d)
}

// WarnOfAbsent reports the directories and files that were noted as absent, unless the site has errors: then they would
// only distract. It must be called after all files are parsed, so that the report does not depend on their order.
func (r *Reader) WarnOfAbsent() {
	if r.Diags.Failed() {
		return
	}
	for _, d := range r.absent {
		r.Diags.Add(d)
	}
}

// absoluteHint explains which absolute paths are inside the site.
func (c config) absoluteHint() string {
	return "write a path relative to this file; of absolute paths, those below " +
		path.Join(c.codedir, "environments") + "/%{environment} are in the site, see --codedir"
}

// hasRelative reports whether one of the paths of an entry is relative. Otherwise its datadir has no effect.
func hasRelative(places *yaml.Node) bool {
	texts := site.StringsOf(places)
	if text, ok := places.Text(); ok {
		texts = []string{text}
	}
	return slices.ContainsFunc(texts, func(text string) bool { return !isAbsolute(text) })
}

// hasDatadir reports whether a datadir exists, or may exist if it depends on the request.
func (c config) hasDatadir(datadir string) bool {
	d := c.divide(datadir, "", false)
	tree := c.treeOf(d)
	node, problems := expr.ParseHiera(d.datadir)
	if tree == nil || d.datadir == "" || len(problems) > 0 { // which are reported
		return tree != nil
	}
	pattern := pathPattern(withoutDots(partsOf(node)))
	matches := func(f site.Listed) bool { return pattern.MatchString(f.Path + "/") }
	return pattern.MatchString("") || slices.ContainsFunc(tree.Below("", -1, true), matches)
}

// checkAbsolute records an absolute path or glob of the site that matches no file.
func (c config) checkAbsolute(at diag.Pos, source dataSource, path string, found bool) {
	if c.Module != "" || found || !isAbsolute(path) {
		return
	}
	c.absent = append(c.absent, diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "data_directory",
		Message: "no file matches '" + path + "'; level '" + source.level + "' finds no data there",
		Hint:    c.absoluteHint()})
}
