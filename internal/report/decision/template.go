package decision

import (
	"slices"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/value"
)

// piece is a part of a dimension's text: either constant text, or a variable if variable is not "".
type piece struct {
	text     string
	variable string
}

// pathSeparator separates the parts of a variable's path.
const pathSeparator = "\x00"

// assignment maps the paths of variables to their texts.
type assignment map[string]string

// pieces splits the text that n evaluates to. ok is false unless n consists only of text and variables.
func pieces(n *expr.Node, mapped map[string]string) (out []piece, ok bool) {
	if v, constant := n.Constant(); constant {
		return []piece{{text: string(value.AppendText(nil, v))}}, true
	}
	kids := n.Kids
	if dir, path, is := n.AsHieraPath(); is {
		kids = []*expr.Node{dir, path}
	} else if n.Lambda != nil && n.Op == expr.Call { // made from mapped_paths
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

// Piece is a part of the text that a dimension evaluates to: a variable if Variable is not "", and otherwise constant
// text.
type Piece struct{ Text, Variable string }

// Template splits the text that n evaluates to. ok is false unless n consists only of text and variables.
func Template(n *expr.Node) (out []Piece, ok bool) {
	parts, ok := pieces(n, nil)
	for _, p := range parts {
		out = append(out, Piece{p.text, p.variable})
	}
	return out, ok
}

// VariablePath returns the variable that n reads, in the form of Piece.Variable. ok is false if n is anything else.
func VariablePath(n *expr.Node) (path string, ok bool) { return variableOf(n) }

// NewSample returns the request with the given variables. Its keys have the form of Piece.Variable.
func NewSample(texts map[string]string) Sample { return Sample{values: texts} }

// elementMark precedes the index in the path of a list element, for mapped_paths.
const elementMark = "\x00\x00"

// variableOf returns the path of the variable that an expression or an interpolation of Hiera 5 reads.
func variableOf(n *expr.Node) (path string, ok bool) {
	switch {
	case n.Op == expr.Var:
		return joinPath([]string{n.Name}), true
	case n.Op == expr.Call && n.Name == expr.HieraScope:
		return pathOf(n.Kids)
	case n.Op == expr.Access:
		root, ok := variableOf(n.Kids[0])
		if !ok {
			return "", false
		}
		names := strings.Split(root, pathSeparator)
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
		return joinPath(names), true
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
	return joinPath(names), len(names) > 0
}

// noFacts lists variables that every request has and that are not the facts of the same name.
var noFacts = []string{"environment", "trusted", "server_facts"}

// joinPath joins the parts of a path. A fact has the same path with and without $facts.
func joinPath(names []string) string {
	names[0] = strings.TrimPrefix(names[0], "::")
	if names[0] == "facts" && len(names) > 1 && !slices.Contains(noFacts, names[1]) {
		names = names[1:]
	}
	return strings.Join(names, pathSeparator)
}

// maxSolving limits the number of steps in the search for a solution.
const maxSolving = 10_000

// equation states that the pieces, one after the other, give the text.
type equation struct {
	pieces []piece
	text   string
}

// solution returns variables that solve all equations, or nil if it finds none.
func solution(equations []equation) assignment {
	s := solving{values: assignment{}}
	if !s.solve(equations) {
		return nil
	}
	return s.values
}

type solving struct {
	values assignment
	steps  int
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
		text, known = s.values[p.variable]
	}
	if known {
		after, ok := strings.CutPrefix(e.text, text)
		rest[0].text = after
		return ok && s.solve(rest)
	}
	last := len(e.pieces) == 1 // the last piece must take the whole text
	for n := 1; n <= len(e.text); n++ {
		if last {
			n = len(e.text)
		}
		s.values[p.variable], rest[0].text = e.text[:n], e.text[n:]
		if s.solve(rest) {
			return true
		}
	}
	delete(s.values, p.variable)
	rest[0].text = e.text // as a last resort, leave the variable unset
	return s.solve(rest)
}
