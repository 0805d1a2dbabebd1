package loader

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"bindc/internal/diag"
	"bindc/internal/expr"
	"bindc/internal/syntax"
	"bindc/internal/value"
)

// template is a path or a value expression: text with references, which are read back from the names of files.
type template struct {
	node      *expr.Node
	parts     []part
	canonical string // the template as one text, references between NUL bytes

	refs          int    // how many of the parts are references
	before, after string // the text before the first and after the last of them
}

// part is text, or a reference known by its source.
type part struct {
	text string
	ref  string
	node *expr.Node
}

// pathTemplate is templateOf without the parts of a path that mean nothing: './data//common' is 'data/common'.
func pathTemplate(n *expr.Node) template {
	t := templateOf(n)
	changed := false
	for i, p := range t.parts {
		text := p.text
		for strings.Contains(text, "//") || strings.Contains(text, "/./") {
			text = strings.ReplaceAll(strings.ReplaceAll(text, "/./", "/"), "//", "/")
		}
		if i == 0 {
			text = strings.TrimPrefix(text, "./")
		}
		changed = changed || text != p.text
		t.parts[i].text = text
	}
	if !changed {
		return t
	}
	out := &expr.Node{Op: expr.Concat, Off: n.Off}
	for _, p := range t.parts {
		if p.node == nil {
			p.node = &expr.Node{Op: expr.Const, Value: value.FromString(p.text)}
		}
		out.Kids = append(out.Kids, p.node)
	}
	return templateOf(out)
}

func templateOf(n *expr.Node) template {
	kids := []*expr.Node{n}
	if n.Op == expr.Concat {
		kids = n.Kids
	}
	t := template{node: n}
	for _, k := range kids {
		if v, ok := k.Constant(); ok && v.Kind() == value.String {
			t.parts = append(t.parts, part{text: v.Text()})
		} else {
			t.parts = append(t.parts, part{ref: syntax.Print(k), node: k})
		}
	}
	for _, p := range t.parts {
		switch {
		case p.node != nil:
			t.canonical += "\x00" + p.ref + "\x00"
			t.refs++
			t.after = ""
		case t.refs == 0:
			t.canonical += p.text
			t.before += p.text
		default:
			t.canonical += p.text
			t.after += p.text
		}
	}
	return t
}

// ways counts the ways to read path backwards; two stand for any number. Most templates have one reference, which takes
// what the text around it leaves.
func (t template) ways(path string) int {
	if isHidden(path) && !isHidden(t.canonical) {
		return 0
	}
	if t.refs != 1 {
		return len(t.solve(path))
	}
	if len(path) < len(t.before)+len(t.after) || !strings.HasPrefix(path, t.before) || !strings.HasSuffix(path, t.after) {
		return 0
	}
	return 1
}

// isHidden tells whether a part of path begins with a dot. Such files are a tool's or an editor's; as in a shell, a variable
// does not stand for their names.
func isHidden(path string) bool { return strings.HasPrefix(path, ".") || strings.Contains(path, "/.") }

// fixedDir is the directory all paths of the template are in.
func (t template) fixedDir() string {
	if len(t.parts) == 0 || t.parts[0].node != nil {
		return ""
	}
	return t.parts[0].text[:strings.LastIndexByte(t.parts[0].text, '/')+1]
}

