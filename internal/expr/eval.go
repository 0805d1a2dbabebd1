package expr

import (
	"errors"
	"fmt"

	"bindc/internal/types"
	"bindc/internal/value"
)

// Env is what surrounds an expression: the facts of the request and the other bindings.
type Env interface {
	// Variable is the variable of that name, without a leading ::; false where it is not defined.
	Variable(name string) (value.Value, bool)
	// Lookup answers a call of lookup(). typ is nil where none is asked for, else the answer is of that type. An error
	// is handed through, so that the caller of Eval finds it with errors.As.
	Lookup(key string, typ *types.Type) (v value.Value, found bool, err error)
}

// Options bound an evaluation and name what it may call. Zero bounds mean the defaults.
type Options struct {
	Functions       *Functions // that expressions may call, or nil
	StrictVariables bool       // an undefined variable is an error
	Steps           int        // how many nodes are evaluated, loops counted each time
	Depth           int        // how deep nodes and lambdas may be nested
	Size            int        // how much is produced in all, in bytes
	Total           *Total
}

// Total bounds several evaluations, of which one may lead to another. Its fields are what is left.
type Total struct {
	Steps int
	Size  int // of results, in bytes as text, those of which others are made included
	Depth int // nesting of nodes and lambdas, across evaluations that lookups nest
}

// Add takes a result from what is left.
func (t *Total) Add(v value.Value) error {
	s := scale{limit: t.Size}
	if err := s.add(v, value.MaxDepth); err != nil {
		t.Size = 0
		return err
	}
	t.Size -= s.bytes + sizeOfNode*(s.nodes-1)
	return nil
}

// The defaults of Options, far beyond what data needs and far below what hurts.
const (
	DefaultSteps = 1 << 20
	DefaultDepth = 4000
	DefaultSize  = 128 << 20
)

// EvalError says what is wrong in an expression. Off is the byte offset in its source. Err is the cause, if it is
// another error: that of an Env, above all.
type EvalError struct {
	Off     int
	Message string
	Err     error
}

func (e *EvalError) Error() string { return e.Message }
func (e *EvalError) Unwrap() error { return e.Err }

// failf makes the error of node n.
func failf(n *Node, format string, args ...any) error {
	return &EvalError{Off: n.Off, Message: fmt.Sprintf(format, args...)}
}

// at gives an error that has no place yet the place of n.
func at(n *Node, err error) error {
	var e *EvalError
	if err == nil || errors.As(err, &e) {
		return err
	}
	return &EvalError{Off: n.Off, Message: err.Error(), Err: err}
}

// Eval evaluates n in env.
func Eval(n *Node, env Env, opts Options) (value.Value, error) {
	switch n.Op {
	case Const:
		return n.Value, nil
	case Concat:
		if v, ok := join(n, env, opts); ok {
			return v, nil
		}
	}
	return newEvaluator(env, opts).eval(n)
}

// CallLambda calls l with args in the top scope of env.
func CallLambda(l *Lambda, env Env, opts Options, args ...value.Value) (value.Value, error) {
	ev := newEvaluator(env, opts)
	return ev.callClosure(&Closure{l, ev.locals}, l.Body, args...)
}

// Evaluator is one evaluation: what is left of its bounds, and the innermost scope.
type Evaluator struct {
	env       Env
	strict    bool
	steps     int
	depth     int
	begin     int // initial value of depth
	size      int
	total     *Total // or nil
	whole     int    // what size was at first: the bound on one value
	locals    *locals
	top       locals
	functions *Functions
}

func newEvaluator(env Env, opts Options) *Evaluator {
	size := orDefault(opts.Size, DefaultSize)
	ev := &Evaluator{
		env:       env,
		strict:    opts.StrictVariables,
		steps:     orDefault(opts.Steps, DefaultSteps),
		depth:     orDefault(opts.Depth, DefaultDepth),
		size:      size,
		total:     opts.Total,
		whole:     size,
		functions: opts.Functions,
	}
	ev.locals = &ev.top
	if opts.Total != nil {
		ev.depth = min(ev.depth, opts.Total.Depth)
	}
	ev.begin = ev.depth
	return ev
}

func orDefault(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

func (ev *Evaluator) eval(n *Node) (value.Value, error) {
	if n.Op == Const {
		return n.Value, nil
	}
	if err := ev.Spend(1); err != nil {
		return value.Value{}, at(n, err)
	}
	if ev.depth == 0 {
		return value.Value{}, at(n, ErrDepth)
	}
	ev.depth--
	v, err := ev.dispatch(n)
	ev.depth++
	return v, at(n, err)
}

func (ev *Evaluator) dispatch(n *Node) (value.Value, error) {
	switch n.Op {
	case Var:
		return ev.evalVariable(n)
	case Concat:
		return ev.concat(n)
	case ArrayLit:
		elems, err := ev.list(n.Kids)
		if err != nil {
			return value.Value{}, err
		}
		return ev.MakeArray(elems)
	case HashLit:
		return ev.hash(n)
	case Splat:
		elems, err := ev.splat(n)
		return value.FromSlice(elems), err
	case Access:
		return ev.access(n)
	case TypeName:
		t, err := types.Named(n.Name)
		return t.Value(), err
	case Call:
		if n.Name == HieraScope {
			if v, ok := plainText(n, ev.given); ok {
				return v, nil
			}
		}
		return ev.call(n)
	case Unary:
		return ev.unary(n)
	case Binary:
		return ev.binary(n)
	case If:
		return ev.condition(n)
	case Case, Selector:
		return ev.choose(n)
	case Assign:
		return ev.assign(n)
	case Block:
		return ev.block(n)
	}
	return value.Value{}, failf(n, "malformed expression")
}
