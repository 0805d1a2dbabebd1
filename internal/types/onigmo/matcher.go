package onigmo

import (
	"strings"
	"sync"
)

// Matcher reports whether a regular expression matches. It uses Go's engine where that matches like Ruby, and
// backtracking otherwise.
type Matcher struct {
	linear *Regexp                  // nil if only backtracking can match it
	exact  func() (*Matcher, error) // backtracks in place of linear, for texts that linear matches differently
	prog   []instruction
	groups int
	plain  bool // no backreferences or conditions: whether a state matches does not depend on the path to it
}

var matchers cache[Matcher]

// CompileMatcher compiles src. Unlike Compile, it supports lookaround, atomic groups, possessive quantifiers,
// conditions and backreferences. It caches results, too.
func CompileMatcher(src string) (*Matcher, error) { return matchers.get(src, compileMatcher) }

func compileMatcher(src string) (*Matcher, error) {
	re, refused := Compile(src)
	if refused == nil {
		src = strings.Clone(src) // it may point into a mapped file
		exact := sync.OnceValues(func() (*Matcher, error) { return backtracking(src) })
		return &Matcher{linear: re, exact: exact}, nil
	}
	if len(src) > maxSource {
		return nil, refused
	}
	return backtracking(src)
}

// backtracking compiles src for backtracking, even if Go's engine supports it.
func backtracking(src string) (*Matcher, error) {
	n, groups, err := parse(src)
	if err != nil {
		return nil, err
	}
	c := compiler{plain: true}
	if err := c.emit(n); err != nil {
		return nil, err
	}
	c.add(instruction{op: opMatch})
	return &Matcher{prog: c.prog, groups: groups, plain: c.plain}, nil
}

// Match reports whether the expression matches anywhere in text. If left is not nil, Match subtracts the number of
// steps from it. The error is ErrSteps if the match takes more than maxSteps or left.
func (m *Matcher) Match(text string, left *int) (matched bool, err error) {
	steps := 1 + len(text)/bytesPerStep
	if m.linear == nil {
		matched, steps, err = m.backtrack(text)
	}
	if left != nil {
		if *left -= steps; *left < 0 {
			return false, ErrSteps
		}
	}
	if m.linear == nil {
		return matched, err
	}
	matched = m.linear.MatchString(text)
	if matched && m.linear.differs.more(text) || !matched && m.linear.differs.less(text) {
		return m.asRuby(text, left, matched)
	}
	return matched, nil
}

// asRuby is like Match for a text that Go's engine may match differently than Ruby. Its answer is linear if
// backtracking does not support the expression or takes too many steps.
func (m *Matcher) asRuby(text string, left *int, linear bool) (matched bool, err error) {
	exact, err := m.exact()
	if err != nil {
		return linear, nil
	}
	matched, steps, err := exact.backtrack(text)
	if left != nil {
		if *left -= steps; *left < 0 {
			return false, ErrSteps
		}
	}
	if err != nil {
		return linear, nil
	}
	return matched, nil
}

// bytesPerStep is the number of bytes that Go's engine reads in about the time of one backtracking step.
const bytesPerStep = 16