// solve reads path backwards: every way to give the references values so that the template yields path; two at most, as
// more than one is as good as any number.
func (t template) solve(path string) []map[string]string {
	var out []map[string]string
	var try func(parts []part, rest string, bound map[string]string)
	try = func(parts []part, rest string, bound map[string]string) {
		if len(out) > 1 {
			return
		}
		if len(parts) == 0 {
			if rest == "" {
				solution := make(map[string]string, len(bound))
				for k, v := range bound {
					solution[k] = v
				}
				out = append(out, solution)
			}
			return
		}
		p := parts[0]
		if p.node == nil {
			if tail, ok := strings.CutPrefix(rest, p.text); ok {
				try(parts[1:], tail, bound)
			}
			return
		}
		if known, ok := bound[p.ref]; ok {
			if len(rest) >= len(known) && Fold(rest[:len(known)]) == Fold(known) {
				try(parts[1:], rest[len(known):], bound)
			}
			return
		}
		shortest := 0
		if len(parts) == 1 {
			shortest = len(rest)
		}
		for n := shortest; n <= len(rest); n++ {
			bound[p.ref] = rest[:n]
			try(parts[1:], rest[n:], bound)
		}
		delete(bound, p.ref)
	}
	if t.mayFit(path) {
		try(t.parts, path, map[string]string{})
	}
	return out
}

// mayFit looks at both ends only, which settles most files.
func (t template) mayFit(path string) bool {
	if len(t.parts) == 0 {
		return false
	}
	first, last := t.parts[0], t.parts[len(t.parts)-1]
	return strings.HasPrefix(path, first.text) && strings.HasSuffix(path, last.text)
}

// fill is the text of the template for known references.
func (t template) fill(bound map[string]string) (string, bool) {
	var b strings.Builder
	for _, p := range t.parts {
		text := p.text
		if p.node != nil {
			var ok bool
			if text, ok = bound[p.ref]; !ok {
				return "", false
			}
		}
		b.WriteString(text)
	}
	return b.String(), true
}

// entryFiles lists the files an entry of a hierarchy can serve, each with the condition it stands for.
func (l *load) entryFiles(h *hieraDir, e hierarchyEntry) []dataFile {
	c := entryCollector{load: l, h: h, e: e}
	files := len(c.listing())
	c.at, c.folded = make(map[string]int, files), make(map[string]string, files)
	c.whole = c.ambiguous()
	for _, backend := range h.backends {
		if builtinBackend(backend) {
			c.files(backend)
		} else {
			c.extension(backend)
		}
	}
	return c.out
}

// entryCollector lists the files of one entry.
type entryCollector struct {
	*load
	h      *hieraDir
	e      hierarchyEntry
	whole  bool // paths are compared as a whole, as some can be read backwards in several ways
	out    []dataFile
	at     map[string]int    // path without extension, its place in out
	folded map[string]string // paths seen, by their folded form
}

// listing is the files among which those of the entry are. A path without references can only be one that lies in its
// directory itself: the tens of thousands that may be below need not be looked at.
func (c *entryCollector) listing() []listed {
	return c.list(c.h.dir, c.e.path.fixedDir(), c.e.path.refs > 0)
}

// ambiguous tells whether the path of some file can be read backwards in several ways. Then no file of the entry is told
// apart by single references: guards of both kinds would hide that two files are never effective together.
func (c *entryCollector) ambiguous() bool {
	for _, f := range c.listing() {
		path := strings.TrimSuffix(f.path, filepath.Ext(f.path))
		if c.e.path.ways(path) > 1 {
			return true
		}
	}
	return false
}

func (c *entryCollector) files(backend string) {
	for _, f := range c.listing() {
		path, ok := strings.CutSuffix(f.path, "."+backend)
		if !ok {
			c.warnOfYml(backend, f)
			continue
		}
		condition, ok := c.conditionOf(c.e, path, c.whole)
		if ok && c.usable(c.h, f, path, c.folded) {
			c.add(path, condition, c.wantData(c.h, f.path))
		}
	}
}

// warnOfYml tells of a file that fits but for its extension, which Hiera does not read either.
func (c *entryCollector) warnOfYml(backend string, f listed) {
	path, ok := strings.CutSuffix(f.path, ".yml")
	if ok && backend == "yaml" && c.e.path.ways(path) > 0 {
		c.diags.Add(diag.Diagnostic{Pos: diag.Pos{File: filepath.Join(c.h.dir, f.path)}, Severity: diag.Warning, Code: "data_path",
			Message: "this file is not read: data files end in '.yaml'", Hint: "rename it to " + filepath.Base(path) + ".yaml"})
	}
}

