package loader

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/loader/internal/site"
)

func (r *hiera2Reader) entryFiles(h *hiera2Dir, e hiera2Entry) []dataFile {
	listing := h.tree.Below(e.path.fixedDir(), e.path.depth(), isHidden(e.path.canonical[len(e.path.fixedDir()):]))
	c := entryCollector{hiera2Reader: r, h: h, e: e, listing: listing, out: make([]dataFile, 0, len(listing))}
	if slices.ContainsFunc(listing, func(f site.Listed) bool { return Fold(f.Path) != f.Path }) {
		c.folded = map[string]string{}
	}
	c.whole = c.ambiguous()
	r.Expect(len(listing))
	if e.category >= 0 {
		r.ExpectConditions(e.category, len(listing))
	}
	for _, backend := range h.backends {
		c.earlier, c.at = len(c.out), nil
		if builtinBackend(backend) {
			c.ofBackend(backend)
		} else {
			c.ofExtension(backend)
		}
	}
	c.warnOfExtension()
	return c.out
}

type entryCollector struct {
	*hiera2Reader
	h       *hiera2Dir
	e       hiera2Entry
	listing []site.Listed // the files that may match the entry
	whole   bool          // use the whole path as guard; see ambiguous
	out     []dataFile
	paths   []string          // the path of each element of out, without its extension
	earlier int               // number of paths found by earlier backends
	at      map[string]int    // index in paths of each path found by an earlier backend; nil until needed
	folded  map[string]string // maps case-folded paths to paths; nil if folding changes no path
}

// ambiguous reports whether the path of any file matches the entry in several ways. In that case, all files of the
// entry use the whole path as guard. With a mix of guards, the compiler could not see that two files never apply
// together.
func (c *entryCollector) ambiguous() bool {
	if len(c.e.path.names) < 2 {
		return false
	}
	return slices.ContainsFunc(c.listing, func(f site.Listed) bool {
		return f.Err == nil && len(c.e.path.readings(f.Name())) > 1
	})
}

func (c *entryCollector) ofBackend(backend string) {
	for _, f := range c.listing {
		path, ok := strings.CutSuffix(f.Path, "."+backend)
		if !ok {
			c.warnOfYml(backend, f)
			continue
		}
		condition, ok := c.conditionOf(c.e, path, c.whole)
		if ok && c.usable(f, path) {
			c.add(path, condition, c.WantData(c.h.tree.PathOf(f), c.h.label+f.Path))
		}
	}
}

// warnOfExtension warns if the entry's path has a file extension and no file matches it.
func (c *entryCollector) warnOfExtension() {
	ext := filepath.Ext(c.e.path.parts[len(c.e.path.parts)-1].text)
	if len(c.out) == 0 && site.IsDataExtension(ext) {
		c.Diags.Add(diag.Diagnostic{Pos: c.e.pathAt, Severity: diag.Warning, Code: "path_extension",
			Message: "the path is written with its extension: it matches only files that end in '" + ext + ".yaml'",
			Hint:    "leave '" + ext + "' out: each backend has its own"})
	}
}

// warnOfYml warns about a file that would match if its extension were .yaml. Hiera does not read .yml files either.
func (c *entryCollector) warnOfYml(backend string, f site.Listed) {
	path, ok := strings.CutSuffix(f.Path, ".yml")
	if ok && backend == "yaml" && f.Err == nil && c.e.path.matches(path) {
		at := diag.Pos{File: c.h.tree.Path(f.Path)}
		c.Diags.Add(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "yml",
			Message: "this file is not read: expected the extension '.yaml'",
			Hint:    "rename it to " + filepath.Base(path) + ".yaml"})
	}
}

// ofExtension requests data from an extension. For a path with variables, it requests the path of each matching file,
// with any extension: the files show which values the variables can have.
func (c *entryCollector) ofExtension(backend string) {
	var names []string
	if path, ok := c.e.path.fill(nil); ok {
		names = append(names, path)
	}
	for _, f := range c.listing {
		if f.Err == nil {
			names = append(names, f.Name())
		}
	}
	slices.Sort(names)
	for _, path := range slices.Compact(names) {
		if condition, ok := c.conditionOf(c.e, path, c.whole); ok {
			c.add(path, condition, c.wantBackend(c.h, backend, path))
		}
	}
}

