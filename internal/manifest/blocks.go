package manifest

import "slices"

// block is the code between two brackets.
type block struct {
	within      string // the class, or other definition, whose body contains the code; "" at the top and in nodes
	conditional bool   // the code may not run, as in the body of an if
	path        []int  // offsets of the brackets around the code, outermost first
}

// defining lists the words that begin a definition with a body.
var defining = []string{"class", "define", "function", "plan", "node"}

// blocks follows the brackets of a manifest.
type blocks struct {
	*parser
	open []block // the last one contains the token that is being read

	pending *block // the definition whose body comes next; may be nil
	depth   int    // number of open brackets around pending
}

// see processes token i, and returns the block that contains the token.
func (b *blocks) see(i int) block {
	switch t := &b.tokens[i]; {
	case t.kind == name && slices.Contains(defining, t.text) && !b.is(i+1, "{") && !b.is(i+1, "=>") && !b.is(i-1, "."):
		b.pending, b.depth = b.definition(i), len(b.open)
	case t.kind == punct && t.text == "{" && b.pending != nil && b.depth == len(b.open):
		b.pending.path = append(slices.Clone(b.inside().path), t.at)
		b.open, b.pending = append(b.open, *b.pending), nil
	case t.kind == punct && (t.text == "(" || t.text == "[" || t.text == "{"):
		inner := b.inside()
		inner.conditional = inner.conditional || t.text == "{" && !b.isWord(i-1, "class")
		inner.path = append(slices.Clone(inner.path), t.at)
		b.open = append(b.open, inner)
	case t.kind == punct && (t.text == ")" || t.text == "]" || t.text == "}") && len(b.open) > 0:
		b.open = b.open[:len(b.open)-1]
	}
	if b.pending != nil && b.depth == len(b.open) {
		return *b.pending
	}
	return b.inside()
}

func (b *blocks) inside() block {
	if len(b.open) == 0 {
		return block{}
	}
	return b.open[len(b.open)-1]
}

// definition returns the body of the definition that begins at token i.
func (b *blocks) definition(i int) *block {
	out := b.inside()
	if b.tokens[i].text == "node" || i+1 >= len(b.tokens) {
		return &out
	}
	name := b.tokens[i+1].text
	if out.within != "" {
		name = out.within + "::" + name
	}
	return &block{within: name}
}
