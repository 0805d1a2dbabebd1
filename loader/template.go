package loader

import (
	"slices"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/relation"
	"bindc/internal/syntax"
	"bindc/internal/value"
)

// template is the path or the value of a hierarchy entry, split into constant text and references to variables.
// Matching it against a path finds the values of the references.
type template struct {
	node      *expr.Node
	parts     []part
	canonical string   // the text, with the source of each reference between NUL bytes
	names     []string // sources of the references, without duplicates

	refs          int    // number of parts that are references
	before, after string // text before the first and after the last reference
}

type part struct {
	text string
	ref  *reference // nil if the part is text
}

// reference is an expression in a template, usually a variable. References with the same source have the same value.
type reference struct {
	name  int // index in template.names
	node  *expr.Node
	plain bool // whether its values never contain '/'
}

func templateOf(n *expr.Node) template {
	kids := []*expr.Node{n}
	if n.Op == expr.Concat {
		kids = n.Kids
	}
	t := template{node: n}
	for _, k := range kids {
		if v, _ := k.Constant(); v.Kind() == value.String {
			t.parts = append(t.parts, part{text: v.Text()})
		} else {
			t.parts = append(t.parts, part{ref: t.reference(k)})
		}
	}
	for _, p := range t.parts {
		switch {
		case p.ref != nil:
			t.canonical += "\x00" + t.names[p.ref.name] + "\x00"
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

func (t *template) reference(n *expr.Node) *reference {
	n = relation.Caseless(n)
	source := syntax.Print(n)
	name := slices.Index(t.names, source)
	if name < 0 {
		name = len(t.names)
		t.names = append(t.names, source)
	}
	return &reference{name, n, relation.WithoutSlash(n)}
}

// pathTemplate returns the template of a path without redundant parts: './data//common' becomes 'data/common'.
func pathTemplate(n *expr.Node) template {
	t := templateOf(n)
	changed := false
	out := &expr.Node{Op: expr.Concat, Off: n.Off}
	for i, p := range t.parts {
		if p.ref != nil {
			out.Kids = append(out.Kids, p.ref.node)
			continue
		}
		text := p.text
		for strings.Contains(text, "//") || strings.Contains(text, "/./") {
			text = strings.ReplaceAll(strings.ReplaceAll(text, "/./", "/"), "//", "/")
		}
		if i == 0 {
			text = strings.TrimPrefix(text, "./")
		}
		changed = changed || text != p.text
		out.Kids = append(out.Kids, &expr.Node{Op: expr.Const, Value: value.FromString(text)})
	}
	if !changed {
		return t
	}
	return templateOf(out)
}

// fixedDir returns the longest constant directory that every path of the template is in.
func (t *template) fixedDir() string { return t.before[:strings.LastIndexByte(t.before, '/')+1] }

// depth returns the maximum depth of the template's paths below fixedDir, or -1 if there is no limit.
func (t *template) depth() int {
	out := strings.Count(t.canonical[len(t.fixedDir()):], "/")
	for _, p := range t.parts {
		switch {
		case p.ref == nil:
		case !p.ref.plain:
			return -1
		default:
			out -= strings.Count(t.names[p.ref.name], "/") // do not count slashes in the source of the reference
		}
	}
	return out
}

// isHidden reports whether an element of path begins with a dot. As in a shell, variables do not match such files: they
// belong to editors and other tools.
func isHidden(path string) bool { return strings.HasPrefix(path, ".") || strings.Contains(path, "/.") }

func (t *template) matches(path string) bool { return len(t.readings(path)) > 0 }

// readings returns the values of the references, in the order of t.names, for each way in which the template matches
// path. It stops after two or three ways, because callers only distinguish none, one and several.
func (t *template) readings(path string) [][]string {
	long := len(path) >= len(t.before)+len(t.after)
	if !long || !strings.HasPrefix(path, t.before) || !strings.HasSuffix(path, t.after) {
		return nil // fast path: most files do not match
	}
	if isHidden(path) && !isHidden(t.canonical) {
		return nil
	}
	if t.refs == 1 { // fast path: a single reference matches all text between the constants
		between := path[len(t.before) : len(path)-len(t.after)]
		if t.onlyRef().plain && strings.Contains(between, "/") {
			return nil
		}
		return [][]string{{between}}
	}
	return matchTemplate(t, path)
}

// onlyRef returns the first reference of the template, which must have one.
func (t *template) onlyRef() *reference {
	return t.parts[slices.IndexFunc(t.parts, func(p part) bool { return p.ref != nil })].ref
}

// matchTemplate returns at most three ways in which the template matches text. Unlike readings, it has no fast path.
func matchTemplate(t *template, text string) [][]string {
	b := templateMatcher{parts: t.parts, values: make([]string, len(t.names)), assigned: make([]bool, len(t.names))}
	b.read(0, text)
	return b.out
}

// maxTemplateSteps limits the steps to match one path. Without a limit, a template with many references could take
// years for a file name like 'a-a-a-a-a-a-a'.
const maxTemplateSteps = 1 << 14

// templateMatcher matches a string against a template by backtracking. If this takes too many steps, the match counts
// as ambiguous. The whole path is then used as guard, which is correct for any template.
type templateMatcher struct {
	parts    []part
	values   []string
	assigned []bool // whether a reference has a value, by index in template.names
	steps    int
	out      [][]string
}

func (b *templateMatcher) read(i int, rest string) {
	b.steps++
	switch {
	case len(b.out) > 1:
		return
	case b.steps > maxTemplateSteps:
		reading := slices.Clone(b.values)
		b.out = append(b.out, reading, reading)
		return
	case i == len(b.parts):
		if rest == "" {
			b.out = append(b.out, slices.Clone(b.values))
		}
		return
	}
	ref := b.parts[i].ref
	switch {
	case ref == nil:
		if tail, ok := strings.CutPrefix(rest, b.parts[i].text); ok {
			b.read(i+1, tail)
		}
	case b.assigned[ref.name]:
		if v := b.values[ref.name]; len(rest) >= len(v) && Fold(rest[:len(v)]) == Fold(v) {
			b.read(i+1, rest[len(v):])
		}
	default:
		b.tryValues(i, ref, rest)
	}
}

// tryValues tries each possible value for ref, whose value is not fixed yet.
func (b *templateMatcher) tryValues(i int, ref *reference, rest string) {
	shortest, longest := 0, len(rest)
	if slash := strings.IndexByte(rest, '/'); ref.plain && slash >= 0 {
		longest = slash
	}
	if i == len(b.parts)-1 {
		shortest = len(rest)
	}
	b.assigned[ref.name] = true
	for n := shortest; n <= longest; n++ {
		b.values[ref.name] = rest[:n]
		b.read(i+1, rest[n:])
	}
	b.assigned[ref.name] = false
}

// determines reports whether text matches the template in one way only, ignoring case.
func (t *template) determines(text string) bool {
	if len(t.names) == 1 {
		return true // all occurrences have the same length, so only one length fits
	}
	folded := template{parts: slices.Clone(t.parts), names: t.names}
	for i := range folded.parts {
		folded.parts[i].text = Fold(folded.parts[i].text)
	}
	return len(matchTemplate(&folded, Fold(text))) == 1
}

// fill replaces each reference in the template with the value of its source in values. It returns false if a value is
// missing.
func (t *template) fill(values map[string]string) (string, bool) {
	var b strings.Builder
	for _, p := range t.parts {
		text := p.text
		if p.ref != nil {
			var ok bool
			if text, ok = values[t.names[p.ref.name]]; !ok {
				return "", false
			}
		}
		b.WriteString(text)
	}
	return b.String(), true
}

// within returns the part of path that matches other, if the template is other between constant texts. path must match
// the template.
func (t *template) within(other *template, path string) (string, bool) {
	before, after, ok := strings.Cut(t.canonical, other.canonical)
	fixed := !strings.Contains(before+after, "\x00")
	if !ok || !fixed {
		return "", false
	}
	return path[len(before) : len(path)-len(after)], true
}
