package expr

import (
	"errors"
	"slices"

	"bindc/internal/types"
	"bindc/internal/value"
)

// Limits on what Fold computes ahead: more than that is left to the lookup.
const (
	foldSteps = 10_000
	foldSize  = 64 << 10
	foldBytes = 1 << 10

	foldTries   = 4  // total budget, in units of a try that reaches its limit,
	foldPerNode = 16 // plus this for each node; without the limit a deep expression would be tried again at each level
)

// Fold replaces the parts of n that do not depend on the request by their values. Parts that would fail stay, so that
// the error is reported by the lookup that meets it. n itself is not changed.
func Fold(n *Node, functions *Functions) *Node {
	nodes := 0
	groups := n.any(true, func(n *Node) bool {
		nodes++
		return n.Op == Var && IsNumber(n.Name)
	})
	left := foldBounds(nodes)
	return folder{functions, groups, &left}.foldScope(n, true)
}

// foldBounds returns the budget for folding an expression of that many nodes.
func foldBounds(nodes int) Total {
	return Total{Steps: foldTries*foldSteps + foldPerNode*nodes, Size: foldTries * foldSize, Depth: DefaultDepth}
}

// nothing is the surroundings of a constant: it notes that an expression asks for more.
type nothing struct{ asked bool }

var errAsked = errors.New("not constant")

func (e *nothing) Variable(string) (value.Value, bool) {
	e.asked = true
	return value.Value{}, false
}

func (e *nothing) Lookup(string, *types.Type) (value.Value, bool, error) {
	e.asked = true
	return value.Value{}, false, errAsked
}

// varies notes that the answer of a function depends on more than its arguments.
func (ev *Evaluator) varies() {
	if e, ok := ev.env.(*nothing); ok {
		e.asked = true
	}
}

// folder folds the parts of one expression.
type folder struct {
	functions *Functions
	groups    bool   // $1 and the like occur, so matches must not be folded away
	left      *Total // the remaining budget
}

// foldScope folds a node that has a scope of its own, whose assignments nobody else sees. alone tells that nobody
// outside sets its match variables either.
func (f folder) foldScope(n *Node, alone bool) *Node {
	if alone || !f.groups {
		if v, ok := f.shortConstant(n); ok {
			return &Node{Op: Const, Off: n.Off, Value: v}
		}
	}
	return f.fold(n)
}

func (f folder) fold(n *Node) *Node {
	if n.Op == Const || n.Op == Var || n.Op == Block && len(n.Kids) == 0 {
		return n
	}
	if n.Op != Option && n.Op != Splat && !assigns(n) && !(f.groups && usesMatch(n)) {
		if v, ok := f.shortConstant(n); ok {
			return &Node{Op: Const, Off: n.Off, Value: v}
		}
	}
	return f.foldKids(n)
}

// shortConstant is what n is in every request, if that takes little space or no more than n does.
func (f folder) shortConstant(n *Node) (value.Value, bool) {
	if f.left.Steps <= 0 {
		return value.Value{}, false
	}
	if n.Op == Concat && slices.ContainsFunc(n.Kids, func(k *Node) bool { return k.Op == Var }) {
		return value.Value{}, false // as nearly all strings that interpolate; no need to try
	}
	var env nothing
	v, err := Eval(n, &env, Options{Functions: f.functions, StrictVariables: true, Steps: foldSteps, Size: foldSize,
		Total: f.left})
	if env.asked || err != nil {
		return v, false
	}
	encoded := value.Append(nil, v)
	return v, (len(encoded) <= foldBytes || len(encoded) <= len(Append(nil, n))) && survives(v)
}

// survives tells whether v means the same after encoding: a type may know more than its text says.
func survives(v value.Value) bool {
	back, err := settle(v)
	if err != nil || v.Kind() != value.Type {
		return err == nil && !holdsType(v)
	}
	a, errA := types.FromValue(back)
	b, errB := types.Parse(a.String())
	return errA == nil && errB == nil && a.Equal(b)
}

func (f folder) foldKids(n *Node) *Node {
	out := *n
	out.Kids = make([]*Node, len(n.Kids))
	for i, k := range n.Kids {
		out.Kids[i] = f.fold(k)
	}
	if n.Op == Concat {
		out.Kids = joinTexts(out.Kids)
	}
	if n.Lambda != nil {
		out.Lambda = f.foldLambda(n.Lambda)
	}
	return &out
}

func (f folder) foldLambda(l *Lambda) *Lambda {
	out := &Lambda{Params: append([]Param(nil), l.Params...)}
	if l.reassigns() {
		out.Body = f.fold(l.Body)
	} else {
		out.Body = f.foldScope(l.Body, false)
	}
	for i := range out.Params {
		if p := &out.Params[i]; p.Type != nil {
			p.Type = f.fold(p.Type)
		}
		if p := &out.Params[i]; p.Default != nil {
			p.Default = f.fold(p.Default)
		}
	}
	return out
}

// reassigns tells whether the body may assign a parameter: an error, of which the body by itself knows nothing.
func (l *Lambda) reassigns() bool {
	return l.Body.any(false, func(n *Node) bool {
		return n.Op == Assign && (n.Name == "" || slices.ContainsFunc(l.Params,
			func(p Param) bool { return p.Name == n.Name }))
	})
}

// joinTexts joins neighbouring constants of a string.
func joinTexts(kids []*Node) []*Node {
	var out []*Node
	for _, k := range kids {
		if k.Op != Const {
			out = append(out, k)
			continue
		}
		text, off := []byte(nil), k.Off
		if last := len(out) - 1; last >= 0 && out[last].Op == Const {
			text, off = value.AppendText(nil, out[last].Value), out[last].Off
			out = out[:last]
		}
		out = append(out, &Node{Op: Const, Off: off, Value: value.FromString(string(value.AppendText(text, k.Value)))})
	}
	return out
}

// any tells whether n or a node in it fulfils is, in lambdas too if inLambdas.
func (n *Node) any(inLambdas bool, is func(*Node) bool) bool {
	if is(n) {
		return true
	}
	for _, k := range n.Kids {
		if k.any(inLambdas, is) {
			return true
		}
	}
	return inLambdas && n.Lambda != nil && n.Lambda.any(is)
}

func (l *Lambda) any(is func(*Node) bool) bool {
	for _, p := range l.Params {
		if p.Type != nil && p.Type.any(true, is) || p.Default != nil && p.Default.any(true, is) {
			return true
		}
	}
	return l.Body.any(true, is)
}

// assigns tells whether n sets variables that what follows it may use.
func assigns(n *Node) bool {
	return n.any(false, func(n *Node) bool { return n.Op == Assign })
}

// usesMatch tells whether n sets or uses match variables.
func usesMatch(n *Node) bool {
	return n.any(true, func(n *Node) bool {
		switch n.Op {
		case Case, Selector:
			return true
		case Var:
			return IsNumber(n.Name)
		case Binary:
			return n.Name == "=~" || n.Name == "!~" || n.Name == "in"
		}
		return false
	})
}
