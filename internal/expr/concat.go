package expr

import (
	"strconv"
	"strings"

	"bindc/internal/value"
)

// join is a fast path for a Concat with simple parts, which nearly all interpolated strings are. It only allocates
// the result. ok is false for other parts, and for errors.
func join(n *Node, env Env, opts Options) (v value.Value, ok bool) {
	var few [16]value.Value
	parts, length := few[:0], 0
	for _, k := range n.Kids {
		part, ok := simple(k, env, opts.StrictVariables)
		if !ok {
			return v, false
		}
		length += textSize(part)
		parts = append(parts, part)
	}
	size := orDefault(opts.Size, DefaultSize)
	if length > size {
		return v, false // the caller evaluates n again and reports the error
	}
	var b strings.Builder
	b.Grow(length)
	for _, part := range parts {
		writeText(&b, part)
	}
	return value.FromString(b.String()), b.Len() <= size
}

// simple is a fast path for constants, variables, accesses to these by a constant key, and variables in Hiera 5
// strings. ok is false for other nodes.
func simple(n *Node, env Env, strict bool) (v value.Value, ok bool) {
	switch n.Op {
	case Const:
		return n.Value, true
	case Var:
		if v, ok = variableOf(env, n.Name); !ok {
			missed(env, n.Name)
		}
		return v, ok || !strict
	case Access:
		if len(n.Kids) != 2 || n.Kids[1].Op != Const {
			return v, false
		}
		container, ok := simple(n.Kids[0], env, strict)
		if !ok {
			return v, false
		}
		v, ok = element(container, n.Kids[1].Value)
		if ok {
			missedKey(env, n, container, v)
		}
		return v, ok
	case Call:
		if n.Name == HieraScope {
			return plainText(n, func(name string) (value.Value, error) { return givenBy(env, name) })
		}
	}
	return v, false
}

func textSize(v value.Value) int {
	if k := v.Kind(); k == value.Int || k == value.Bool {
		return 5
	}
	return len(v.Text())
}

func writeText(b *strings.Builder, v value.Value) {
	switch v.Kind() {
	case value.String:
		b.WriteString(v.Text())
	case value.Int:
		var digits [20]byte
		b.Write(strconv.AppendInt(digits[:0], v.Int(), 10))
	case value.Undef:
	default:
		b.Write(value.AppendText(nil, v))
	}
}

func (ev *Evaluator) concat(n *Node) (value.Value, error) {
	var b strings.Builder
	for _, k := range n.Kids {
		v, err := ev.eval(k)
		if err != nil {
			return v, err
		}
		if err := ev.Produce(Weight(v)); err != nil {
			return v, err
		}
		writeText(&b, v)
	}
	return value.FromString(b.String()), nil
}

// Weight estimates the length of the text of v without creating the text.
func Weight(v value.Value) int {
	switch v.Kind() {
	case value.String, value.Regexp:
		return len(v.Text())
	case value.Array:
		n := 2
		for e := range v.Elems() {
			n += 2 + Weight(e)
		}
		return n
	case value.Hash:
		n := 2
		for k, e := range v.Pairs() {
			n += 6 + Weight(k) + Weight(e)
		}
		return n
	}
	return 8
}
