package onigmo

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"bindc/internal/pattern"
)

type node struct {
	kind kind
	kids []*node

	set      []rune // runes: first and last characters of the ranges in turn, sorted
	min, max int    // repeat: number of iterations; a max of -1 means no limit
	lazy     bool   // repeat: tries fewer iterations first
	negative bool   // ahead, behind: must not match
	back     int    // behind: number of characters to go back
	group    int    // capture: number of the group, from 1
	groups   []int  // backref: groups, last one first; conditional: groups to test
	fold     bool   // backref: ignores case
}

type kind byte

const (
	sequence kind = iota
	alternatives
	runes
	repeat
	capture
	backref
	ahead
	behind
	atomic
	conditional // matches kids[0] if one of the groups has matched, otherwise kids[1]
	lineStart
	lineEnd
	textStart
	textEnd
	lastLineEnd
	wordEdge
	wordInside
)

// reader parses an expression into nodes. It uses the translator for sets of characters.
type reader struct {
	translator
	fold, dotAll bool
	groups       int
	names        map[string][]int
	open         []int // numbers of the groups around the current position
	refs         []*reference
}

// reference is a backreference or a condition. Its group may come later in the expression.
type reference struct {
	*node
	name string
	in   []int // numbers of the groups around the reference
}

// parse parses an expression. It also returns the number of capturing groups.
func parse(src string) (n *node, groups int, err error) {
	r := &reader{translator: translator{src: src, named: hasNamedGroup(src)}, names: map[string][]int{}}
	if n, err = r.alternation(0); err == nil && r.pos < len(src) {
		err = fmt.Errorf("unmatched ) in /%s/", src)
	}
	for _, ref := range r.refs {
		if err == nil {
			err = r.resolve(ref)
		}
	}
	return n, r.groups, err
}

func (r *reader) resolve(ref *reference) error {
	n, err := strconv.Atoi(ref.name)
	switch {
	case err != nil:
		ref.groups = slices.Clone(r.names[ref.name])
		slices.Reverse(ref.groups)
	case r.named:
		return fmt.Errorf("the group %s is referred to by number, but /%s/ has named groups", ref.name, r.src)
	case n > 0 && n <= r.groups:
		ref.groups = []int{n}
	}
	for _, group := range ref.groups {
		if slices.Contains(ref.in, group) {
			return fmt.Errorf("the group %s refers to itself in /%s/: this is not supported", ref.name, r.src)
		}
	}
	if len(ref.groups) == 0 {
		return fmt.Errorf("there is no group %s in /%s/", ref.name, r.src)
	}
	return nil
}

// alternation parses src up to its end or to the ')' of the enclosing group, which it does not consume.
func (r *reader) alternation(depth int) (*node, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("groups are nested more than %d deep", maxNesting)
	}
	out := &node{kind: alternatives, kids: []*node{{}}}
	for r.pos < len(r.src) && r.src[r.pos] != ')' {
		if r.src[r.pos] == '|' {
			out.kids = append(out.kids, &node{})
			r.pos++
			continue
		}
		if r.blank() {
			continue
		}
		n, err := r.repetition(depth)
		if err != nil {
			return nil, err
		}
		last := out.kids[len(out.kids)-1]
		last.kids = append(last.kids, n)
	}
	if len(out.kids) == 1 {
		return out.kids[0], nil
	}
	return out, nil
}

func (r *reader) repetition(depth int) (*node, error) {
	n, err := r.item(depth)
	for count := 0; err == nil; count++ {
		for r.blank() {
		}
		before := r.pos
		var q node
		var possessive bool
		if q, possessive, err = r.quantity(); err != nil || r.pos == before {
			break
		}
		if count > maxNesting {
			return nil, errors.New("too many quantifiers in a row")
		}
		q.kids = []*node{n}
		n = &q
		if possessive {
			n = &node{kind: atomic, kids: []*node{n}}
		}
	}
	return n, err
}

// quantity parses one quantifier. If there is none, it reads nothing and returns the zero node.
func (r *reader) quantity() (q node, possessive bool, err error) {
	if rest := r.rest(); len(rest) > 1 && strings.IndexByte("*+?", rest[0]) >= 0 && rest[1] == '+' {
		r.pos += 2
		possessive = true
		q = quantified(rest[:1])
		return q, true, nil
	}
	text, err := r.quantifier()
	if text == "" || err != nil {
		return node{}, false, err
	}
	q = quantified(text)
	if q.max >= 0 && q.min > q.max {
		return q, false, fmt.Errorf("the repetition %s has nothing to repeat in /%s/", text, r.src)
	}
	return q, false, nil
}

