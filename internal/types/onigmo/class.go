package onigmo

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"bindc/internal/pattern"
)

// charSet is a set of characters, in Go's syntax for the content of a class.
type charSet struct {
	text    string
	negated bool
	single  bool // contains one character, so it can begin or end a range
}

func (s charSet) bracketed() string {
	switch {
	case s.negated:
		return "[^" + s.text + "]"
	case s.single:
		return s.text
	}
	return "[" + s.text + "]"
}

// shorthand maps the letters of \d, \w, \s and \h to their characters. The upper-case letters mean the complements.
var shorthand = map[byte]string{'d': `0-9`, 'w': `0-9A-Za-z_`, 's': `\t-\r `, 'h': `0-9A-Fa-f`}

// complement maps the upper-case letters of shorthand to their characters, for use inside a class.
var complement = map[byte]string{
	'D': `\x00-/:-\x{10FFFF}`,
	'W': "\\x00-/:-@\\[-\\^`{-\\x{10FFFF}",
	'S': `\x00-\x08\x0e-\x1f!-\x{10FFFF}`,
	'H': "\\x00-/:-@G-`g-\\x{10FFFF}",
}

// anchors maps escapes that match positions or line breaks to Go's syntax. The type differences says where
// they differ.
var anchors = map[byte]string{
	'A': `\A`, 'z': `\z`, 'Z': `(?:\n?\z)`, 'b': `\b`, 'B': `\B`,
	'R': `(?:\r\n|[\n-\r\x{85}\x{2028}\x{2029}])`,
}

var control = map[byte]string{'t': `\t`, 'n': `\n`, 'r': `\r`, 'f': `\f`, 'v': `\v`, 'a': `\x07`, 'e': `\x1b`}

// posix maps the names in [[:name:]] and \p{Name} to Go's syntax. As in Ruby, most of them cover all of Unicode.
var posix = map[string]string{
	"alpha": `\p{L}\p{M}`, "digit": `\p{Nd}`, "alnum": `\p{L}\p{M}\p{Nd}`, "upper": `\p{Lu}`, "lower": `\p{Ll}`,
	"space": `\t-\r \x{85}\p{Z}`, "blank": `\t\p{Zs}`, "punct": "\\p{P}$+<=>\\^`|~", "cntrl": `\p{Cc}`,
	"xdigit": `0-9A-Fa-f`, "word": `\p{L}\p{M}\p{Nd}\p{Pc}`, "ascii": `\x00-\x7f`,
	"graph": `\p{L}\p{M}\p{N}\p{P}\p{S}`, "print": `\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}`,
}