// add adds f under path. If an earlier backend has found the same path, f joins the files of that path. A backend
// never adds a path twice.
func (c *entryCollector) add(path string, condition int, f *site.File) {
	if c.at == nil && c.earlier > 0 {
		c.at = make(map[string]int, c.earlier)
		for i, earlier := range c.paths[:c.earlier] {
			c.at[earlier] = i
		}
	}
	if i, ok := c.at[path]; ok {
		c.out[i].files = append(c.out[i].files, f)
		return
	}
	c.out = append(c.out, dataFile{condition: condition, files: []*site.File{f}})
	c.paths = append(c.paths, path)
}

// usable reports whether a file can be used. It adds an error if the file is unreadable, is a link out of the
// directory, or has a name that differs from another only in case.
func (c *entryCollector) usable(f site.Listed, path string) bool {
	at := func() diag.Pos { return diag.Pos{File: c.h.tree.PathOf(f)} }
	if f.Err != nil {
		c.Failed(at().File, f.Err)
		return false
	}
	if f.Outside {
		c.Diags.Errorf(at(), "data_path",
			"this symbolic link leads out of the directory of its hiera.yaml; copy the file")
		return false
	}
	if c.folded == nil {
		return true
	}
	folded := Fold(path)
	other, ok := c.folded[folded]
	if ok && strings.TrimSuffix(other, filepath.Ext(other)) != path {
		c.Diags.Add(diag.Diagnostic{Pos: at(), Code: "data_path",
			Message: "the names of two data files differ only in case, which is ignored in values",
			Notes:   []diag.Note{{Pos: diag.Pos{File: c.h.tree.Path(other)}, Message: "the other one"}},
			Hint:    "merge them into one"})
		return false
	}
	c.folded[folded] = f.Path
	return true
}

// conditionOf returns the condition under which the path of e is the given path. It returns false if there is no such
// condition.
//
// If e.path consists of the category's value between constant texts, that value is taken from path. Otherwise, path is
// parsed for the values of all variables. The category's term then uses these values, and each variable that the
// category does not determine becomes a guard. If whole is true, the path itself is the guard: each request computes
// its path and compares it.
//
// If the entry's value differs from the category's expression, no variable is determined, and all variables become
// guards. In addition, the request's value of the category must equal the entry's value. If path does not contain that
// value, each request compares the two.
func (r *hiera2Reader) conditionOf(e hiera2Entry, path string, whole bool) (int, bool) {
	readings := e.path.readings(path)
	if len(readings) == 0 {
		return 0, false
	}
	if e.category >= 0 && !e.differs {
		if v, ok := e.path.within(&e.value, path); ok {
			return r.Condition(Condition{{Dimension: e.category, Value: Fold(v)}}), v != ""
		}
	}
	values := map[string]string{}
	if !whole {
		for i, name := range e.path.names {
			values[name] = readings[0][i]
		}
	}
	var terms Condition
	var determined []string
	if e.category >= 0 {
		switch v, ok := e.value.fill(values); {
		case ok && v == "":
			return 0, false
		case ok:
			terms = append(terms, Term{Dimension: e.category, Value: Fold(v)})
			if !e.differs && e.value.determines(v) {
				determined = e.value.names
			}
		case e.differs:
			terms = append(terms, Term{Dimension: r.guardOf(e, r.hasValueOf(e)), Value: "true"})
		default:
			whole = true
		}
	}
	if whole {
		terms = append(terms, Term{Dimension: r.guardOf(e, e.path.node), Value: Fold(path)})
		return r.Condition(terms), true
	}
	for _, p := range e.path.parts {
		if p.ref == nil || slices.Contains(determined, e.path.names[p.ref.name]) {
			continue
		}
		determined = append(slices.Clip(determined), e.path.names[p.ref.name])
		guard := r.guardOf(e, &expr.Node{Op: expr.Concat, Kids: []*expr.Node{p.ref.node}})
		terms = append(terms, Term{Dimension: guard, Value: Fold(readings[0][p.ref.name])})
	}
	return r.Condition(terms), true
}

// guardOf returns the guard dimension whose value is n, an expression in the path of e.
func (r *hiera2Reader) guardOf(e hiera2Entry, n *expr.Node) int {
	i := r.Guard(e.category, n)
	r.All[i].ValuePos = cmp.Or(r.All[i].ValuePos, e.pathAt)
	return i
}