// quantified parses a quantifier in Go's syntax.
func quantified(text string) node {
	q := node{kind: repeat, max: -1}
	switch text[0] {
	case '+':
		q.min = 1
	case '?':
		q.max = 1
	case '{':
		low, high, isRange := strings.Cut(strings.Trim(text, "{}?"), ",")
		q.min, _ = strconv.Atoi(low) // with too many digits, Atoi returns the largest int
		if !isRange {
			high = low
		}
		if high != "" {
			q.max, _ = strconv.Atoi(high)
		}
	}
	q.lazy = len(text) > 1 && strings.HasSuffix(text, "?")
	return q
}

var assertions = map[byte]kind{'A': textStart, 'G': textStart, 'z': textEnd, 'Z': lastLineEnd, 'b': wordEdge,
	'B': wordInside}

func (r *reader) item(depth int) (*node, error) {
	switch c := r.src[r.pos]; c {
	case '(':
		return r.parenthesis(depth)
	case '[':
		s, err := r.class(depth)
		return r.runesOf(s.bracketed(), err)
	case '\\':
		return r.backslash()
	case '*', '+', '?', '{':
		if q := r.interval(); c != '{' || q != nil {
			return nil, fmt.Errorf("target of repeat operator %c is not specified", c)
		}
	case '.':
		r.pos++
		if r.dotAll {
			return &node{kind: runes, set: []rune{0, unicode.MaxRune}}, nil
		}
		return &node{kind: runes, set: []rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}}, nil
	case '^':
		r.pos++
		return &node{kind: lineStart}, nil
	case '$':
		r.pos++
		return &node{kind: lineEnd}, nil
	}
	c, size := utf8.DecodeRuneInString(r.rest())
	r.pos += size
	return r.runesOf(quoted(c), nil)
}

var (
	byNumber = pattern.Lazy(`^\\([1-9][0-9]*)`)
	byName   = pattern.Lazy(`^\\k(?:<(-?\w+)>|'(-?\w+)')`)
	byChoice = pattern.Lazy(`^\(\?\((?:(\d+)|<(\w+)>|'(\w+)')\)`)
)

func (r *reader) backslash() (*node, error) {
	if m := byNumber().FindStringSubmatch(r.rest()); m != nil {
		r.pos += len(m[0])
		return r.reference(&node{kind: backref, fold: r.fold}, m[1])
	}
	if m := byName().FindStringSubmatch(r.rest()); m != nil {
		r.pos += len(m[0])
		name := m[1] + m[2]
		if back, err := strconv.Atoi(name); err == nil && back < 0 { // counts back from the current group
			name = strconv.Itoa(r.groups + 1 + back)
		}
		return r.reference(&node{kind: backref, fold: r.fold}, name)
	}
	if r.pos+1 < len(r.src) {
		c := r.src[r.pos+1]
		if a, ok := assertions[c]; ok {
			r.pos += 2
			return &node{kind: a}, nil
		}
		switch c {
		case 'K': // \K moves the start of the match, which a Matcher does not return
			r.pos += 2
			return &node{}, nil
		case 'R':
			r.pos += 2
			pair := &node{kids: []*node{{kind: runes, set: []rune{'\r', '\r'}}, {kind: runes, set: []rune{'\n', '\n'}}}}
			newline := &node{kind: runes, set: []rune{'\n', '\r', 0x85, 0x85, 0x2028, 0x2029}}
			return &node{kind: atomic, kids: []*node{{kind: alternatives, kids: []*node{pair, newline}}}}, nil
		}
	}
	text, err := r.escape()
	return r.runesOf(text, err)
}

func (r *reader) reference(n *node, name string) (*node, error) {
	r.refs = append(r.refs, &reference{n, name, slices.Clone(r.open)})
	return n, nil
}

func (r *reader) runesOf(text string, err error) (*node, error) {
	if err != nil {
		return nil, err
	}
	flags := syntax.Perl
	if r.fold {
		flags |= syntax.FoldCase
	}
	re, err := syntax.Parse(text, flags)
	if err != nil {
		return nil, plain(err)
	}
	set, err := setOf(re)
	return &node{kind: runes, set: set}, err
}

func setOf(re *syntax.Regexp) ([]rune, error) {
	switch re.Op {
	case syntax.OpCharClass:
		return re.Rune, nil
	case syntax.OpAnyChar:
		return []rune{0, unicode.MaxRune}, nil
	case syntax.OpAnyCharNotNL:
		return []rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}, nil
	case syntax.OpNoMatch:
		return nil, nil
	case syntax.OpLiteral:
		if len(re.Rune) == 1 {
			set := []rune{re.Rune[0], re.Rune[0]}
			if re.Flags&syntax.FoldCase != 0 {
				for c := unicode.SimpleFold(re.Rune[0]); c != re.Rune[0]; c = unicode.SimpleFold(c) {
					set = append(set, c, c)
				}
			}
			return set, nil
		}
	}
	return nil, fmt.Errorf("%s is not a character class", re)
}
