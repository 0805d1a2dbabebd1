package onigmo

import (
	"errors"
	"slices"
)

// lookbehind returns a node for (?<=body) or (?<!body). As in Ruby, each alternative must have a fixed length, but
// the lengths may differ.
func lookbehind(negative bool, body *node) (*node, error) {
	each := []*node{body}
	if body.kind == alternatives {
		each = body.kids
	}
	out := &node{kind: alternatives}
	for _, alternative := range each {
		length, ok := alternative.length()
		if !ok || !alternative.fitsBehind(negative) {
			return nil, errors.New("invalid pattern in look-behind: expected a fixed number of characters")
		}
		out.kids = append(out.kids, &node{kind: behind, back: length, kids: []*node{alternative}})
	}
	if negative { // no alternative may match
		for _, kid := range out.kids {
			kid.negative = true
		}
		return &node{kids: out.kids}, nil
	}
	return &node{kind: ahead, kids: []*node{out}}, nil // inside a lookahead, so that it consumes no text
}

// length returns the number of characters that n matches. It returns false if that number is not fixed.
func (n *node) length() (int, bool) {
	total := 0
	switch n.kind {
	case runes:
		return 1, true
	case repeat:
		each, ok := n.kids[0].length()
		return each * n.min, ok && n.min == n.max
	case sequence, capture, atomic:
		for _, kid := range n.kids {
			each, ok := kid.length()
			if !ok {
				return 0, false
			}
			total += each
		}
	case alternatives, conditional:
		for i, kid := range n.kids {
			each, ok := kid.length()
			if !ok || i > 0 && each != total {
				return 0, false
			}
			total = each
		}
	case backref:
		return 0, false
	}
	return total, true
}

// isBehind reports whether n was created by lookbehind.
func (n *node) isBehind() bool {
	if n.kind == ahead {
		n = n.kids[0]
	}
	return len(n.kids) > 0 && n.kids[0].kind == behind
}

// fitsBehind reports whether Ruby accepts n inside a lookbehind.
func (n *node) fitsBehind(negative bool) bool {
	switch n.kind {
	case ahead:
		return n.isBehind()
	case behind:
		return true
	case atomic, backref, conditional, textEnd, lastLineEnd:
		return false
	case capture:
		if negative {
			return false
		}
	}
	return !slices.ContainsFunc(n.kids, func(kid *node) bool { return !kid.fitsBehind(negative) })
}

// nullable reports whether n can match the empty text.
func (n *node) nullable() bool {
	switch n.kind {
	case runes:
		return false
	case repeat:
		return n.min == 0 || n.kids[0].nullable()
	case sequence, capture, atomic:
		return !slices.ContainsFunc(n.kids, func(kid *node) bool { return !kid.nullable() })
	case alternatives, conditional:
		return slices.ContainsFunc(n.kids, (*node).nullable)
	}
	return true
}
