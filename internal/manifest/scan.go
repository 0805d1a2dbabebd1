package manifest

import "strings"

type kind uint8

const (
	punct    kind = iota // a single character, or =>
	name                 // bare word, possibly with ::
	variable             // variable, including the $
	text                 // number, or string without interpolations
	computed             // string with interpolations, heredoc or regular expression
)

type token struct {
	kind kind
	text string // value of a string, source text of any other token
	at   int    // byte offset of the first character
	end  int    // byte offset after the last character
}

// scanner splits a manifest into tokens. It drops comments. The code inside each interpolation becomes a list of tokens
// of its own.
type scanner struct {
	src      string
	at       int
	out      []token
	heredocs []string  // end markers of the heredocs whose text begins on the next line
	inner    [][]token // tokens of the code in interpolations, one list for each
	broken   bool      // a string, comment or bracket is not closed, or interpolations are nested too deeply
	depth    int       // number of interpolations that contain this code
}

// maxNesting limits the nesting of interpolations and of expressions for class names, because their readers are
// recursive.
const maxNesting = 100

// scan returns the tokens of src, followed by the tokens of each interpolation. whole is false if the end of a string,
// comment or bracket is missing.
func scan(src string) (streams [][]token, whole bool) {
	const perToken = 5 // about as many bytes as most manifests have for each token
	s := &scanner{src: src, out: make([]token, 0, len(src)/perToken)}
	for s.at < len(s.src) {
		s.next()
	}
	return append([][]token{s.out}, s.inner...), !s.broken && len(s.heredocs) == 0
}

func (s *scanner) next() {
	rest, start := s.src[s.at:], s.at
	c := rest[0]
	switch {
	case c == '\n':
		s.at++
		s.skipHeredocs()
	case c == ' ' || c == '\t' || c == '\r':
		s.at++
	case c == '#':
		s.skipTo("\n", 0)
	case strings.HasPrefix(rest, "/*"):
		s.skipTo("*/", 2)
	case c == '\'':
		s.single()
	case c == '"':
		s.double()
	case strings.HasPrefix(rest, "@("):
		s.heredoc()
	case c == '/' && s.startsPattern():
		s.pattern()
	case c == '$' && len(rest) > 1 && (isWord(rest[1]) || strings.HasPrefix(rest[1:], "::")):
		s.at++
		s.add(variable, "$"+s.word(), start)
	case isWord(c) || strings.HasPrefix(rest, "::"):
		s.add(name, strings.TrimPrefix(s.word(), "::"), start)
		if c >= '0' && c <= '9' {
			s.out[len(s.out)-1].kind = text
		}
	case strings.HasPrefix(rest, "=>"):
		s.at += 2
		s.add(punct, "=>", start)
	default:
		s.at++
		s.add(punct, rest[:1], start)
	}
}

func (s *scanner) add(k kind, t string, at int) { s.out = append(s.out, token{k, t, at, s.at}) }

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
}

// word reads a name, which consists of letters, digits and '::'. A bare word may also contain dashes.
func (s *scanner) word() string {
	start := s.at
	for s.at < len(s.src) {
		rest := s.src[s.at:]
		switch {
		case isWord(rest[0]):
			s.at++
		case strings.HasPrefix(rest, "::") && len(rest) > 2 && isWord(rest[2]):
			s.at += 2
		case rest[0] == '-' && s.at > start && s.src[start] != '$' && len(rest) > 1 && isWord(rest[1]) &&
			(start == 0 || s.src[start-1] != '$'):
			s.at++
		default:
			if s.at == start { // '::' without a name after it
				s.at += len("::")
			}
			return s.src[start:s.at]
		}
	}
	return s.src[start:s.at]
}

// skipTo moves to the next newline if end is a newline, and otherwise past the next occurrence of end. It searches from
// s.at+from. If there is no such place, it moves to the end of the source.
func (s *scanner) skipTo(end string, from int) {
	i := strings.Index(s.src[s.at+from:], end)
	if i < 0 {
		s.broken = s.broken || end != "\n"
		s.at = len(s.src)
		return
	}
	s.at += from + i
	// Do not skip a newline: the text of a heredoc begins after it.
	if end != "\n" {
		s.at += len(end)
	}
}

