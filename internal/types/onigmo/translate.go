package onigmo

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"bindc/internal/pattern"
)

// translate rewrites a Ruby regular expression for Go's engine. In Ruby, ^ and $ always match at line breaks, (?m)
// means Go's (?s), and unnamed groups do not capture if there are named ones.
func translate(src string) (string, differences, error) {
	t := translator{src: src, named: hasNamedGroup(src)}
	out, err := t.alternatives(0)
	if err != nil {
		return "", t.differs, err
	}
	if t.pos < len(src) {
		return "", t.differs, fmt.Errorf("unmatched ) in /%s/", src)
	}
	return "(?m)" + out, t.differs, nil
}

// differences says which parts of an expression Go's engine may match differently than Ruby.
type differences struct {
	words  bool // \b or \B: Go's words consist of ASCII characters
	breaks bool // \R: in Ruby, it does not match only half of \r\n
	starts bool // ^: in Ruby, no line begins after a newline at the end
	ends   bool // \Z: in Ruby, it does not consume the newline at the end
}

// more reports whether Go's engine may match text although Ruby does not.
func (d differences) more(text string) bool {
	return d.words && hasOtherThanASCII(text) || d.breaks && strings.Contains(text, "\r\n") ||
		(d.starts || d.ends) && strings.HasSuffix(text, "\n")
}

// less reports whether Ruby may match text although Go's engine does not.
func (d differences) less(text string) bool {
	return d.words && hasOtherThanASCII(text) || d.ends && strings.HasSuffix(text, "\n")
}

func hasOtherThanASCII(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}

const maxNesting = 250

// translator translates src from pos on. Its methods return Go's syntax for the text that they read.
type translator struct {
	src      string
	pos      int
	named    bool // src has a named group
	extended bool
	differs  differences
}

// hasNamedGroup reports whether src contains (?<name>, even if only in a character class.
func hasNamedGroup(src string) bool {
	for i := 0; i+3 < len(src); i++ {
		switch {
		case src[i] == '\\':
			i++
		case strings.HasPrefix(src[i:], "(?<") && src[i+3] != '=' && src[i+3] != '!', strings.HasPrefix(src[i:], "(?'"):
			return true
		}
	}
	return false
}

func (t *translator) rest() string { return t.src[t.pos:] }

// alternatives translates src up to its end or to an unmatched ')', which it does not consume.
func (t *translator) alternatives(depth int) (string, error) {
	if depth > maxNesting {
		return "", fmt.Errorf("groups are nested more than %d deep", maxNesting)
	}
	var out strings.Builder
	for t.pos < len(t.src) && t.src[t.pos] != ')' {
		if t.src[t.pos] == '|' {
			out.WriteByte('|')
			t.pos++
			continue
		}
		if t.blank() {
			continue
		}
		part, err := t.repeated(depth)
		if err != nil {
			return "", err
		}
		out.WriteString(part)
	}
	return out.String(), nil
}

// blank skips a comment or, with the option x, white space. It reports whether it skipped anything.
func (t *translator) blank() bool {
	rest := t.rest()
	switch {
	case strings.HasPrefix(rest, "(?#"):
		return t.passTo(')')
	case t.extended && rest != "" && strings.IndexByte(" \t\n\r\f\v", rest[0]) >= 0:
		t.pos++
		return true
	case t.extended && strings.HasPrefix(rest, "#"):
		if !t.passTo('\n') {
			t.pos = len(t.src)
		}
		return true
	}
	return false
}

func (t *translator) passTo(c byte) bool {
	i := strings.IndexByte(t.rest(), c)
	if i >= 0 {
		t.pos += i + 1
	}
	return i >= 0
}

func (t *translator) repeated(depth int) (string, error) {
	atom, err := t.atom(depth)
	for n := 0; err == nil; n++ {
		for t.blank() {
		}
		var q string
		if q, err = t.quantifier(); q == "" {
			break
		}
		if n > 0 { // Go does not allow two quantifiers in a row
			atom = "(?:" + atom + ")"
		}
		if n > maxNesting {
			return "", fmt.Errorf("too many quantifiers in a row")
		}
		atom += q
	}
	return atom, err
}

var interval = pattern.Lazy(`^\{(\d*)(,?)(\d*)\}`)

