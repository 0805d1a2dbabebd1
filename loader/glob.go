package loader

import (
	"slices"
	"strings"
	"unicode/utf8"

	"bindc/internal/expr"
)

// globElement is a piece of a glob: fixed text, a wildcard, or an interpolation.
type globElement struct {
	kind globKind
	text string // fixed
	ref  int    // number of the interpolation

	ranges [][2]rune // of a class
	not    bool      // of a class: any other character
}

type globKind uint8

const (
	globText  globKind = iota
	globStar           // anything but a slash
	globDirs           // directories, each with its slash, or none
	globOne            // one character
	globClass          // one of some
	globRef            // an interpolation
)

// globElements takes the parts of a glob apart.
func globElements(parts []*expr.Node) []globElement {
	var out []globElement
	refs := 0
	for _, p := range parts {
		v, ok := p.Constant()
		if !ok {
			out = append(out, globElement{kind: globRef, ref: refs})
			refs++
			continue
		}
		text := v.Text()
		for text != "" {
			last := len(out) - 1
			begins := last < 0 || out[last].kind == globDirs || strings.HasSuffix(out[last].text, "/")
			e, n := nextGlob(text, begins)
			text = text[n:]
			switch {
			case last >= 0 && e.kind == globText && out[last].kind == globText:
				out[last].text += e.text
			case last >= 0 && e.kind == globDirs && out[last].kind == globDirs: // one is as good as two
			default:
				out = append(out, e)
			}
		}
	}
	return out
}

// nextGlob is the first piece of a text, and its length. begins tells that a name begins there.
func nextGlob(text string, begins bool) (globElement, int) {
	switch c := text[0]; {
	case begins && strings.HasPrefix(text, "**/"):
		return globElement{kind: globDirs}, 3
	case c == '*':
		return globElement{kind: globStar}, len(text) - len(strings.TrimLeft(text, "*"))
	case c == '?':
		return globElement{kind: globOne}, 1
	case c == '[':
		return globClassOf(text)
	case c == '\\':
		_, n := escaped(text)
		return globElement{text: text[1:n]}, n
	}
	return globElement{text: text[:1]}, 1
}

// escaped is the first character of a text, the one behind a backslash if that is the first, and how long that is.
func escaped(text string) (char rune, n int) {
	if strings.HasPrefix(text, `\`) {
		n = 1
	}
	char, size := utf8.DecodeRuneInString(text[n:])
	return char, n + size
}

// globClassOf is the class that a text begins with, and its length. As in Ruby one that does not end is no character,
// and neither is one of nothing.
func globClassOf(text string) (globElement, int) {
	e := globElement{kind: globClass}
	at := 1
	if e.not = strings.HasPrefix(text[at:], "!") || strings.HasPrefix(text[at:], "^"); e.not {
		at++
	}
	for at < len(text) && text[at] != ']' {
		first, n := escaped(text[at:])
		at += n
		last := first
		if rest := text[at:]; strings.HasPrefix(rest, "-") && !strings.HasPrefix(rest, "-]") {
			last, n = escaped(rest[1:])
			at += 1 + n
		}
		e.ranges = append(e.ranges, [2]rune{first, last})
	}
	if at == len(text) {
		return globElement{kind: globClass}, at
	}
	return e, at + 1
}

// unbraced are the globs that the braces in one stand for, in order. Those of an interpolation are none.
func unbraced(glob string) []string {
	var open, depth int
	var cuts []int // of the outermost braces: behind the opening one, behind each comma, behind the closing one
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case strings.HasPrefix(glob[i:], "%{"):
			if end := strings.IndexByte(glob[i:], '}'); end >= 0 {
				i += end
			}
		case c == '{':
			if depth++; depth == 1 {
				open, cuts = i, []int{i + 1}
			}
		case c == ',' && depth == 1:
			cuts = append(cuts, i+1)
		case c == '}' && depth > 1:
			depth--
		case c == '}' && depth == 1:
			var out []string
			ends := append(cuts, i+1)[1:]
			for k, from := range cuts {
				out = append(out, unbraced(glob[:open]+glob[from:ends[k]-1]+glob[i+1:])...)
			}
			return out
		}
	}
	return []string{glob}
}

// maxReadings bounds the ways in which one file can be found by a glob with interpolations in it.
const maxReadings = 256

// readGlob are the values of the interpolations with which a glob finds a path.
func readGlob(elems []globElement, path string) [][]string {
	refs := 0
	for _, e := range elems {
		refs = max(refs, e.ref+1)
	}
	g := globReader{values: make([]string, refs), path: path}
	g.read(elems, 0)
	return g.out
}

// globReader reads a path by a glob.
type globReader struct {
	path   string
	values []string
	out    [][]string
}

// read matches the path from a byte on.
func (g *globReader) read(elems []globElement, at int) {
	if len(g.out) >= maxReadings {
		return
	}
	if len(elems) == 0 {
		same := func(o []string) bool { return slices.Equal(o, g.values) }
		if at == len(g.path) && !slices.ContainsFunc(g.out, same) {
			g.out = append(g.out, slices.Clone(g.values))
		}
		return
	}
	e, rest := elems[0], elems[1:]
	begins := at == 0 || g.path[at-1] == '/'
	hidden := begins && strings.HasPrefix(g.path[at:], ".")
	switch e.kind {
	case globText:
		if strings.HasPrefix(g.path[at:], e.text) {
			g.read(rest, at+len(e.text))
		}
	case globOne, globClass:
		if at < len(g.path) && g.path[at] != '/' && !hidden {
			if char, n := utf8.DecodeRuneInString(g.path[at:]); e.takes(char) {
				g.read(rest, at+n)
			}
		}
	case globStar:
		for end := at; !hidden; end++ {
			g.read(rest, end)
			if end == len(g.path) || g.path[end] == '/' {
				return
			}
		}
	case globDirs:
		g.read(rest, at)
		if slash := strings.IndexByte(g.path[at:], '/'); slash > 0 && !hidden {
			g.read(elems, at+slash+1)
		}
	case globRef:
		for end := at; end <= len(g.path); end++ {
			g.values[e.ref] = g.path[at:end]
			g.read(rest, end)
		}
		g.values[e.ref] = ""
		if begins && len(rest) > 0 && strings.HasPrefix(rest[0].text, "/") { // a slash behind nothing is none
			rest = slices.Clone(rest)
			rest[0].text = rest[0].text[1:]
			g.read(rest, at)
		}
	}
}

// takes tells whether a character is one of a class, or any. Both ends of a range are in it, in whatever order.
func (e globElement) takes(char rune) bool {
	in := slices.ContainsFunc(e.ranges, func(r [2]rune) bool {
		return char == r[0] || char == r[1] || r[0] < char && char < r[1]
	})
	return e.kind == globOne || in != e.not
}

// fillGlob is the text of a glob with the values of its interpolations.
func fillGlob(parts []*expr.Node, values []string) string {
	var b strings.Builder
	ref := 0
	for _, p := range parts {
		if v, ok := p.Constant(); ok {
			b.WriteString(v.Text())
			continue
		}
		b.WriteString(values[ref])
		ref++
	}
	return b.String()
}
