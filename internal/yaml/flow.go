package yaml

import "strings"

// flow reads a list in brackets or a hash in braces on one line. In a file that is not ASCII, it accepts only empty
// lists and hashes, because counting columns would take quadratic time.
func (r *blockReader) flow() (n Node, ok bool) {
	if r.depth == maxBlocks || !r.ascii && r.peek(1) != ']' && r.peek(1) != '}' {
		return Node{}, false
	}
	n = r.node()
	opening := r.peek(0)
	r.off++
	r.depth++
	r.inFlow++
	if opening == '[' {
		n.Kind = Sequence
		n.Kids, ok = r.flowElements()
	} else {
		n.Kind = Mapping
		n.Kids, ok = r.flowEntries()
	}
	r.inFlow--
	r.depth--
	return n, ok
}

func (r *blockReader) flowElements() (kids []Node, ok bool) {
	from := len(r.open)
	for !r.closes(']') {
		kid, ok := r.inline(0)
		if !ok || !r.separated(']') {
			return nil, false
		}
		r.open = append(r.open, kid)
	}
	return r.close(from), true
}

func (r *blockReader) flowEntries() (kids []Node, ok bool) {
	from := len(r.open)
	m := r.mapping()
	for !r.closes('}') {
		key, ok := r.key(m, from)
		if !ok {
			return nil, false
		}
		r.blanks()
		val, ok := r.inline(0)
		if !ok || !r.separated('}') {
			return nil, false
		}
		r.open = append(r.open, key, val)
	}
	return r.close(from), true
}

// closes skips the closing bracket if it is next, and reports whether it did.
func (r *blockReader) closes(bracket byte) bool {
	r.blanks()
	if r.peek(0) != bracket {
		return false
	}
	r.off++
	return true
}

// separated skips the comma after an element. It returns false if neither a comma nor the closing bracket follows.
func (r *blockReader) separated(bracket byte) bool {
	r.blanks()
	if r.peek(0) == ',' {
		r.off++
		return true
	}
	return r.peek(0) == bracket
}

// plainInFlow reads a plain scalar inside brackets. It gives up at characters with a special meaning there.
func (r *blockReader) plainInFlow() (string, bool) {
	rest := r.src[r.off:]
	text := strings.TrimRight(rest[:max(0, strings.IndexAny(rest, indicators+"\n"))], " ")
	r.off += len(text)
	return text, text != "" && text[0] != '-'
}
