package expr

import (
	"errors"
	"slices"

	"bindc/internal/types"
	"bindc/internal/value"
)

// These limits apply to Fold. It leaves expressions that exceed them to lookups.
const (
	foldSteps = 10_000
	foldSize  = 64 << 10
	foldBytes = 1 << 10

	foldTries   = 4  // number of attempts that may reach these limits before folding stops
	foldPerNode = 16 // additional steps for each node of the expression
)

// Fold returns n with all parts that have the same value in every request replaced by constants. It keeps parts that
// fail, so that a lookup that evaluates them reports the error.
func Fold(n *Node, functions *Functions) *Node {
	nodes := 0
	groups := n.any(true, func(n *Node) bool {
		nodes++
		return n.Op == Var && IsNumber(n.Name)
	})
	left := foldBounds(nodes)
	return folder{functions, groups, &left}.foldScope(n, true)
}

// foldBounds returns the total limits for folding an expression with the given number of nodes. Without them, deep
// expressions would be retried at each level.
func foldBounds(nodes int) Total {
	return Total{Steps: foldTries*foldSteps + foldPerNode*nodes, Size: foldTries * foldSize, Depth: DefaultDepth}
}

// constantEnv is an Env without variables and bindings. It records whether an expression uses any.
type constantEnv struct{ varies bool }

var errAsked = errors.New("not constant")

func (e *constantEnv) Variable(string) (value.Value, bool) {
	e.varies = true
	return value.Value{}, false
}

func (e *constantEnv) Lookup(string, *types.Type) (value.Value, bool, error) {
	e.varies = true
	return value.Value{}, false, errAsked
}

// varies records that the result of a function depends on more than its arguments.
func (ev *Evaluator) varies() {
	if e, ok := ev.env.(*constantEnv); ok {
		e.varies = true
	}
}

type folder struct {
	functions *Functions
	groups    bool   // the expression uses match variables such as $1, so matches must not be folded
	left      *Total // remaining limits
}

// foldScope folds n, whose assignments are only visible inside n. alone means that this is also true of the match
// variables that n sets.
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

// shortConstant returns the value of n if it is the same in every request, and is small or at most as large as n.
func (f folder) shortConstant(n *Node) (value.Value, bool) {
	if f.left.Steps <= 0 {
		return value.Value{}, false
	}
	if n.Op == Concat && slices.ContainsFunc(n.Kids, func(k *Node) bool { return k.Op == Var }) {
		return value.Value{}, false // an interpolated variable always varies
	}
	var env constantEnv
	v, err := Eval(n, &env, Options{Functions: f.functions, StrictVariables: true, Steps: foldSteps, Size: foldSize,
		Total: f.left})
	if env.varies || err != nil {
		return v, false
	}
	encoded := value.Append(nil, v)
	return v, (len(encoded) <= foldBytes || len(encoded) <= len(Append(nil, n))) && survives(v)
}

// survives reports whether v stays the same when it is encoded and decoded. A type may lose information.
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

// reassigns reports whether the body of l may assign to a parameter, which is an error. Folding only the body would
// not detect this error.
func (l *Lambda) reassigns() bool {
	return l.Body.any(false, func(n *Node) bool {
		return n.Op == Assign && (n.Name == "" || slices.ContainsFunc(l.Params,
			func(p Param) bool { return p.Name == n.Name }))
	})
}

func joinTexts(kids []*Node) []*Node {
	var out []*Node
	for i := 0; i < len(kids); {
		first, text := kids[i], []byte(nil)
		if first.Op != Const {
			out = append(out, first)
			i++
			continue
		}
		for ; i < len(kids) && kids[i].Op == Const; i++ {
			text = value.AppendText(text, kids[i].Value)
		}
		out = append(out, &Node{Op: Const, Off: first.Off, Value: value.FromString(string(text))})
	}
	return out
}

// any reports whether is returns true for n or a node inside n. inLambdas includes the nodes in lambdas.
func (n *Node) any(inLambdas bool, is func(*Node) bool) bool {
	if is(n) {
		return true
	}
	for _, k := range n.Kids {
		if k.any(inLambdas, is) {
			return true
		}
	}
	if inLambdas && n.Lambda != nil {
		for k := range n.Lambda.below {
			if k.any(true, is) {
				return true
			}
		}
	}
	return false
}

// assigns reports whether n assigns variables that later nodes can use.
func assigns(n *Node) bool {
	return n.any(false, func(n *Node) bool { return n.Op == Assign })
}

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
