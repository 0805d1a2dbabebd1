package decision

import (
	"strings"

	"bindc/internal/expr"
	"bindc/internal/value"
)

// piece is a part of the text of a dimension: a constant text, or a variable by its path.
type piece struct {
	text     string
	variable string
}

// between separates the names in the path of a variable.
const between = "\x00"

// assignment is the texts of variables, by path.
type assignment map[string]string

// pieces returns the parts of the text that n yields; not ok if it is not text around variables.
func pieces(n *expr.Node, mapped map[string]string) (out []piece, ok bool) {
	if v, constant := n.Constant(); constant {
		return []piece{{text: string(value.AppendText(nil, v))}}, true
	}
	kids := n.Kids
	if dir, path, is := n.AsHieraPath(); is {
		kids = []*expr.Node{dir, path}
	} else if n.Lambda != nil && n.Op == expr.Call { // of mapped_paths: a number, a variable and the template of a path
		path, ok := pathOf(n.Kids[1:])
		if !ok || len(n.Lambda.Params) != 1 {
			return nil, false
		}
		number := string(value.AppendText(nil, n.Kids[0].Value))
		return pieces(n.Lambda.Body, map[string]string{n.Lambda.Params[0].Name: path + elementMark + number})
	} else if n.Op != expr.Concat {
		path, ok := variableOf(n)
		if at, is := mapped[path]; is {
			path = at
		}
		return []piece{{variable: path}}, ok
	}
	for _, k := range kids {
		more, ok := pieces(k, mapped)
		if !ok {
			return nil, false
		}
		out = append(out, more...)
	}
	return out, true
}

// elementMark is in front of the number of an element of the list that mapped_paths goes through.
const elementMark = "\x00\x00"

// variableOf returns the path of a variable of an expression, or of Hiera 5.
func variableOf(n *expr.Node) (path string, ok bool) {
	switch {
	case n.Op == expr.Var:
		return normal([]string{n.Name}), true
	case n.Op == expr.Call && n.Name == expr.HieraScope:
		return pathOf(n.Kids)
	case n.Op == expr.Access:
		root, ok := variableOf(n.Kids[0])
		if !ok {
			return "", false
		}
		names := strings.Split(root, between)
		if n.Kids[0].Op == expr.Var {
			names = []string{n.Kids[0].Name}
		}
		for _, k := range n.Kids[1:] {
			v, constant := k.Constant()
			if !constant {
				return "", false
			}
			names = append(names, string(value.AppendText(nil, v)))
		}
		return normal(names), true
	}
	return "", false
}

func pathOf(kids []*expr.Node) (path string, ok bool) {
	var names []string
	for _, k := range kids {
		v, constant := k.Constant()
		if !constant {
			return "", false
		}
		names = append(names, string(value.AppendText(nil, v)))
	}
	return normal(names), len(names) > 0
}

// normal joins a path. A fact has one path, whether it is asked for by $facts or by its name.
func normal(names []string) string {
	names[0] = strings.TrimPrefix(names[0], "::")
	if names[0] == "facts" && len(names) > 1 {
		names = names[1:]
	}
	return strings.Join(names, between)
}

// maxSolving bounds the steps of one search for the texts of variables.
const maxSolving = 10_000

// equation asks pieces to yield a text.
type equation struct {
	pieces []piece
	text   string
}

// solution finds texts of variables so that all equations hold; nil if it finds none.
func solution(equations []equation) assignment {
	s := solving{known: assignment{}}
	if !s.solve(equations) {
		return nil
	}
	return s.known
}

type solving struct {
	known assignment
	steps int
}

func (s *solving) solve(left []equation) bool {
	if s.steps++; s.steps > maxSolving {
		return false
	}
	if len(left) == 0 {
		return true
	}
	e := left[0]
	if len(e.pieces) == 0 {
		return e.text == "" && s.solve(left[1:])
	}
	p, rest := e.pieces[0], append([]equation{{pieces: e.pieces[1:]}}, left[1:]...)
	text, known := p.text, true
	if p.variable != "" {
		text, known = s.known[p.variable]
	}
	if known {
		after, ok := strings.CutPrefix(e.text, text)
		rest[0].text = after
		return ok && s.solve(rest)
	}
	last := len(e.pieces) == 1 // nothing else can take the rest
	for n := 1; n <= len(e.text); n++ {
		if last {
			n = len(e.text)
		}
		s.known[p.variable], rest[0].text = e.text[:n], e.text[n:]
		if s.solve(rest) {
			return true
		}
	}
	delete(s.known, p.variable)
	rest[0].text = e.text // the variable may not be set
	return s.solve(rest)
}