// quoted escapes r so that it is literal both inside and outside a class.
func quoted(r rune) string {
	if r > ' ' && r < utf8.RuneSelf && !('0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z') {
		return `\` + string(r)
	}
	return string(r)
}

func (t *translator) escape() (string, error) {
	if t.pos+1 == len(t.src) {
		return "", fmt.Errorf("too short escape sequence in /%s/", t.src)
	}
	c := t.src[t.pos+1]
	if a, ok := anchors[c]; ok {
		t.differs.words = t.differs.words || c == 'b' || c == 'B'
		t.differs.breaks = t.differs.breaks || c == 'R'
		t.differs.ends = t.differs.ends || c == 'Z'
		t.pos += 2
		return a, nil
	}
	switch {
	case c >= '1' && c <= '9':
		return "", fmt.Errorf(`backreferences (\%c) are not supported`, c)
	case strings.IndexByte("kgGKX", c) >= 0:
		return "", fmt.Errorf(`\%c is not supported`, c)
	}
	s, err := t.escapedSet()
	return s.bracketed(), err
}

var (
	hexByte   = pattern.Lazy(`^\\x([0-9A-Fa-f]{1,2})`)
	hexRune   = pattern.Lazy(`^\\u(?:([0-9A-Fa-f]{4})|\{([0-9A-Fa-f]{1,6})\})`)
	octalByte = pattern.Lazy(`^\\(0[0-7]{0,2})`)
	property  = pattern.Lazy(`^\\([pP])\{(\^?)(\w+)\}`)
)

func (t *translator) escapedSet() (charSet, error) {
	rest := t.rest()
	if len(rest) < 2 {
		return charSet{}, fmt.Errorf("too short escape sequence in /%s/", t.src)
	}
	c := rest[1]
	if lower := c | 0x20; shorthand[lower] != "" {
		t.pos += 2
		return charSet{text: shorthand[lower], negated: c != lower}, nil
	}
	if m := property().FindStringSubmatch(rest); m != nil {
		t.pos += len(m[0])
		return propertySet(m[3], (m[1] == "P") != (m[2] == "^")), nil
	}
	for _, form := range []*regexp.Regexp{hexByte(), hexRune(), octalByte()} {
		if m := form.FindStringSubmatch(rest); m != nil {
			return t.codePoint(m[0], strings.Join(m[1:], ""))
		}
	}
	r, size := utf8.DecodeRuneInString(rest[1:])
	if strings.ContainsRune("xupPcCM", r) {
		return charSet{}, fmt.Errorf(`the escape \%c is not supported in this form`, r)
	}
	t.pos += 1 + size
	if text, ok := control[c]; ok {
		return charSet{text: text, single: true}, nil
	}
	return charSet{text: quoted(r), single: true}, nil
}

func (t *translator) codePoint(matched, digits string) (charSet, error) {
	base, limit := 16, uint64(utf8.MaxRune)
	switch matched[1] {
	case '0':
		base = 8
	case 'x':
		limit = utf8.RuneSelf - 1 // in Ruby, larger codes are bytes, not characters
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n > limit {
		return charSet{}, fmt.Errorf("invalid character code %s", matched)
	}
	t.pos += len(matched)
	return charSet{text: fmt.Sprintf(`\x{%X}`, n), single: true}, nil
}

func propertySet(name string, negated bool) charSet {
	if text, ok := posix[strings.ToLower(name)]; ok {
		return charSet{text: text, negated: negated}
	}
	if negated {
		return charSet{text: `\P{` + name + `}`}
	}
	return charSet{text: `\p{` + name + `}`}
}

func (t *translator) class(depth int) (charSet, error) {
	if depth > maxNesting {
		return charSet{}, fmt.Errorf("character classes are nested more than %d deep", maxNesting)
	}
	t.pos++
	var out charSet
	if strings.HasPrefix(t.rest(), "^") {
		out.negated = true
		t.pos++
	}
	for first := true; ; first = false {
		switch {
		case t.pos == len(t.src):
			return charSet{}, fmt.Errorf("premature end of char-class in /%s/", t.src)
		case t.src[t.pos] == ']' && !first:
			t.pos++
			return out, nil
		case strings.HasPrefix(t.rest(), "&&"):
			return charSet{}, fmt.Errorf("intersections (&&) in character classes are not supported")
		}
		text, err := t.classRange(depth)
		if err != nil {
			return charSet{}, err
		}
		out.text += text
	}
}

// classRange translates a member of a class: a character, a set, or a range such as a-z.
func (t *translator) classRange(depth int) (string, error) {
	low, err := t.member(depth)
	if err != nil {
		return "", err
	}
	rest := t.rest()
	if !low.single || len(rest) < 2 || rest[0] != '-' || rest[1] == ']' {
		return low.inside()
	}
	t.pos++
	high, err := t.member(depth)
	if err != nil {
		return "", err
	}
	if high.single {
		return low.text + "-" + high.text, nil
	}
	text, err := high.inside()
	return low.text + `\-` + text, err
}

// inside returns the syntax of s for use inside a class.
func (s charSet) inside() (string, error) {
	if !s.negated {
		return s.text, nil
	}
	for letter, text := range shorthand {
		if text == s.text {
			return complement[letter&^0x20], nil
		}
	}
	return "", fmt.Errorf("a negated set inside a character class is not supported")
}

var posixClass = pattern.Lazy(`^\[:(\^?)(\w+):\]`)

func (t *translator) member(depth int) (charSet, error) {
	switch t.src[t.pos] {
	case '\\':
		if strings.HasPrefix(t.rest(), `\b`) {
			t.pos += 2
			return charSet{text: `\x08`, single: true}, nil
		}
		return t.escapedSet()
	case '[':
		m := posixClass().FindStringSubmatch(t.rest())
		if m == nil {
			return t.class(depth + 1)
		}
		if posix[m[2]] == "" {
			return charSet{}, fmt.Errorf("unknown character class [:%s:]", m[2])
		}
		t.pos += len(m[0])
		return charSet{text: posix[m[2]], negated: m[1] != ""}, nil
	}
	r, size := utf8.DecodeRuneInString(t.rest())
	t.pos += size
	return charSet{text: quoted(r), single: true}, nil
}
