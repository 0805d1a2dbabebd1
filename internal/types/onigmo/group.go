package onigmo

import (
	"errors"
	"fmt"
	"strings"
)

// groupKinds lists the kinds of groups that only the backtracking engine supports.
var groupKinds = []struct {
	prefix string
	node
}{
	{"(?=", node{kind: ahead}}, {"(?!", node{kind: ahead, negative: true}},
	{"(?<=", node{kind: behind}}, {"(?<!", node{kind: behind, negative: true}}, {"(?>", node{kind: atomic}},
}

// parenthesis parses a group, or options such as (?i) and the text that they apply to.
func (r *reader) parenthesis(depth int) (*node, error) {
	for _, g := range groupKinds {
		if strings.HasPrefix(r.rest(), g.prefix) {
			r.pos += len(g.prefix)
			n := g.node
			body, err := r.closed(depth)
			if err != nil {
				return nil, err
			}
			n.kids = []*node{body}
			if n.kind == behind {
				return lookbehind(n.negative, body)
			}
			return &n, nil
		}
	}
	if m := byChoice().FindStringSubmatch(r.rest()); m != nil {
		return r.conditional(depth, m[0], m[1]+m[2]+m[3])
	}
	if strings.HasPrefix(r.rest(), "(?~") {
		return nil, errors.New("absence operators (?~...) are not supported")
	}
	return r.grouped(depth)
}

// grouped parses a capturing group, or (?:...) with its options.
func (r *reader) grouped(depth int) (*node, error) {
	fold, dotAll, extended := r.fold, r.dotAll, r.extended
	open, closed, err := r.groupStart()
	if err != nil {
		return nil, err
	}
	group := 0
	if name, named := strings.CutPrefix(open, "(?P<"); named || open == "(" {
		r.groups++
		group = r.groups
		if named {
			name = strings.TrimSuffix(name, ">")
			r.names[name] = append(r.names[name], group)
		}
	} else {
		on, off, _ := strings.Cut(strings.Trim(open, "(?:"), "-")
		r.fold = (r.fold || strings.Contains(on, "i")) && !strings.Contains(off, "i")
		r.dotAll = (r.dotAll || strings.Contains(on, "s")) && !strings.Contains(off, "s")
	}
	if !closed { // the options apply up to the end of the enclosing group, across its other alternatives
		body, err := r.alternation(depth + 1)
		r.fold, r.dotAll = fold, dotAll // the option x stays set, as in translator.group
		return body, err
	}
	if group > 0 {
		r.open = append(r.open, group)
		defer func() { r.open = r.open[:len(r.open)-1] }()
	}
	body, err := r.closed(depth)
	r.fold, r.dotAll, r.extended = fold, dotAll, extended
	if group > 0 {
		body = &node{kind: capture, group: group, kids: []*node{body}}
	}
	return body, err
}

func (r *reader) closed(depth int) (*node, error) {
	fold, dotAll, extended := r.fold, r.dotAll, r.extended
	body, err := r.alternation(depth + 1)
	r.fold, r.dotAll, r.extended = fold, dotAll, extended
	if err == nil && r.pos == len(r.src) {
		err = fmt.Errorf("unmatched ( in /%s/", r.src)
	}
	r.pos++
	return body, err
}

// conditional parses (?(group)yes|no).
func (r *reader) conditional(depth int, open, name string) (*node, error) {
	r.pos += len(open)
	body, err := r.closed(depth)
	if err != nil {
		return nil, err
	}
	out := &node{kind: conditional, kids: []*node{body, {}}}
	if body.kind == alternatives {
		if len(body.kids) > 2 {
			return nil, fmt.Errorf("a condition has more than two alternatives in /%s/", r.src)
		}
		out.kids = body.kids
	}
	return r.reference(out, name)
}
