package lint

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/recipe"
	"bindc/loader"
)

// Fleet describes nodes and their facts.
type Fleet struct {
	Values  [][]string // Values[n][d] is the value of dimension d for node n, or ""
	Known   []string   // variables that at least one node has, with a leading '$'
	Missing []string   // variables that the site uses but no node has, without '$'
}

// CheckFleet warns about variables that no node of a fleet has, and about data that applies to no
// node.
func CheckFleet(site *loader.Site, f Fleet, diags *diag.List) {
	l := &linter{site: site, diags: diags, ignored: map[commentedLine]bool{}, paths: pathsOf(site)}
	c := fleetCheck{linter: l, Fleet: f, values: make([]map[string]bool, len(site.Dimensions)),
		reached: make([]bool, len(site.Conditions)), unreached: map[dimensionValue]*unreached{}}
	if len(f.Values) > 0 {
		c.index()
		c.find()
	}
	l.readFiles(slices.DeleteFunc(l.files(), func(f *file) bool { return !c.isInvolved(f.path) }))
	c.checkVariables()
	c.checkDimensions()
	c.report()
}

// fleetCheck contains the state of CheckFleet.
type fleetCheck struct {
	*linter
	Fleet
	values    []map[string]bool // for each dimension, the values of all nodes in folded case
	reached   []bool            // for each condition, whether it is true for at least one node
	unreached map[dimensionValue]*unreached
}

// unreached describes data that applies to no node. Condition is the single term that is true for
// no node. If there is no such term, it is the whole condition.
type unreached struct {
	loader.Condition
	at    diag.Pos
	count int // number of bindings in the data
	files bool
}

// index sets c.values and c.reached. It tests a condition only for nodes for which its first term
// is true.
func (c *fleetCheck) index() {
	first := map[loader.Term][]int{}
	for i, condition := range c.site.Conditions {
		if len(condition) == 0 {
			c.reached[i] = true
			continue
		}
		first[condition[0]] = append(first[condition[0]], i)
	}
	for i := range c.values {
		c.values[i] = map[string]bool{}
	}
	for _, node := range c.Values {
		values := make([]string, len(node))
		for dim, v := range node {
			if values[dim] = v; !c.site.Dimensions[dim].Exact {
				values[dim] = loader.Fold(v)
			}
			c.values[dim][values[dim]] = true
		}
		for dim, v := range values {
			for _, i := range first[loader.Term{Dimension: dim, Value: v}] {
				c.reached[i] = c.reached[i] || holds(c.site.Conditions[i], values)
			}
		}
	}
}

func holds(condition loader.Condition, values []string) bool {
	return !slices.ContainsFunc(condition, func(t loader.Term) bool { return values[t.Dimension] != t.Value })
}

// find collects the data that applies to no node: files none of whose conditions is true for any
// node, and alternatives of structured bindings.
func (c *fleetCheck) find() {
	files := map[string][]int{} // for each file, the conditions under which it is used, by any name
	type use struct {
		path      string
		condition int
	}
	counts, uses := map[string]int{}, map[string]use{}
	for _, layer := range c.site.Layers {
		for _, contribution := range layer.Contributions {
			for i := range contribution.Files {
				f := &contribution.Files[i]
				target := c.target(f.Path)
				files[target] = append(files[target], f.Condition)
				counts[target] = max(counts[target], len(f.Entries))
				if u, seen := uses[target]; !seen || len(f.Path) < len(u.path) { // the name without links, as a rule
					uses[target] = use{f.Path, f.Condition}
				}
			}
			for _, b := range contribution.Bindings {
				for _, w := range b.When {
					if !c.reached[w] {
						c.addUnreached(c.site.Conditions[w], b.Pos, 1, false)
					}
				}
			}
		}
	}
	for target, conditions := range files {
		if !slices.ContainsFunc(conditions, func(i int) bool { return c.reached[i] }) {
			u := uses[target]
			c.addUnreached(c.site.Conditions[u.condition], diag.Pos{File: u.path}, counts[target], true)
		}
	}
}

// target returns path with symbolic links resolved, or path itself if it is not the path of a file.
func (c *fleetCheck) target(path string) string {
	if real, err := c.opts.Disk.Resolve(path); err == nil {
		return real
	}
	return path
}

