// Package onigmo compiles Ruby's regular expressions. Compile uses Go's engine, which takes time linear in the length
// of the text. It rejects constructs that the engine does not support, mainly lookaround and backreferences.
// CompileMatcher supports these, too, but its result only reports whether a string matches, within a limited number
// of steps.
package onigmo

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Regexp is an expression compiled for Go's engine. Cost is the size of its program: matching takes at most Cost
// steps for each byte of text.
type Regexp struct {
	*regexp.Regexp
	Cost    int
	after   *regexp.Regexp // matches one character and then the expression; nil if no empty text matches
	differs differences
}

// CanMatch returns an error if re has \b or \B and text has characters outside ASCII, because Go's engine does not know
// words with such characters.
func (re *Regexp) CanMatch(text string) error {
	if re.differs.words && hasOtherThanASCII(text) {
		return errors.New(`\b and \B are not supported here: the text has characters outside ASCII`)
	}
	return nil
}

// These limits apply to each expression. Anything larger is more likely an attack than a useful expression.
const (
	maxSource  = 32 << 10
	maxProgram = 10_000
	maxCached  = 512
)

// cache contains compiled expressions by their source. It is cleared when it is full.
type cache[T any] struct {
	sync.RWMutex
	compiled map[string]*T
}

var linear cache[Regexp]

// Compile compiles src for Go's engine. It caches results, so compiling the same source again is cheap.
func Compile(src string) (*Regexp, error) { return linear.get(src, compile) }

func (c *cache[T]) get(src string, compile func(string) (*T, error)) (*T, error) {
	c.RLock()
	re := c.compiled[src]
	c.RUnlock()
	if re != nil {
		return re, nil
	}
	re, err := compile(src)
	if err != nil {
		return nil, err
	}
	c.Lock()
	defer c.Unlock()
	if c.compiled == nil || len(c.compiled) >= maxCached {
		c.compiled = make(map[string]*T)
	}
	c.compiled[strings.Clone(src)] = re // src may point into a mapped file
	return re, nil
}

func compile(src string) (*Regexp, error) {
	if len(src) > maxSource {
		return nil, errors.New("the regular expression is too long")
	}
	translated, differs, err := translate(src)
	if err != nil {
		return nil, err
	}
	parsed, err := syntax.Parse(translated, syntax.Perl)
	if err != nil {
		return nil, plain(err)
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, plain(err)
	}
	if len(prog.Inst) > maxProgram {
		return nil, errors.New("the regular expression is too large")
	}
	re, err := regexp.Compile(translated)
	if err != nil {
		return nil, plain(err)
	}
	out := &Regexp{Regexp: re, Cost: len(prog.Inst), differs: differs}
	if nullable(parsed) {
		if out.after, err = regexp.Compile(`\A(?s:.)(?:` + translated + `)`); err != nil {
			return nil, plain(err)
		}
	}
	return out, nil
}

// nullable reports whether re can match an empty text.
func nullable(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpNoMatch, syntax.OpLiteral, syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return false
	case syntax.OpCapture, syntax.OpPlus, syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !nullable(sub) })
	case syntax.OpRepeat:
		return re.Min == 0 || nullable(re.Sub[0])
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, nullable)
	}
	return true
}

// AddEmpty returns found, all matches of re in s, together with the empty matches that directly follow other matches.
// Ruby finds those, but Go does not.
func (re *Regexp) AddEmpty(s string, found [][]int) [][]int {
	if re.after == nil {
		return found
	}
	var out [][]int
	for i, m := range found {
		out = append(out, m)
		end := m[1]
		if m[0] == end || i+1 < len(found) && found[i+1][0] == end {
			continue
		}
		if empty := re.emptyAfter(s, end); empty != nil {
			out = append(out, empty)
		}
	}
	return out
}

// emptyAfter returns the empty match at offset end of s, or nil. Another match must end there.
func (re *Regexp) emptyAfter(s string, end int) []int {
	_, size := utf8.DecodeLastRuneInString(s[:end]) // ^ and \b depend on this character
	from := end - size
	places := re.after.FindStringSubmatchIndex(s[from:])
	if places == nil || places[1] > size {
		return nil
	}
	for i := range places {
		if places[i] >= 0 {
			places[i] += from
		}
	}
	places[0] = end
	return places
}

// plain rewrites an error of Go's parser so that it does not mention Go.
func plain(err error) error {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return errors.New("invalid regular expression")
	}
	if e.Expr == "" {
		return errors.New(string(e.Code))
	}
	return errors.New(string(e.Code) + ": " + e.Expr)
}
