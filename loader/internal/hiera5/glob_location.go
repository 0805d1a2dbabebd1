package hiera5

import (
	"slices"
	"strconv"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/loader/internal/site"
)

// maxFoundAgain limits how often globs match files that another glob has matched. Without the limit, many globs over
// the same files would take time in proportion to the number of globs times the number of files.
const maxFoundAgain = 1 << 19

// countAgain counts a match against maxFoundAgain if another glob has already matched the file. It returns false if
// the limit is exceeded, and reports the first glob that exceeds it.
func (c config) countAgain(at diag.Pos, found *site.File) bool {
	if !c.globbed[found] {
		c.globbed[found] = true
		return true
	}
	if c.foundAgain--; c.foundAgain == -1 {
		c.Doc.Diags.Add(diag.Diagnostic{Pos: at, Code: "hierarchy",
			Message: "too many globs of this site match the same files",
			Hint:    "write fewer globs, or globs that match different files"})
	}
	return c.foundAgain >= 0
}

func (c config) tooManyReadings(at diag.Pos, p location, f site.Listed) {
	c.Doc.Diags.Add(diag.Diagnostic{Pos: at, Code: "hierarchy",
		Message: "the variables of this glob have more than " + strconv.Itoa(maxReadings) + " values for which it matches '" +
			p.tree.Path(f.Path) + "'",
		Hint: "remove a wildcard next to a variable, or separate the two by text, such as '-'"})
}

// glob returns the location of a glob without braces. The location has a condition for each string that the
// interpolations can produce, with the files that match it.
func (c config) glob(at diag.Pos, source dataSource, text string) Location {
	l := Location{files: map[int][]*site.File{}}
	p, ok := c.locate(at, source, text, true)
	if !ok {
		return l
	}
	c.recordPath(at, p.node, p.text)
	l.written = c.writtenForm("glob", p, text)
	elems := globElements(withoutDots(p.parts))
	if open := unclosed(text, elems); open != "" {
		c.Diags.Add(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "data_path",
			Message: "'" + open + "' is not closed, so this glob matches no file, as in Puppet",
			Hint:    "close it, or write '\\" + open + "' for the character"})
		return l
	}
	if c.foundAgain < 0 {
		return l
	}
	for _, f := range c.usable(p, p.tree.Below("", -1, true), false, func(string) bool { return true }) {
		readings, ok := readGlob(elems, f.Path, p.tree.IsLink)
		if !ok {
			c.tooManyReadings(at, p, f)
			return l
		}
		counted := false
		for _, values := range readings {
			text := expr.CleanPath(fillGlob(p.parts, values))
			if text == "" {
				continue // these values make the path absolute or lead out of the directory
			}
			found := c.wantFile(p, f, source)
			if !counted && !c.countAgain(at, found) {
				return l
			}
			counted = true
			l.find(c.conditionFor(p, text), found)
		}
	}
	c.checkLost(at, p, elems)
	c.checkAbsolute(at, source, text, len(l.files) > 0)
	return l
}

// checkLost reports broken links that a glob matches: Puppet fails every lookup that reaches the glob.
func (c config) checkLost(at diag.Pos, p location, elems []globElement) {
	if p.tree == nil {
		return
	}
	lost := slices.Clone(*p.tree.Lost)
	slices.Sort(lost)
	for _, path := range slices.Compact(lost) {
		readings, _ := readGlob(elems, path, p.tree.IsLink)
		if !slices.ContainsFunc(readings, func(values []string) bool {
			return expr.CleanPath(fillGlob(p.parts, values)) != "" // "" leads out of the directory
		}) {
			continue
		}
		p.tree.Globbed[path] = true
		d := diag.Diagnostic{Pos: diag.Pos{File: p.tree.Path(path)}, Code: "read",
			Message: "broken symbolic link: Puppet fails every lookup that reaches the glob",
			Hint:    "create the file that it refers to, or remove the link",
			Notes:   []diag.Note{{Pos: at, Message: "this glob matches it"}}}
		if c.Module != "" {
			d.Severity = diag.Warning
		}
		c.Diags.Add(d)
	}
}