// addUnreached records data that applies to no node. Data with the same cause is counted together.
func (c *fleetCheck) addUnreached(condition loader.Condition, at diag.Pos, count int, ofFile bool) {
	for i, t := range condition {
		if !c.values[t.Dimension][t.Value] {
			condition = condition[i : i+1]
			break
		}
	}
	key := dimensionValue{dimension: c.text(condition)}
	if ofFile {
		key.value = at.File
	}
	u := c.unreached[key]
	if u == nil {
		u = &unreached{Condition: condition, at: at, files: ofFile}
		c.unreached[key] = u
	}
	if u.count += count; at.Compare(u.at) < 0 {
		u.at = at
	}
}

func (c *fleetCheck) text(condition loader.Condition) string {
	parts := make([]string, len(condition))
	for i, t := range condition {
		parts[i] = "'" + t.Value + "' for " + c.nameOf(t.Dimension)
	}
	return strings.Join(parts, " and ")
}

func (c *fleetCheck) nameOf(dimension int) string {
	d := c.site.Dimensions[dimension]
	switch {
	case d.Exact:
		return "the path '" + d.Name + "'"
	case d.Guard:
		return d.Name
	}
	return "category '" + d.Name + "'"
}

func (c *fleetCheck) isInvolved(path string) bool {
	for _, u := range c.unreached {
		if u.at.File == path {
			return true
		}
	}
	return false
}

// report warns about data that applies to no node. It leaves out dimensions without any values,
// about which checkDimensions warns. In modules, which have data for other sites too, it warns only
// about probable typos.
func (c *fleetCheck) report() {
	for _, key := range slices.SortedFunc(maps.Keys(c.unreached), func(a, b dimensionValue) int {
		return cmp.Or(strings.Compare(a.dimension, b.dimension), strings.Compare(a.value, b.value))
	}) {
		u := c.unreached[key]
		t := u.Condition[0]
		d := diag.Diagnostic{Pos: u.at, Severity: diag.Warning, Code: "no_node",
			Message: "no node of the fleet has "}
		if at, ok := c.firstUse[dimensionValue{c.site.Dimensions[t.Dimension].Name, t.Value}]; ok && !u.files {
			d.Pos = at
		}
		near := diag.Fix{}
		if len(u.Condition) > 1 {
			d.Message += "both "
		} else {
			near = c.suggestion(t)
			d.Hint, d.Fix = near.Hint(), near
		}
		d.Message += c.text(u.Condition) + "; " + u.subject() + " never used"
		switch {
		case len(u.Condition) == 1 && !c.isUsed(t.Dimension):
		case near.IsNone() && c.module(u.at.File) != "":
		case c.ignored[commentedLine{d.Pos.File, d.Pos.Line, d.Code}]:
		default:
			if d.Hint == "" && len(u.Condition) == 1 {
				d.Hint = c.others(t.Dimension)
			}
			c.diags.Add(d)
		}
	}
}

// subject returns the subject and the verb of a warning about unused data.
func (u *unreached) subject() string {
	if u.files {
		return "the data in this file is"
	}
	if u.count == 1 {
		return "1 binding is"
	}
	return diag.Count(u.count, "binding") + " are"
}

// isUsed reports whether at least one node has a value for a dimension.
func (c *fleetCheck) isUsed(dimension int) bool {
	return !c.isMissing(dimension) && len(c.valuesOf(dimension)) > 0
}

// isMissing reports whether the expression of a dimension uses a variable that no node has.
func (c *fleetCheck) isMissing(dimension int) bool {
	n := c.site.Dimensions[dimension].Value
	return slices.ContainsFunc(c.Missing, func(name string) bool { return mentions(n, name) })
}

// suggestion returns a fix for a term whose value is probably a typo of a node's value.
func (c *fleetCheck) suggestion(t loader.Term) diag.Fix {
	wanted := c.varying(t.Dimension, t.Value)
	var candidates []string
	for _, v := range c.valuesOf(t.Dimension) {
		if v = c.varying(t.Dimension, v); isTypo(wanted, v) {
			candidates = append(candidates, v)
		}
	}
	fix := c.diags.Correct(wanted, candidates)
	fix.Fold = !fix.IsNone()
	return fix
}