func (s *scanner) single() {
	start := s.at
	var b strings.Builder
	for s.at++; s.at < len(s.src); s.at++ {
		c := s.src[s.at]
		if c == '\'' {
			s.at++
			s.add(text, b.String(), start)
			return
		}
		if next := s.at + 1; c == '\\' && next < len(s.src) && (s.src[next] == '\\' || s.src[next] == '\'') {
			s.at++
			c = s.src[next]
		}
		b.WriteByte(c)
	}
	s.broken = true
}

// double reads a string in double quotes and scans the code in its interpolations.
func (s *scanner) double() {
	start := s.at
	known := true
	for s.at++; s.at < len(s.src); {
		switch c := s.src[s.at]; {
		case c == '"':
			s.at++
			if known {
				s.add(text, s.src[start+1:s.at-1], start)
			} else {
				s.add(computed, "", start)
			}
			return
		case c == '\\':
			known = false
			s.at += 2
		case strings.HasPrefix(s.src[s.at:], "${"):
			known = false
			s.interpolation()
		default:
			known = known && c != '$'
			s.at++
		}
	}
	s.broken = true
}

// interpolation scans the code in ${...}, including the closing brace.
func (s *scanner) interpolation() {
	s.at += len("${")
	if s.depth == maxNesting {
		s.at, s.broken = len(s.src), true
		return
	}
	in := &scanner{src: s.src, at: s.at, depth: s.depth + 1}
	for depth := 1; in.at < len(in.src); {
		n := len(in.out)
		in.next()
		if len(in.out) == n || in.out[n].kind != punct {
			continue
		}
		switch in.out[n].text {
		case "{":
			depth++
		case "}":
			depth--
		}
		if depth == 0 {
			s.at = in.at
			s.inner = append(append(s.inner, in.out[:n]), in.inner...)
			s.broken = s.broken || in.broken
			return
		}
	}
	s.at, s.broken = len(s.src), true
}

// heredoc reads the start of a heredoc: @(END) or @("END"/flags). The text begins on the next line.
func (s *scanner) heredoc() {
	start := s.at
	end := strings.IndexAny(s.src[s.at:], ")\n")
	if end < 0 || s.src[s.at+end] == '\n' {
		s.at++
		s.add(punct, "@", start)
		return
	}
	tag, _, _ := strings.Cut(s.src[s.at+len("@("):s.at+end], "/")
	tag, _, _ = strings.Cut(tag, ":")
	s.heredocs = append(s.heredocs, strings.Trim(tag, " \t\""))
	s.at += end + 1
	s.add(computed, "", start)
}

// skipHeredocs skips the texts of the heredocs that started on the previous line.
func (s *scanner) skipHeredocs() {
	for len(s.heredocs) > 0 && s.at < len(s.src) {
		line, _, _ := strings.Cut(s.src[s.at:], "\n")
		s.at = min(s.at+len(line)+1, len(s.src))
		end := strings.TrimSpace(line)
		end = strings.TrimLeft(strings.TrimPrefix(end, "|"), " \t")
		if strings.TrimLeft(strings.TrimPrefix(end, "-"), " \t") == s.heredocs[0] {
			s.heredocs = s.heredocs[1:]
		}
	}
}

// startsPattern reports whether a slash begins a regular expression rather than being a division. It looks at the
// previous token and for another slash on the line.
func (s *scanner) startsPattern() bool {
	if n := len(s.out); n > 0 {
		switch last := s.out[n-1]; {
		case last.kind == punct && strings.Contains(")]", last.text), last.kind == variable, last.kind == text,
			last.kind == computed:
			return false
		case last.kind == name:
			switch last.text {
			case "node", "if", "elsif", "unless", "and", "or", "in", "case":
			default:
				return false
			}
		}
	}
	return s.patternEnd() > 0
}

// patternEnd returns the offset after the regular expression that begins at s.at, or 0 if it does not end on this line.
func (s *scanner) patternEnd() int {
	for i := s.at + 1; i < len(s.src); i++ {
		switch s.src[i] {
		case '\n':
			return 0
		case '\\':
			i++
		case '/':
			return i + 1
		}
	}
	return 0
}

func (s *scanner) pattern() {
	start := s.at
	s.at = s.patternEnd()
	s.add(computed, "", start)
}