// extension asks a backend of an extension for the path, if it has no references, and else for every path that a file
// of whatever extension is there for: which nodes there are, only files say.
func (c *entryCollector) extension(backend string) {
	names := map[string]bool{}
	if path, ok := c.e.path.fill(nil); ok {
		names[path] = true
	}
	for _, f := range c.listing() {
		names[strings.TrimSuffix(f.path, filepath.Ext(f.path))] = true
	}
	for _, path := range slices.Sorted(maps.Keys(names)) {
		if condition, ok := c.conditionOf(c.e, path, c.whole); ok {
			c.add(path, condition, c.wantBackend(c.h, backend, path))
		}
	}
}

func (c *entryCollector) add(path string, condition int, f *file) {
	i, ok := c.at[path]
	if !ok {
		i = len(c.out)
		c.at[path] = i
		c.out = append(c.out, dataFile{condition: condition})
	}
	c.out[i].files = append(c.out[i].files, f)
}

// usable refuses a file that a link leads out to, and one of two files whose names differ in case only.
func (l *load) usable(h *hieraDir, f listed, path string, folded map[string]string) bool {
	at := diag.Pos{File: filepath.Join(h.dir, f.path)}
	if f.outside {
		l.diags.Errorf(at, "data_path", "this symbolic link leads out of the directory of its hiera.yaml; copy the file")
		return false
	}
	other, ok := folded[Fold(path)]
	if ok && strings.TrimSuffix(other, filepath.Ext(other)) != path {
		l.diags.Add(diag.Diagnostic{Pos: at, Code: "data_path", Message: "the names of two data files differ in case only, and values are compared without regard to case",
			Notes: []diag.Note{{Pos: diag.Pos{File: filepath.Join(h.dir, other)}, Message: "the other one"}}, Hint: "merge them into one"})
		return false
	}
	folded[Fold(path)] = f.path
	return true
}

// conditionOf is the condition under which an entry's path is path, if it ever is.
//
// Where the path is the category's value between fixed texts, the file name says which value. Otherwise the references
// are read back, if there is one way to; what the value does not determine becomes guards. With whole, the
// path itself is a guard: it is computed for each request and compared.
func (l *load) conditionOf(e hierarchyEntry, path string, whole bool) (int, bool) {
	if e.path.ways(path) == 0 {
		return 0, false
	}
	if e.category >= 0 {
		if v, ok := within(e.path.canonical, e.value.canonical, path); ok {
			return l.condition(Condition{{e.category, Fold(v)}}), v != ""
		}
	}
	if whole {
		return l.condition(Condition{{l.guard(e.category, e.path.node), Fold(path)}}), true
	}
	solution := e.path.solve(path)[0]
	var terms Condition
	determined := map[string]bool{}
	if e.category >= 0 {
		v, ok := e.value.fill(solution)
		if !ok {
			return l.condition(Condition{{l.guard(e.category, e.path.node), Fold(path)}}), true
		}
		if v == "" {
			return 0, false
		}
		terms = append(terms, Term{e.category, Fold(v)})
		for _, p := range e.value.parts {
			determined[p.ref] = true
		}
	}
	for _, p := range e.path.parts {
		if p.node != nil && !determined[p.ref] {
			determined[p.ref] = true
			terms = append(terms, Term{l.guard(e.category, &expr.Node{Op: expr.Concat, Kids: []*expr.Node{p.node}}), Fold(solution[p.ref])})
		}
	}
	return l.condition(terms), true
}

// within is what stands in path where template has value, if only fixed text is around it.
func within(template, value, path string) (string, bool) {
	before, after, ok := strings.Cut(template, value)
	if !ok || !strings.Contains(value, "\x00") || strings.Contains(before+after, "\x00") || len(before)+len(after) > len(path) {
		return "", false
	}
	return path[len(before) : len(path)-len(after)], true
}

