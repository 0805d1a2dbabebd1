package onigmo

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file implements lookaround, atomic groups, backreferences and conditions, which Go's engine does not support. It
// backtracks like Ruby, and counts steps instead of time so that results do not depend on the machine. For expressions
// without backreferences and conditions, it remembers the states that failed, as Ruby does since 3.2. The number of
// steps is then nearly always proportional to the length of the text.

// maxSteps limits the number of steps of one match.
const maxSteps = 1 << 18

// ErrSteps reports that a match takes too many steps.
var ErrSteps = errors.New("matching the regular expression takes too many steps")

// Matcher reports whether strings match an expression.
type Matcher struct {
	linear *Regexp // nil if only backtracking can match it
	prog   []instruction
	groups int  // number of capturing groups
	plain  bool // has no backreference and no condition: a state fails or succeeds regardless of how it was reached
}

var matchers cache[Matcher]

// CompileMatcher compiles src. Unlike Compile, it supports lookaround, atomic groups, possessive quantifiers,
// conditions and backreferences. It caches results, too.
func CompileMatcher(src string) (*Matcher, error) { return matchers.get(src, compileMatcher) }

func compileMatcher(src string) (*Matcher, error) {
	re, refused := Compile(src)
	if refused == nil {
		return &Matcher{linear: re}, nil
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

// Match reports whether the expression matches anywhere in text. It subtracts the steps from left unless left is nil.
// The error is ErrSteps if the match exceeds maxSteps or left.
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
	if m.linear != nil {
		matched = m.linear.MatchString(text)
	}
	return matched, err
}

// bytesPerStep is the number of bytes that Go's engine reads in about the time of one step.
const bytesPerStep = 16

// backtrack matches by backtracking. The result steps is the number of steps that it took.
func (m *Matcher) backtrack(text string) (matched bool, steps int, err error) {
	r := run{Matcher: m, text: text, left: maxSteps, failed: map[state]bool{}, done: map[state]int{}}
	if !m.plain {
		r.groups = make(spans, m.groups)
		for i := range r.groups {
			r.groups[i] = span{-1, -1, -1}
		}
	}
	for at := 0; ; {
		if r.match(0, at, r.failed) >= 0 {
			return true, maxSteps - r.left, nil
		}
		if r.left <= 0 {
			return false, maxSteps, ErrSteps
		}
		if at == len(text) {
			return false, maxSteps - r.left, nil
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
}

// state is a position in the program and in the text. The field progress has a bit for each enclosing loop. The bit is
// set once the current iteration of the loop has matched some text.
type state struct {
	pc, at   int
	progress uint64
}

// way is an entry of the stack of alternatives: a state to continue in, or a group to restore on the way there.
type way struct {
	state
	group int // number of the group to restore; 0: continue in the state
	was   span
}

type run struct {
	*Matcher
	text   string
	left   int   // remaining steps
	groups spans // unused for plain expressions
	failed map[state]bool
	done   map[state]int // where each match nested by opInside ended, or -1 if it failed
}

const allProgress = ^uint64(0)

// match runs the program from pc and the text position at, until opMatch. It returns the end of the match, or -1.
func (r *run) match(pc, at int, failed map[state]bool) int {
	ways := []way{{state: state{pc, at, allProgress}}}
	for len(ways) > 0 {
		w := ways[len(ways)-1]
		ways = ways[:len(ways)-1]
		if w.group > 0 {
			r.groups[w.group-1] = w.was
			continue
		}
		if end := r.follow(w.state, &ways, failed); end >= 0 {
			return end
		}
		if r.left <= 0 {
			return -1
		}
	}
	return -1
}

// follow runs the program from state s until it matches or fails. It pushes alternatives on ways.
func (r *run) follow(s state, ways *[]way, failed map[state]bool) int {
	for {
		if r.left--; r.left <= 0 {
			return -1
		}
		i := &r.prog[s.pc]
		s.pc++
		switch i.op {
		case opMatch:
			return s.at
		case opRunes:
			c, size := utf8.DecodeRuneInString(r.text[s.at:])
			if size == 0 || !contains(i.node.set, c) {
				return -1
			}
			s.advance(size)
		case opSplit, opSplitLazy:
			if !r.split(i, &s, ways, failed) {
				return -1
			}
		case opJump:
			s.pc = i.target
		case opBegin:
			s.progress &^= 1 << i.bit
		case opEnd:
			again := s.progress&(1<<i.bit) != 0
			s.progress |= 1 << i.bit
			if again {
				s.pc = i.target
			}
		case opOpen, opClose:
			if !r.plain {
				r.mark(i, s.at, ways)
			}
		case opBackref:
			n := r.referred(i.node, s.at)
			if n < 0 {
				return -1
			}
			s.advance(n)
		case opAssert:
			if !r.holds(i.node.kind, s.at) {
				return -1
			}
		case opChoice:
			if !r.hasMatched(i.node.groups) {
				s.pc = i.target
			}
		case opInside:
			end := r.inside(i, s, ways)
			if end < 0 {
				return -1
			}
			s.pc = i.target
			s.advance(end - s.at)
		}
	}
}

// advance moves s by n bytes. If n is positive, it records that all current iterations have matched some text.
func (s *state) advance(n int) {
	if n > 0 {
		s.at += n
		s.progress = allProgress
	}
}

// split continues s with one branch of instruction i, and pushes the other one onto ways. It returns false if the state
// has been tried before.
func (r *run) split(i *instruction, s *state, ways *[]way, failed map[state]bool) bool {
	if r.plain {
		if failed[*s] { // a state that failed, or is on the stack, is not tried again
			return false
		}
		failed[*s] = true
	}
	other := *s
	other.pc = i.target
	if i.op == opSplitLazy {
		*s, other = other, *s
	}
	*ways = append(*ways, way{state: other})
	return true
}

// mark records the start (opOpen) or the end (opClose) of a group.
func (r *run) mark(i *instruction, at int, ways *[]way) {
	g := r.groups[i.node.group-1]
	if i.op == opOpen {
		g.begun = at
	} else {
		g = span{g.begun, g.begun, at}
	}
	r.set(i.node.group, g, ways)
}

// inside runs a nested program and returns the end of its match, or -1. A lookaround consumes no text, so it ends at
// its start.
func (r *run) inside(i *instruction, s state, ways *[]way) int {
	from, ok := s.at, true
	if i.node.kind == behind {
		from, ok = r.back(s.at, i.node.back)
	}
	end := -1
	if ok {
		end = r.nested(i.node, state{pc: s.pc, at: from}, ways)
	}
	if i.node.kind == atomic || r.left <= 0 {
		return end
	}
	if holds := end >= 0 && (i.node.kind == ahead || end == s.at); holds == i.node.negative {
		return -1
	}
	return s.at
}

// nested runs the nested program that begins in state s. If it fails, nested restores the groups.
func (r *run) nested(n *node, s state, ways *[]way) int {
	if r.plain {
		end, tried := r.done[s]
		if !tried {
			end = r.match(s.pc, s.at, map[state]bool{})
			r.done[s] = end
		}
		return end
	}
	before := r.groups.clone()
	end := r.match(s.pc, s.at, nil)
	if end < 0 || n.negative {
		r.groups = before
		return end
	}
	for g := range before {
		if before[g] != r.groups[g] {
			*ways = append(*ways, way{group: g + 1, was: before[g]})
		}
	}
	return end
}

// back returns the position n characters before at. It returns false if there are fewer characters.
func (r *run) back(at, n int) (int, bool) {
	for ; n > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(r.text[:at])
		if size == 0 {
			return 0, false
		}
		at -= size
	}
	return at, true
}

// span describes a capturing group: where it began, and the start and end of its last match, or -1.
type span struct{ begun, start, end int }

type spans []span

func (s spans) clone() spans { return append(spans(nil), s...) }

// set changes a group, and pushes the old value on ways so that backtracking restores it.
func (r *run) set(group int, s span, ways *[]way) {
	*ways = append(*ways, way{group: group, was: r.groups[group-1]})
	r.groups[group-1] = s
}

func (r *run) hasMatched(groups []int) bool {
	for _, g := range groups {
		if r.groups[g-1].end >= 0 {
			return true
		}
	}
	return false
}

// referred returns the length of the text that a backreference matches at a position, or -1.
func (r *run) referred(n *node, at int) int {
	for _, g := range n.groups {
		s := r.groups[g-1]
		if s.end < 0 {
			continue
		}
		text, rest := r.text[s.start:s.end], r.text[at:]
		if strings.HasPrefix(rest, text) {
			return len(text)
		}
		if n.fold {
			end := at
			for range utf8.RuneCountInString(text) {
				_, size := utf8.DecodeRuneInString(r.text[end:])
				end += size
			}
			if strings.EqualFold(r.text[at:end], text) {
				return end - at
			}
		}
	}
	return -1
}

// holds reports whether an assertion is true at a position of the text.
func (r *run) holds(k kind, at int) bool {
	text := r.text
	switch k {
	case lineStart: // no line starts after a newline at the end of the text
		return at == 0 || text[at-1] == '\n' && at < len(text)
	case lineEnd:
		return at == len(text) || text[at] == '\n'
	case textStart:
		return at == 0
	case textEnd:
		return at == len(text)
	case lastLineEnd:
		return at == len(text) || at == len(text)-1 && text[at] == '\n'
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	edge := at > 0 && isWord(before) != (at < len(text) && isWord(after)) || at == 0 && at < len(text) && isWord(after)
	return edge == (k == wordEdge)
}

func isWord(c rune) bool {
	return unicode.IsLetter(c) || unicode.IsMark(c) || unicode.IsDigit(c) || unicode.Is(unicode.Pc, c)
}

// contains reports whether c is in one of the ranges. The argument pairs alternates between first and last characters.
func contains(pairs []rune, c rune) bool {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] <= c && c <= pairs[i+1] {
			return true
		}
	}
	return false
}