// varying returns the part of a value that variables determine. For a Hiera 5 path, it removes the
// extension and the text before the first variable.
func (c *fleetCheck) varying(dimension int, value string) string {
	d := c.site.Dimensions[dimension]
	if !d.Exact {
		return value
	}
	dir, _, _ := strings.Cut(d.Name, "%")
	return strings.TrimSuffix(strings.TrimPrefix(value, dir), filepath.Ext(d.Name))
}

// isTypo reports whether name is probably a typo of other, or is other without its domain. Names
// that differ only in their digits do not count. A domain that both have is not compared.
func isTypo(name, other string) bool {
	if strings.HasPrefix(other, name+".") {
		return true
	}
	a, domain, _ := strings.Cut(name, ".")
	b, same := strings.CutSuffix(other, "."+domain)
	if !same {
		a, b = name, other
	}
	return withoutDigits(a) != withoutDigits(b) && diag.DidYouMean(a, []string{b}) != ""
}

func withoutDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, s)
}

func (c *fleetCheck) valuesOf(dimension int) []string {
	out := slices.Sorted(maps.Keys(c.values[dimension]))
	return slices.DeleteFunc(out, func(v string) bool { return c.varying(dimension, v) == "" })
}

const maxOthers = 8

// others returns a hint that lists the values of a dimension on all nodes. It returns "" if there
// are more than maxOthers.
func (c *fleetCheck) others(dimension int) string {
	values := c.valuesOf(dimension)
	if len(values) > maxOthers {
		return ""
	}
	return "the nodes have " + diag.Quoted(values)
}

// checkVariables warns about each variable that no node has, at the variable's first use.
func (c *fleetCheck) checkVariables() {
	for _, name := range c.Missing {
		fix := c.diags.Correct("$"+name, c.Known)
		hint := strings.ReplaceAll(fix.Hint(), "'", "")
		fix.Old, fix.New = strings.TrimPrefix(fix.Old, "$"), strings.TrimPrefix(fix.New, "$")
		c.diags.Add(diag.Diagnostic{Pos: c.firstUseOf(name), Severity: diag.Warning, Code: "facts_missing",
			Message: "no node of the fleet has $" + name +
				"; everything that depends on it was checked as if it were not set",
			Fix: fix,
			Hint: cmp.Or(hint, "add the fact to the files of the nodes; put a variable that is not a fact next to the facts: "+
				"{certname: NAME, facts: {...}, vars: {"+name+": ...}}")})
	}
}

// firstUseOf returns the position where a category, a path or a value first uses a variable.
func (c *fleetCheck) firstUseOf(name string) diag.Pos {
	for _, d := range c.site.Dimensions {
		if mentions(d.Value, name) {
			return d.ValuePos
		}
	}
	values := map[uint32]bool{}
	for i, v := range c.site.Values {
		if v[0] == recipe.CompiledConstant {
			continue
		}
		if r, err := recipe.Decode(v[1:]); err == nil && mentions(r, name) {
			values[uint32(i)] = true
		}
	}
	var first diag.Pos
	note := func(at diag.Pos) {
		if first == (diag.Pos{}) || at.Compare(first) < 0 {
			first = at
		}
	}
	for b := range c.bindings {
		if values[b.value] {
			note(b.at)
		}
	}
	for b := range c.contributions {
		if r := b.More.Recipe; r != nil && mentions(r, name) {
			note(b.Pos)
		}
	}
	return first
}

// mentions reports whether an expression or a recipe uses the variable name.
func mentions(code interface{ Variables(func(string)) }, name string) bool {
	found := false
	code.Variables(func(v string) { found = found || v == name })
	return found
}

// checkDimensions warns about categories and paths for which no node has a value although all of
// their variables are set.
func (c *fleetCheck) checkDimensions() {
	isUsed := make([]bool, len(c.site.Dimensions))
	for _, u := range c.unreached {
		isUsed[u.Condition[0].Dimension] = true
	}
	for i, d := range c.site.Dimensions {
		if isUsed[i] && !c.isMissing(i) && !c.isUsed(i) {
			c.diags.Add(diag.Diagnostic{Pos: d.ValuePos, Severity: diag.Warning, Code: "no_node",
				Message: "no node of the fleet has a value of " + c.nameOf(i) +
					"; the data for it is never used"})
		}
	}
}
