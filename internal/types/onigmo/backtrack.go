package onigmo

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file implements lookaround, atomic groups, backreferences and conditions, which Go's engine does not support.
// It backtracks like Ruby. It counts steps instead of measuring time, so that results do not depend on the machine.
// For expressions without backreferences and conditions, it remembers the states that failed, as Ruby does since 3.2.
// The number of steps is then nearly always proportional to the length of the text.

const maxSteps = 1 << 18

// ErrSteps is the error for a match that takes too many steps.
var ErrSteps = errors.New("matching the regular expression takes too many steps")

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

// state is a position in the program and in the text. progress has a bit for each enclosing loop. The bit is set if
// the current iteration of the loop has matched some text.
type state struct {
	pc, at   int
	progress uint64
}

// way is an entry on the stack of alternatives: either a state to continue in, or a group to restore before that.
type way struct {
	state
	group int // number of the group to restore; 0 if this is a state
	was   span
}

type run struct {
	*Matcher
	text   string
	left   int   // remaining steps
	groups spans // nil if plain is set
	failed map[state]bool
	done   map[state]int // where the match of a nested program that starts in a state ended; -1 if it failed
}

const allProgress = ^uint64(0)

// match runs the program from pc at offset at of the text, until opMatch. It returns the offset where the match ends,
// or -1.
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

// follow runs the program from state s until it matches or fails, and pushes alternatives onto ways. It returns the
// offset where the match ends, or -1.
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

// advance moves s by n bytes. If n is positive, every enclosing loop has now matched some text.
func (s *state) advance(n int) {
	if n > 0 {
		s.at += n
		s.progress = allProgress
	}
}

// split continues s with one branch of instruction i, and pushes the other branch onto ways. It returns false if the
// state has been tried before.
func (r *run) split(i *instruction, s *state, ways *[]way, failed map[state]bool) bool {
	if r.plain {
		if failed[*s] { // the state has failed, or is on the stack
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

// mark records that a group starts (opOpen) or ends (opClose) at offset at.
func (r *run) mark(i *instruction, at int, ways *[]way) {
	g := r.groups[i.node.group-1]
	if i.op == opOpen {
		g.begun = at
	} else {
		g = span{g.begun, g.begun, at}
	}
	r.set(i.node.group, g, ways)
}

// inside runs a nested program and returns the offset where its match ends, or -1. A lookaround consumes no text: it
// ends where it starts.
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

// nested runs the nested program that starts in state s. If it fails, nested restores the groups.
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

// back returns the offset of the character that is n characters before at. It returns false if there are fewer
// characters.
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

// span has the offsets of a capturing group: where it was last opened, and the start and end of its last match. -1
// means never.
type span struct{ begun, start, end int }

type spans []span

func (s spans) clone() spans { return append(spans(nil), s...) }

// set changes a group and pushes its old value onto ways, so that backtracking restores it.
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

// referred returns the length of the text that the backreference n matches at offset at, or -1.
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

// holds reports whether the assertion k is true at offset at of the text.
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

// contains reports whether c is in one of the ranges. pairs alternates between their first and last characters.
func contains(pairs []rune, c rune) bool {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] <= c && c <= pairs[i+1] {
			return true
		}
	}
	return false
}