// guard is the dimension that yields n for requests that have a value of category.
func (l *load) guard(category int, n *expr.Node) int {
	key := strconv.Itoa(category) + " " + syntax.Print(n)
	d, ok := l.guards[key]
	if !ok {
		d = len(l.site.Dimensions)
		l.guards[key] = d
		l.site.Dimensions = append(l.site.Dimensions, Dimension{Name: syntax.Print(n), Category: category, Guard: true, Value: n})
	}
	return d
}

// condition is the index of c in the site.
func (l *load) condition(c Condition) int {
	slices.SortFunc(c, func(a, b Term) int { return a.Dimension - b.Dimension })
	var key strings.Builder
	for _, t := range c {
		key.WriteString(strconv.Itoa(t.Dimension) + "=" + t.Value + "\x00")
	}
	i, ok := l.conditions[key.String()]
	if !ok {
		i = len(l.site.Conditions)
		l.conditions[key.String()] = i
		l.site.Conditions = append(l.site.Conditions, c)
	}
	return i
}

// listed is one file below a directory.
type listed struct {
	path    string // with slashes, relative to the Hiera-2 directory
	outside bool   // a link that leads out of that directory
}

// list is the files in root/dir, with deep also those below, sorted.
func (l *load) list(root, dir string, deep bool) []listed {
	start := filepath.Join(root, filepath.FromSlash(dir))
	key, links := root+"\x00"+dir, 0
	if !deep {
		key, links = key+"\x00", linkDepth
	}
	out, ok := l.listings[key]
	if ok {
		return out
	}
	dir = strings.TrimSuffix(dir, "/")
	real, err := filepath.EvalSymlinks(root)
	target, startErr := filepath.EvalSymlinks(start)
	if err == nil && startErr == nil { // else there is no such directory, and no files
		if _, inside := below(real, target); inside {
			out = walk(nil, root, real, dir, links)
		} else {
			out = outsideFiles(start, dir)
		}
	}
	out = slices.DeleteFunc(out, func(f listed) bool { return slices.Contains(notData, f.path) })
	l.listings[key] = out
	return out
}

// notData are files of a site or module that can stand at the root of a Hiera-2 directory and are no data, whatever path
// of a hierarchy they fit.
var notData = []string{"hiera.yaml", "binder_config.yaml", "bindings_config.yaml", "metadata.json"}

// linkDepth bounds how many linked directories are followed inside each other: links can form a ring.
const linkDepth = 8

func walk(out []listed, root, real, dir string, links int) []listed {
	entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(dir)))
	if err != nil {
		return out // a directory of the hierarchy that is not there has no files
	}
	for _, e := range entries {
		path := e.Name()
		if dir != "" {
			path = dir + "/" + path
		}
		mode, into, outside := e.Type(), links, false
		if mode&fs.ModeSymlink != 0 {
			target, err := filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(path)))
			info, statErr := os.Stat(target)
			if err != nil || statErr != nil {
				continue
			}
			_, inside := below(real, target)
			mode, into, outside = info.Mode().Type(), links+1, !inside
		}
		switch {
		case mode.IsRegular():
			out = append(out, listed{path, outside})
		case mode.IsDir() && outside:
			out = append(out, outsideFiles(filepath.Join(root, filepath.FromSlash(path)), path)...)
		case mode.IsDir() && into < linkDepth:
			out = walk(out, root, real, path, into)
		}
	}
	return out
}

// outsideFiles are the files a linked directory would add: those that fit a path are errors.
func outsideFiles(dir, path string) []listed {
	var out []listed
	target, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil
	}
	for _, f := range walk(nil, target, target, "", linkDepth-1) {
		out = append(out, listed{path + "/" + f.path, true})
	}
	return out
}
