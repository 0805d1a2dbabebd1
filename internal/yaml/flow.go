package yaml

import "strings"

// flow reads a list in brackets or a hash in braces, on one line. Where characters are not bytes it gives way to all
// but empty ones, as it would take quadratic time to count columns.
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
	var m mapping
	for !r.closes('}') {
		key, ok := r.key(&m, from)
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

// closes takes the bracket that ends a list or hash, if it is next.
func (r *blockReader) closes(bracket byte) bool {
	r.blanks()
	if r.peek(0) != bracket {
		return false
	}
	r.off++
	return true
}

// separated takes the comma behind an element, which may be absent before the bracket.
func (r *blockReader) separated(bracket byte) bool {
	r.blanks()
	if r.peek(0) == ',' {
		r.off++
		return true
	}
	return r.peek(0) == bracket
}

// plainInFlow reads a plain scalar in brackets or braces that has no characters that mean something there or could
// elsewhere.
func (r *blockReader) plainInFlow() (string, bool) {
	rest := r.src[r.off:]
	text := strings.TrimRight(rest[:max(0, strings.IndexAny(rest, indicators+"\n"))], " ")
	r.off += len(text)
	return text, text != "" && text[0] != '-'
}
