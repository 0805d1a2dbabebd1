package hiera5

import (
	"slices"
	"strings"
	"unicode/utf8"

	"bindc/internal/expr"
)

// globElement is a part of a glob: constant text, a wildcard or an interpolation.
type globElement struct {
	kind globKind
	text string // text of a globText
	ref  int    // index of the interpolation of a globRef

	ranges [][2]rune // characters in a globClass
	not    bool      // the class is negated: it matches all characters outside the ranges
}

type globKind uint8

const (
	globText  globKind = iota
	globStar           // '*' matches any characters except a slash
	globDirs           // '**/' matches any number of directories that are not symbolic links
	globOne            // '?' matches one character
	globClass          // '[abc]' matches one of several characters
	globRef            // an interpolation, %{...}
)

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
			case last >= 0 && e.kind == globDirs && out[last].kind == globDirs: // '**/**/' matches the same as '**/'
			default:
				out = append(out, e)
			}
		}
	}
	return out
}

// nextGlob parses the first element of a string, and returns its length. begins means that the text is at the start of
// a file or directory name.
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

// escaped returns the first character of text, or the second if the first is a backslash. n is the number of bytes
// read, including the backslash.
func escaped(text string) (char rune, n int) {
	if strings.HasPrefix(text, `\`) {
		n = 1
	}
	char, size := utf8.DecodeRuneInString(text[n:])
	return char, n + size
}

// globClassOf parses the character class at the start of a string, and returns its length. As in Ruby, an unclosed or
// empty class matches nothing.
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

// maxGlobs limits how many globs the braces of one glob may expand to. Intermediate results, which still have braces,
// count too.
const maxGlobs = 4096

// longGlob limits memory: every longGlob bytes of a glob count as one more glob towards maxGlobs.
const longGlob = 256

// Unbraced expands the braces of a glob, in order. It does not expand the braces of interpolations. ok is false if
// there are too many results.
func Unbraced(glob string) (globs []string, ok bool) {
	left := maxGlobs
	globs = appendUnbraced(nil, glob, &left)
	return globs, left >= 0
}

// appendUnbraced appends the expansions of a glob. left is the number of globs that may still be produced; when it is
// negative, appendUnbraced stops.
func appendUnbraced(out []string, glob string, left *int) []string {
	if *left -= 1 + len(glob)/longGlob; *left < 0 {
		return out
	}
	open, cuts, end := outermost(glob)
	if end < 0 {
		return append(out, glob)
	}
	ends := append(cuts, end+1)[1:]
	for k, from := range cuts {
		if *left < 0 {
			break
		}
		out = appendUnbraced(out, glob[:open]+glob[from:ends[k]-1]+glob[end+1:], left)
	}
	return out
}

// outermost finds the first pair of braces that is not inside another pair. A character after a backslash is text.
// outermost returns the positions of the opening brace, of the start of each alternative, and of the closing brace. end
// is -1 if there are no braces.
func outermost(glob string) (open int, cuts []int, end int) {
	depth := 0
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case strings.HasPrefix(glob[i:], "%{"):
			if end := strings.IndexByte(glob[i:], '}'); end >= 0 {
				i += end
			}
		case c == '\\' && !strings.HasPrefix(glob[i+1:], "%{"):
			i++ // the next character is literal text
		case c == '{':
			if depth++; depth == 1 {
				open, cuts = i, []int{i + 1}
			}
		case c == ',' && depth == 1:
			cuts = append(cuts, i+1)
		case c == '}' && depth > 1:
			depth--
		case c == '}' && depth == 1:
			return open, cuts, i
		}
	}
	return 0, nil, -1
}

// unclosed returns '{' or '[' if a glob without pairs of braces has one that is not closed, and otherwise "". As in
// Ruby, such a glob matches nothing.
func unclosed(glob string, elems []globElement) string {
	isOpen := func(e globElement) bool { return e.kind == globClass && e.ranges == nil && !e.not }
	if !strings.Contains(glob, "]") && slices.ContainsFunc(elems, isOpen) {
		return "["
	}
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case strings.HasPrefix(glob[i:], "%{"):
			i++
		case c == '\\' && !strings.HasPrefix(glob[i+1:], "%{"):
			i++
		case c == '{':
			return "{"
		}
	}
	return ""
}

// maxReadings limits the number of ways in which a glob with interpolations matches one path.
const maxReadings = 256

// readGlob returns the values of the interpolations for each way in which a glob matches path. isLink reports whether a
// directory is a symbolic link. ok is false if there are more than maxReadings ways.
func readGlob(elems []globElement, path string, isLink func(dir string) bool) (readings [][]string, ok bool) {
	g := newGlobReader(elems, path, isLink)
	g.read(globSpot{})
	return g.out, len(g.out) <= maxReadings
}

func newGlobReader(elems []globElement, path string, isLink func(dir string) bool) *globReader {
	refs := 0
	for _, e := range elems {
		refs = max(refs, e.ref+1)
	}
	return &globReader{elems: elems, values: make([]string, refs), path: path, isLink: isLink,
		deadEnds: map[globSpot]bool{}, visited: map[globWay]bool{}}
}

// globReader matches a path against a glob by backtracking. It remembers the positions that it has tried, so that globs
// with many stars need at most as many steps as there are pairs of positions.
type globReader struct {
	elems  []globElement
	path   string
	isLink func(dir string) bool
	values []string
	out    [][]string // at most maxReadings+1 readings

	deadEnds map[globSpot]bool // positions from which the end cannot be reached
	visited  map[globWay]bool  // positions that were read, each with the values at that time
	steps    int
}

// globSpot is a position in a glob and in a path. slashed means that the slash at the start of the next text has
// already been matched.
type globSpot struct {
	elem, at int
	slashed  bool
}

// globWay is a position together with the values of the interpolations before it.
type globWay struct {
	globSpot
	values string
}

// read matches the rest of the path from position s. It reports whether it found a match.
func (g *globReader) read(s globSpot) (found bool) {
	if len(g.out) > maxReadings {
		return true
	}
	g.steps++
	if s.elem == len(g.elems) {
		return g.end(s)
	}
	if g.steps <= easySteps {
		return g.element(s)
	}
	way := globWay{s, strings.Join(g.values, "\x00")}
	if g.deadEnds[s] || g.visited[way] {
		return !g.deadEnds[s]
	}
	g.visited[way] = true
	if found = g.element(s); !found {
		g.deadEnds[s] = true
	}
	return found
}

// end records a match if the path ends here.
func (g *globReader) end(s globSpot) bool {
	if s.at < len(g.path) {
		return false
	}
	if same := func(o []string) bool { return slices.Equal(o, g.values) }; !slices.ContainsFunc(g.out, same) {
		g.out = append(g.out, slices.Clone(g.values))
	}
	return true
}

// element matches the element at s and all elements after it.
func (g *globReader) element(s globSpot) (found bool) {
	e, at := g.elems[s.elem], s.at
	rest := func(at int) bool { return g.read(globSpot{s.elem + 1, at, false}) }
	begins := at == 0 || g.path[at-1] == '/'
	hidden := begins && strings.HasPrefix(g.path[at:], ".")
	switch e.kind {
	case globText:
		text := e.text
		if s.slashed {
			text = text[1:]
		}
		return strings.HasPrefix(g.path[at:], text) && rest(at+len(text))
	case globOne, globClass:
		if at < len(g.path) && g.path[at] != '/' && !hidden {
			char, n := utf8.DecodeRuneInString(g.path[at:])
			return e.matchesChar(char) && rest(at+n)
		}
	case globStar:
		if hidden {
			return false
		}
		found = rest(at)
		if at < len(g.path) && g.path[at] != '/' {
			found = g.read(globSpot{s.elem, at + 1, false}) || found
		}
	case globDirs:
		found = rest(at)
		if slash := strings.IndexByte(g.path[at:], '/'); slash > 0 && !hidden && !g.isLink(g.path[:at+slash]) {
			found = g.read(globSpot{s.elem, at + slash + 1, false}) || found
		}
	case globRef:
		for end := at; end <= len(g.path); end++ {
			g.values[e.ref] = g.path[at:end]
			found = rest(end) || found
		}
		g.values[e.ref] = ""
		next := s.elem + 1
		// After an empty value at the start of a name, skip the slash.
		if begins && next < len(g.elems) && strings.HasPrefix(g.elems[next].text, "/") {
			found = g.read(globSpot{next, at, true}) || found
		}
	}
	return found
}

// matchesChar reports whether the wildcard matches char. A range may have its ends in either order.
func (e globElement) matchesChar(char rune) bool {
	in := slices.ContainsFunc(e.ranges, func(r [2]rune) bool {
		return char == r[0] || char == r[1] || r[0] < char && char < r[1]
	})
	return e.kind == globOne || in != e.not
}

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

// easySteps is the number of steps before a globReader starts to remember positions. Most matches need fewer.
const easySteps = 64