// quantifier translates a quantifier. It returns "" if there is none.
func (t *translator) quantifier() (string, error) {
	if t.pos == len(t.src) {
		return "", nil
	}
	c := t.src[t.pos]
	if c == '*' || c == '+' || c == '?' {
		t.pos++
		switch {
		case strings.HasPrefix(t.rest(), "?"):
			t.pos++
			return string(c) + "?", nil
		case strings.HasPrefix(t.rest(), "+"):
			return "", fmt.Errorf("possessive quantifiers (%c+) are not supported", c)
		}
		return string(c), nil
	}
	m := t.interval()
	if m == nil {
		return "", nil
	}
	t.pos += len(m[0])
	low := m[1]
	if low == "" {
		low = "0"
	}
	q := "{" + low + m[2] + m[3] + "}"
	if m[2] != "" && strings.HasPrefix(t.rest(), "?") { // after {n}, Ruby reads ? as another quantifier
		t.pos++
		q += "?"
	}
	return q, nil
}

// interval returns the parts of {n}, {n,}, {,m} or {n,m} at the current position, or nil.
func (t *translator) interval() []string {
	m := interval().FindStringSubmatch(t.rest())
	if m == nil || m[1] == "" && m[3] == "" {
		return nil
	}
	return m
}

func (t *translator) atom(depth int) (string, error) {
	switch c := t.src[t.pos]; c {
	case '(':
		return t.group(depth)
	case '[':
		s, err := t.class(depth)
		return s.bracketed(), err
	case '\\':
		return t.escape()
	case '*', '+', '?', '{':
		if c != '{' || t.interval() != nil {
			return "", fmt.Errorf("target of repeat operator %c is not specified", c)
		}
	case '.', '^', '$':
		t.differs.starts = t.differs.starts || c == '^'
		t.pos++
		return string(c), nil
	}
	r, size := utf8.DecodeRuneInString(t.rest())
	t.pos += size
	return quoted(r), nil
}

// unsupported lists how groups begin that Go's engine does not support.
var unsupported = []struct{ prefix, name string }{
	{"(?=", "lookahead (?=...) is"}, {"(?!", "negative lookahead (?!...) is"},
	{"(?<=", "lookbehind (?<=...) is"}, {"(?<!", "negative lookbehind (?<!...) is"},
	{"(?>", "atomic groups (?>...) are"}, {"(?~", "absence operators (?~...) are"},
	{"(?(", "conditions (?(...)...) are"},
}

func (t *translator) group(depth int) (string, error) {
	for _, u := range unsupported {
		if strings.HasPrefix(t.rest(), u.prefix) {
			return "", fmt.Errorf("%s not supported", u.name)
		}
	}
	extended := t.extended
	open, closed, err := t.groupStart()
	if err != nil {
		return "", err
	}
	body, err := t.alternatives(depth + 1)
	if err != nil || !closed { // (?i) applies up to the end of the enclosing group, across its alternatives
		return open + body + ")", err
	}
	t.extended = extended
	if t.pos == len(t.src) {
		return "", fmt.Errorf("unmatched ( in /%s/", t.src)
	}
	t.pos++
	return open + body + ")", nil
}

var (
	groupName = pattern.Lazy(`^\(\?(?:<([^>]*)>|'([^']*)')`)
	goName    = pattern.Lazy(`^[A-Za-z_][A-Za-z0-9_]*$`)
	options   = pattern.Lazy(`^\(\?([imxadu]*)(?:-([imx]*))?([:)])`)
)

// groupStart reads '(' and the characters after it that determine the kind of group. closed is false for options
// without a group, such as (?i).
func (t *translator) groupStart() (open string, closed bool, err error) {
	if !strings.HasPrefix(t.rest(), "(?") {
		t.pos++
		if t.named {
			return "(?:", true, nil
		}
		return "(", true, nil
	}
	if m := groupName().FindStringSubmatch(t.rest()); m != nil {
		name := m[1] + m[2]
		if !goName().MatchString(name) {
			return "", false, fmt.Errorf("invalid group name <%s>", name)
		}
		t.pos += len(m[0])
		return "(?P<" + name + ">", true, nil
	}
	m := options().FindStringSubmatch(t.rest())
	if m == nil {
		return "", false, fmt.Errorf("undefined group option in /%s/", t.src)
	}
	t.pos += len(m[0])
	t.extended = (t.extended || strings.Contains(m[1], "x")) && !strings.Contains(m[2], "x")
	flags := goFlags(m[1], m[2])
	return "(?" + flags + ":", m[3] == ":", nil
}

func goFlags(on, off string) string {
	pick := strings.NewReplacer("m", "s", "x", "", "a", "", "d", "", "u", "")
	on, off = pick.Replace(on), pick.Replace(off)
	if off == "" {
		return on
	}
	return on + "-" + off
}
