package hiera5

import (
	"cmp"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/expr"
	"bindc/internal/syntax"
	"bindc/internal/value"
	"bindc/loader/internal/site"
)

// location is a path or glob below a known directory, parsed into constant text and interpolations.
type location struct {
	tree *site.Tree // nil if the directory does not exist

	dirLabel string // name of the directory in Inputs
	text     string
	parts    []*expr.Node // parts of the datadir, then of the path, as in the source
	dir      *expr.Node   // the datadir from its first variable on, with a trailing slash
	path     *expr.Node
	node     *expr.Node // the expression for dir and path together
}

// locate parses a path or glob and finds its directory. It returns false after an error, and for an empty path, which
// names the datadir itself.
func (c config) locate(at diag.Pos, source dataSource, path string, isGlob bool) (location, bool) {
	d := c.divide(source.datadir, path, isGlob)
	p := location{text: d.datadir + d.path}
	below, problems := expr.ParseHiera(d.datadir)
	node, more := expr.ParseHiera(d.path)
	problems = append(problems, more...)
	p.dir, p.path, p.node, p.parts = below, node, node, slices.Concat(partsOf(below), partsOf(node))
	if method := expr.HieraCall(p.text); method != "" && len(problems) == 0 {
		problems = append(problems, expr.Problem{Message: "Puppet allows no methods such as " + method +
			"() in a path: all lookups would fail; write a variable, such as %{facts.os.family}, or plain text"})
	}
	for _, problem := range problems {
		c.Doc.Diags.Add(diag.Diagnostic{Pos: at, Code: "interpolation", Message: problem.Message,
			Fix: c.Diags.Correct(problem.Method, expr.HieraMethods)})
	}
	for _, e := range slices.Concat(syntax.MisspeltHiera(below), syntax.MisspeltHiera(node)) {
		c.Diags.Add(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "fact", Message: e.Message, Hint: e.Hint,
			Fix: e.Fix})
	}
	if p.parts == nil {
		return location{}, false
	}
	p.tree, p.dirLabel = c.treeOf(d), c.Label(d.dir)
	c.named = append(c.named, namedPath{at, p.tree, p.text})
	c.checkDots(at, p)
	c.checkClosed(at, p)
	if len(p.parts) > 1 || p.parts[0].Op != expr.Const {
		p.node = expr.HieraPath(below, node)
	}
	return p, len(problems) == 0
}

// checkClosed warns about '%{' without '}', and about '${'. Puppet reads both as text, so the path matches no file.
func (c config) checkClosed(at diag.Pos, p location) {
	if strings.Contains(p.text, "${") {
		c.Diags.Add(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "hiera_interpolation",
			Message: "'${' is plain text here, as in Puppet", Hint: "write '%{' for a variable"})
	}
	if i := strings.LastIndex(p.text, "%{"); i >= 0 && !strings.Contains(p.text[i:], "}") {
		c.Diags.Add(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "hiera_interpolation",
			Message: "this '%{' is not closed: '" + p.text[i:] + "' is plain text, as in Puppet",
			Hint:    "close it with '}'"})
	}
}

// checkDots warns about '..' after a variable: such a path matches no file.
func (c config) checkDots(at diag.Pos, p location) {
	var b strings.Builder
	for i, n := range p.parts {
		if v, ok := n.Constant(); !ok {
			b.WriteByte('x')
		} else if i > 0 {
			b.WriteString(v.Text())
		}
	}
	if hasDots(b.String()) {
		c.Diags.Add(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "data_path",
			Message: "'" + p.text + "' has '..' after a variable; it matches no file",
			Hint:    "write the path without '..', or with '..' before the first variable"})
	}
}

// partsOf returns the constant texts and interpolations of n, or nil if n is the empty string.
func partsOf(n *expr.Node) []*expr.Node {
	if n.Op == expr.Concat {
		return n.Kids
	}
	if v, ok := n.Constant(); ok && v.Text() == "" {
		return nil
	}
	return []*expr.Node{n}
}

// withoutDots removes redundant slashes and dots from parts, so that they match the paths of files.
func withoutDots(parts []*expr.Node) []*expr.Node {
	var out []*expr.Node
	begins := true // the next part is at the start of a name
	for _, n := range parts {
		v, ok := n.Constant()
		text := withoutDot(v.Text(), begins)
		begins = strings.HasSuffix(v.Text(), "/")
		switch {
		case !ok:
			out = append(out, n)
		case text != "":
			out = append(out, &expr.Node{Op: expr.Const, Value: value.FromString(text)})
		}
	}
	return out
}

