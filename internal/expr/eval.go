package expr

import (
	"errors"
	"fmt"

	"bindc/internal/types"
	"bindc/internal/value"
)

// Env provides the variables and bindings that an expression may use.
type Env interface {
	// Variable returns the variable called name, without a leading ::. It returns false if the variable is not defined.
	Variable(name string) (value.Value, bool)
	// Lookup evaluates a call of lookup(). If typ is not nil, the value must have this type. Eval wraps an error of
	// Lookup so that errors.As finds it.
	Lookup(key string, typ *types.Type) (v value.Value, found bool, err error)
}

// Options contains the limits of an evaluation and the functions that it may call. A limit of zero means the default.
type Options struct {
	Functions       *Functions // may be nil
	StrictVariables bool       // an undefined variable is an error
	Steps           int        // maximum number of nodes to evaluate, counting each iteration of a loop
	Depth           int        // maximum nesting of nodes and lambdas
	Size            int        // maximum size of all results, in bytes
	Total           *Total
}

// Total contains the limits that are left for an evaluation and all lookups that it causes.
type Total struct {
	Steps int
	Size  int // size of all results in bytes, including intermediate results
	Depth int // nesting of nodes and lambdas, counted across nested lookups
}

// Add counts the size of a result. It returns an error if the size exceeds the limit.
func (t *Total) Add(v value.Value) error {
	s := scale{limit: t.Size}
	if err := s.add(v, value.MaxDepth); err != nil {
		t.Size = 0
		return err
	}
	t.Size -= s.bytes + sizeOfNode*(s.nodes-1)
	return nil
}

// These defaults are far above the needs of real data, and low enough to prevent harm.
const (
	DefaultSteps = 1 << 20
	DefaultDepth = 4000
	DefaultSize  = 128 << 20
)

// EvalError is an error in an expression. Off is its byte offset in the source. Err is the cause, for example an error
// of Env, or nil.
type EvalError struct {
	Off     int
	Message string
	Err     error
}

func (e *EvalError) Error() string { return e.Message }
func (e *EvalError) Unwrap() error { return e.Err }

func failf(n *Node, format string, args ...any) error {
	return &EvalError{Off: n.Off, Message: fmt.Sprintf(format, args...)}
}

// at adds the offset of n to err, unless err is nil or already has an offset.
func at(n *Node, err error) error {
	var e *EvalError
	if err == nil || errors.As(err, &e) {
		return err
	}
	return &EvalError{Off: n.Off, Message: err.Error(), Err: err}
}

// Eval evaluates n in env. An error is an *EvalError.
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

// CallLambda calls l with args. The body of l can only use its parameters and the variables of env.
func CallLambda(l *Lambda, env Env, opts Options, args ...value.Value) (value.Value, error) {
	ev := newEvaluator(env, opts)
	return ev.callClosure(&Closure{l, ev.locals}, l.Body, args...)
}

// Evaluator is the state of an evaluation: its limits and its innermost scope.
type Evaluator struct {
	env       Env
	strict    bool
	steps     int
	depth     int
	begin     int // initial value of depth
	size      int
	total     *Total // limits shared with other evaluations, see Total; may be nil
	whole     int    // initial value of size; also the maximum size of a single value
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