// withoutDot removes empty names and '.' from a string between interpolations. The first and last name are kept if they
// may be part of a longer name. An absolute text stays absolute.
func withoutDot(text string, begins bool) string {
	if begins && strings.HasPrefix(text, "/") {
		return text
	}
	names := strings.Split(text, "/")
	last := len(names) - 1
	var out []string
	for i, name := range names {
		if i == last || i == 0 && !begins || name != "" && name != "." {
			out = append(out, name)
		}
	}
	return strings.Join(out, "/")
}

// treeAt returns the tree of a directory, or nil if it does not exist. forData means that the directory contains only
// data.
func (c config) treeAt(dir string, forData bool) *site.Tree {
	t, seen := c.Trees[dir]
	if !seen {
		if real, ok := c.RealUnlessDangling(dir); ok {
			t = &site.Tree{Files: c.Files, Dir: dir, Real: real, Roots: c.Modules.Roots, Dangling: true,
				Lost: new([]string), Globbed: map[string]bool{}}
		}
		c.Trees[dir] = t
	}
	if t != nil {
		t.ForData = t.ForData || forData
	}
	return t
}

// conditionFor returns the condition that p results in the path text. For a constant path, it is the empty condition.
func (c config) conditionFor(p location, text string) int {
	if _, constant := p.node.Constant(); constant {
		return 0
	}
	return c.Condition(site.Condition{{Dimension: c.Whole(p.node, p.text), Value: text}})
}

// recordPath records a path with variables. If a request cannot compute the path, all its lookups fail, even if no
// file matches the path or if it is in default_hierarchy.
func (c config) recordPath(at diag.Pos, n *expr.Node, text string) {
	if _, constant := n.Constant(); !constant {
		i := c.Whole(n, text)
		c.All[i].ValuePos = cmp.Or(c.All[i].ValuePos, at)
		c.Paths = append(c.Paths, i)
	}
}

func (c config) path(at diag.Pos, source dataSource, path string) Location {
	l := Location{files: map[int][]*site.File{}}
	p, ok := c.locate(at, source, path, false)
	if ok {
		c.recordPath(at, p.node, p.text)
		l.written = c.writtenForm("path", p, path)
		files := c.matchingFiles(p)
		for _, f := range files {
			l.add(c.conditionFor(p, f.Path), c.wantFile(p, f, source))
		}
		c.checkAbsolute(at, source, path, len(files) > 0)
		c.checkExtension(at, path, source, files)
	}
	return l
}

// checkExtension warns about a path without an extension, as used in Hiera 3 and Hiera 2. Hiera 5 adds no extension, so
// such a path matches nothing, unless a variable at its end includes the extension.
func (c config) checkExtension(at diag.Pos, path string, source dataSource, files []site.Listed) {
	named := path[strings.LastIndexByte(path, '/')+1:]
	if i := strings.LastIndexByte(path, '}'); i > strings.LastIndexByte(path, '/') {
		named = path[i:]
		if open := strings.LastIndex(path, "%{"); named == "}" && open > 0 && path[open-1] == '.' {
			return
		}
	}
	meant := func(f site.Listed) bool {
		return site.IsDataExtension(filepath.Ext(f.Path)) || filepath.Ext(f.Path) == ".eyaml"
	}
	if strings.Contains(named, ".") || slices.ContainsFunc(files, func(f site.Listed) bool { return !meant(f) }) {
		return
	}
	ext := ".yaml"
	if source.kind == datafile.Hiera5JSON {
		ext = ".json"
	}
	c.Diags.Add(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "path_extension",
		Message: "this path has no extension, and Hiera 5 adds none: it matches no data file",
		Hint:    "write '" + path + ext + "'", Fix: diag.Fix{Old: path, New: path + ext, Syntax: true}})
}

// mapped returns the locations of mapped_paths. The first is for a variable with exactly one element. The others are
// for the elements of a longer list, one for each possible element.
func (c config) mapped(at diag.Pos, source dataSource, texts []string) []Location {
	p, ok := c.locate(at, source, texts[2], false)
	if !ok {
		return nil
	}
	out := make([]Location, 1+expr.MaxMapped)
	out[0].Only = true
	fitting := c.matchingFiles(p)
	c.checkAbsolute(at, source, texts[2], len(fitting) > 0)
	for i := range out {
		n, problem := expr.HieraMapped(i-1, texts[0], texts[1], p.path)
		if problem != "" {
			c.Doc.Diags.Errorf(at, "interpolation", "%s", problem)
			return nil
		}
		mapped := p
		mapped.node = expr.HieraPath(p.dir, n)
		c.recordPath(at, mapped.node, mapped.text)
		if i == 0 {
			out[i].written = c.writtenForm("mapped_paths", mapped, texts[2])
		}
		out[i].files = map[int][]*site.File{}
		for _, f := range fitting {
			out[i].add(c.conditionFor(mapped, f.Path), c.wantFile(p, f, source))
		}
	}
	return out
}

func (l *Location) add(condition int, f *site.File) {
	if _, ok := l.files[condition]; !ok {
		l.conditions = append(l.conditions, condition)
	}
	l.files[condition] = append(l.files[condition], f)
}

// find adds f under a condition unless it is already there. A glob may match a file in several ways.
func (l *Location) find(condition int, f *site.File) {
	if !slices.Contains(l.files[condition], f) {
		l.add(condition, f)
	}
}

func (c config) wantFile(p location, f site.Listed, source dataSource) *site.File {
	path := p.tree.Path(f.Path)
	return c.Enqueue(&site.File{Path: path, Label: c.Label(path), Data: true, Kind: source.kind})
}

// matchingFiles returns the files that match p in at least one possible request.
func (c config) matchingFiles(p location) []site.Listed {
	if text, ok := p.node.Constant(); ok {
		return c.usable(p, p.tree.Below(dirOf(expr.CleanPath(text.Text())), 0, true), true, func(path string) bool {
			return path == expr.CleanPath(text.Text())
		})
	}
	parts := withoutDots(p.parts)
	begin, _ := parts[0].Constant()
	pattern := pathPattern(parts)
	_, ends := parts[len(parts)-1].Constant()
	return c.usable(p, p.tree.Below(expr.CleanPath(dirOf(begin.Text())), -1, true), ends, func(path string) bool {
		return pattern.MatchString(path) && (ends || mayBeData(path))
	})
}

// otherFiles lists extensions of files that are not data but are often next to data files in control repositories.
var otherFiles = []string{".adoc", ".bak", ".epp", ".erb", ".md", ".pem", ".pp", ".py", ".rb", ".rst", ".sh", ".txt"}

// mayBeData reports whether a file that matches a path ending in a variable may be a data file.
func mayBeData(path string) bool { return !slices.Contains(otherFiles, filepath.Ext(path)) }

func dirOf(path string) string { return path[:strings.LastIndexByte(path, '/')+1] }

// usable returns the files that fits accepts, and reports unreadable files. A directory in place of a file is kept
// only if namesFile is true: Puppet fails every lookup that reaches it.
func (c config) usable(p location, files []site.Listed, namesFile bool, fits func(string) bool) []site.Listed {
	var out []site.Listed
	for _, f := range files {
		if !fits(f.Path) || strings.HasPrefix(f.Path, ".git/") {
			continue
		}
		if f.Err != nil {
			isDir, _ := c.Disk.IsDir(p.tree.Path(f.Path))
			if !isDir {
				c.Failed(p.tree.Path(f.Path), f.Err)
			}
			if !isDir || !namesFile {
				continue
			}
		}
		out = append(out, f)
	}
	return out
}

// pathPattern returns a pattern for the paths that parts can result in. An empty interpolation between two slashes
// removes one of them, as file systems do.
func pathPattern(parts []*expr.Node) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("(?s)^")
	slash := true // the text so far ends with a slash
	for i := 0; i < len(parts); i++ {
		if v, ok := parts[i].Constant(); ok {
			b.WriteString(regexp.QuoteMeta(v.Text()))
			slash = strings.HasSuffix(v.Text(), "/")
			continue
		}
		if i+1 < len(parts) {
			v, ok := parts[i+1].Constant()
			if !ok {
				continue // adjacent interpolations match like one
			}
			if slash && strings.HasPrefix(v.Text(), "/") {
				b.WriteString("(?:.*/)?" + regexp.QuoteMeta(strings.TrimPrefix(v.Text(), "/")))
				slash = strings.HasSuffix(v.Text(), "/")
				i++
				continue
			}
		}
		b.WriteString(".*")
	}
	return regexp.MustCompile(b.String() + "$")
}
