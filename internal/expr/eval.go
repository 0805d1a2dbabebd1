package expr

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

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

// Options bound an evaluation. Zero fields mean the defaults.
type Options struct {
	StrictVariables bool // an undefined variable is an error
	Steps           int  // how many nodes are evaluated, loops counted each time
	Depth           int  // how deep nodes and lambdas may be nested
	Size            int  // how much is produced in all, in bytes
}

// The defaults of Options, far beyond what data needs and far below what hurts.
const (
	DefaultSteps = 1 << 20
	DefaultDepth = 4000
	DefaultSize  = 128 << 20
)

// Error says what is wrong in an expression. Off is the byte offset in its source. Err is the error of an Env, if one
// is the cause.
type Error struct {
	Off     int
	Message string
	Err     error
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.Err }

// failf makes the error of node n.
func failf(n *Node, format string, args ...any) error {
	return &Error{Off: n.Off, Message: fmt.Sprintf(format, args...)}
}

// at gives an error that has no place yet the place of n.
func at(n *Node, err error) error {
	var e *Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	return &Error{Off: n.Off, Message: err.Error(), Err: err}
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
	return ev.callClosure(&closure{lambda: l, scope: ev.scope}, l.Body, args...)
}

// evaluator is one evaluation: what is left of its bounds, and the innermost scope.
type evaluator struct {
	env       Env
	strict    bool
	steps     int
	depth     int
	size      int
	whole     int // what size was at first: the bound on one value
	scope     *scope
	top       scope
	functions map[string]function
}

func newEvaluator(env Env, opts Options) *evaluator {
	size := orDefault(opts.Size, DefaultSize)
	ev := &evaluator{
		env:       env,
		strict:    opts.StrictVariables,
		steps:     orDefault(opts.Steps, DefaultSteps),
		depth:     orDefault(opts.Depth, DefaultDepth),
		size:      size,
		whole:     size,
		functions: functions, // through the evaluator, as the functions evaluate lambdas
	}
	ev.scope = &ev.top
	return ev
}

func orDefault(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

// scope holds the local variables of an expression or of a lambda, and the groups of the last match.
type scope struct {
	parent *scope
	locals []local
	groups []value.Value // nil: no match
}

type local struct {
	name string
	val  value.Value
}

func (s *scope) find(name string) (value.Value, bool) {
	for ; s != nil; s = s.parent {
		for i := range s.locals {
			if s.locals[i].name == name {
				return s.locals[i].val, true
			}
		}
	}
	return value.Value{}, false
}

// group is $0, $1 and so on. All are defined, as undef where there is no such group.
func (s *scope) group(name string) value.Value {
	i, err := strconv.Atoi(name)
	for ; s != nil && err == nil; s = s.parent {
		if s.groups != nil && i < len(s.groups) {
			return s.groups[i]
		} else if s.groups != nil {
			break
		}
	}
	return value.Value{}
}

// sizeOfElement is what an element of an array counts towards Options.Size.
const sizeOfElement = 48

var (
	errSteps = errors.New("the evaluation takes too many steps")
	errDepth = errors.New("the expression is nested too deep")
	errDeep  = errors.New("the value is nested too deep")
	errSize  = errors.New("the evaluation produces too much data")
	errPairs = errors.New("the elements of the Array must be pairs")
	errOdd   = errors.New("an Array of keys and values must have an even length")
)

// spend counts n steps.
func (ev *evaluator) spend(n int) error {
	if n > ev.steps {
		ev.steps = 0
		return errSteps
	}
	ev.steps -= n
	return nil
}

// produce counts n bytes of results.
func (ev *evaluator) produce(n int) error {
	if n < 0 || n > ev.size {
		ev.size = 0
		return errSize
	}
	ev.size -= n
	return nil
}

// text is a String that counts as produced.
func (ev *evaluator) text(s string) (value.Value, error) {
	return value.FromString(s), ev.produce(len(s))
}

// array is an Array whose elements count as produced.
func (ev *evaluator) array(elems []value.Value) (value.Value, error) {
	v := value.FromSlice(elems)
	return v, ev.check(v, sizeOfElement*len(elems))
}

// finish is the Hash that b has become.
func (ev *evaluator) finish(b *value.Builder) (value.Value, error) {
	h := b.Hash()
	return h, ev.check(h, 0)
}

// check counts n bytes for the collection v and bounds what is in it. A value may hold another many times over, so that
// it is far larger to whoever walks through it than it is in memory; as every new collection is checked, no function
// needs to fear that.
func (ev *evaluator) check(v value.Value, n int) error {
	s := scale{limit: ev.whole}
	err := s.add(v, value.MaxDepth)
	if err == nil {
		err = ev.spend(s.nodes / stepsPerNode)
	}
	if err == nil {
		err = ev.produce(n)
	}
	return err
}

// stepsPerNode is how many elements are looked at in the time of one step.
const stepsPerNode = 16

// scale adds up what is in a value: its elements, and its bytes as text.
type scale struct{ nodes, bytes, limit int }

func (s *scale) add(v value.Value, depth int) error {
	s.nodes++
	if depth == 0 {
		return errDeep
	}
	switch v.Kind() {
	case value.String, value.Regexp:
		s.bytes += len(v.Text())
	case value.Array:
		for e := range v.Elems() {
			if err := s.add(e, depth-1); err != nil {
				return err
			}
		}
	case value.Hash:
		for k, e := range v.Pairs() {
			if err := s.add(k, depth-1); err != nil {
				return err
			}
			if err := s.add(e, depth-1); err != nil {
				return err
			}
		}
	}
	if s.bytes+8*s.nodes > s.limit {
		return errSize
	}
	return nil
}

// traverse counts the steps of walking through v.
func (ev *evaluator) traverse(v value.Value) error {
	if !isContainer(v) {
		return nil
	}
	return ev.spend(weight(v) / stepsPerNode)
}

func (ev *evaluator) eval(n *Node) (value.Value, error) {
	if n.Op == Const {
		return n.Value, nil
	}
	if err := ev.spend(1); err != nil {
		return value.Value{}, at(n, err)
	}
	if ev.depth == 0 {
		return value.Value{}, at(n, errDepth)
	}
	ev.depth--
	v, err := ev.dispatch(n)
	ev.depth++
	return v, at(n, err)
}

func (ev *evaluator) dispatch(n *Node) (value.Value, error) {
	switch n.Op {
	case Var:
		return ev.variable(n)
	case Concat:
		return ev.concat(n)
	case ArrayLit:
		elems, err := ev.list(n.Kids)
		if err != nil {
			return value.Value{}, err
		}
		return ev.array(elems)
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

func isNumber(name string) bool { return name != "" && '0' <= name[0] && name[0] <= '9' }

func (ev *evaluator) variable(n *Node) (value.Value, error) {
	if v, ok := ev.scope.find(n.Name); ok {
		return v, nil
	}
	if isNumber(n.Name) {
		return ev.scope.group(n.Name), nil
	}
	v, ok := ev.env.Variable(n.Name)
	if !ok && ev.strict {
		return v, failf(n, "the variable $%s is not defined", n.Name)
	}
	return v, nil
}

// join is Concat of what is simple, the usual interpolated string; ok is false for anything else and where something is
// wrong. It allocates nothing but the result.
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
	var b strings.Builder
	b.Grow(length)
	for _, part := range parts {
		writeText(&b, part)
	}
	return value.FromString(b.String()), b.Len() <= orDefault(opts.Size, DefaultSize)
}

// simple evaluates a constant, a variable, or a[k] with a simple a and a constant k.
func simple(n *Node, env Env, strict bool) (v value.Value, ok bool) {
	switch n.Op {
	case Const:
		return n.Value, true
	case Var:
		v, ok = env.Variable(n.Name)
		return v, ok || !strict
	case Access:
		if len(n.Kids) != 2 || n.Kids[1].Op != Const {
			return v, false
		}
		if v, ok = simple(n.Kids[0], env, strict); ok {
			return element(v, n.Kids[1].Value)
		}
	}
	return v, false
}

// textSize estimates how long v is as text.
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

func (ev *evaluator) concat(n *Node) (value.Value, error) {
	var b strings.Builder
	for _, k := range n.Kids {
		v, err := ev.eval(k)
		if err != nil {
			return v, err
		}
		if err := ev.produce(weight(v)); err != nil {
			return v, err
		}
		writeText(&b, v)
	}
	return value.FromString(b.String()), nil
}

// weight is about how many bytes v takes as text. It is counted before the text is made.
func weight(v value.Value) int {
	switch v.Kind() {
	case value.String, value.Regexp:
		return len(v.Text())
	case value.Array:
		n := 2
		for e := range v.Elems() {
			n += 2 + weight(e)
		}
		return n
	case value.Hash:
		n := 2
		for k, e := range v.Pairs() {
			n += 6 + weight(k) + weight(e)
		}
		return n
	}
	return 8
}

// list evaluates elements or arguments and spreads splats.
func (ev *evaluator) list(nodes []*Node) ([]value.Value, error) {
	out := make([]value.Value, 0, len(nodes))
	for _, n := range nodes {
		if n.Op == Splat {
			elems, err := ev.splat(n)
			if err == nil {
				err = ev.produce(sizeOfElement * len(elems))
			}
			if err != nil {
				return nil, at(n, err)
			}
			out = append(out, elems...)
			continue
		}
		v, err := ev.eval(n)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (ev *evaluator) splat(n *Node) ([]value.Value, error) {
	v, err := ev.eval(n.Kids[0])
	if err != nil {
		return nil, err
	}
	switch v.Kind() {
	case value.Undef:
		return nil, nil
	case value.Array:
		return v.Slice(), nil
	case value.Hash:
		return entries(v), ev.produce(3 * sizeOfElement * v.Len())
	}
	return []value.Value{v}, nil
}

// entries are the pairs of a Hash as arrays of two.
func entries(h value.Value) []value.Value {
	out := make([]value.Value, 0, h.Len())
	for k, e := range h.Pairs() {
		out = append(out, value.FromSlice([]value.Value{k, e}))
	}
	return out
}

func (ev *evaluator) hash(n *Node) (value.Value, error) {
	var b value.Builder
	for i := 0; i+1 < len(n.Kids); i += 2 {
		k, err := ev.eval(n.Kids[i])
		if err != nil {
			return k, err
		}
		v, err := ev.eval(n.Kids[i+1])
		if err != nil {
			return v, err
		}
		if err := ev.setKey(&b, k, v); err != nil {
			return v, err
		}
	}
	return ev.finish(&b)
}

// setKey puts an entry into a hash. Keys that are no strings are found one by one, which counts as steps.
func (ev *evaluator) setKey(b *value.Builder, k, v value.Value) error {
	if k.Kind() != value.String {
		if err := ev.spend(b.Len() * (1 + weight(k)/stepsPerNode)); err != nil {
			return err
		}
	}
	b.Set(k, v)
	return ev.produce(2 * sizeOfElement)
}

func (ev *evaluator) assign(n *Node) (value.Value, error) {
	v, err := ev.eval(n.Kids[0])
	if err != nil {
		return v, err
	}
	for _, l := range ev.scope.locals {
		if l.name == n.Name {
			return v, failf(n, "the variable $%s has a value already", n.Name)
		}
	}
	if isNumber(n.Name) {
		return v, failf(n, "the match variable $%s cannot be assigned", n.Name)
	}
	ev.scope.locals = append(ev.scope.locals, local{n.Name, v})
	return v, nil
}

func (ev *evaluator) block(n *Node) (v value.Value, err error) {
	for _, k := range n.Kids {
		if v, err = ev.eval(k); err != nil {
			return v, err
		}
	}
	return v, nil
}

// condition is if and unless. Match variables set in it are gone afterwards.
func (ev *evaluator) condition(n *Node) (value.Value, error) {
	groups := ev.scope.groups
	v, err := ev.eval(n.Kids[0])
	if err == nil {
		branch := 2
		if v.Truthy() {
			branch = 1
		}
		v = value.Value{}
		if branch < len(n.Kids) {
			v, err = ev.eval(n.Kids[branch])
		}
	}
	ev.scope.groups = groups
	return v, err
}

// choose is case and the selector.
func (ev *evaluator) choose(n *Node) (value.Value, error) {
	groups := ev.scope.groups
	v, err := ev.chosen(n)
	ev.scope.groups = groups
	return v, err
}

func (ev *evaluator) chosen(n *Node) (value.Value, error) {
	control, err := ev.eval(n.Kids[0])
	if err != nil {
		return control, err
	}
	var otherwise *Node
	for _, option := range n.Kids[1:] {
		last := len(option.Kids) - 1
		for _, k := range option.Kids[:last] {
			if k.Op == Const && k.Value.Kind() == value.Default {
				otherwise = option.Kids[last]
				continue
			}
			fits, err := ev.optionFits(control, k)
			if err != nil {
				return control, err
			}
			if fits {
				return ev.eval(option.Kids[last])
			}
		}
	}
	if otherwise != nil {
		return ev.eval(otherwise)
	}
	if n.Op == Selector {
		return control, failf(n, "no option of the selector matches a value of type %s", types.Infer(control))
	}
	return value.Value{}, nil
}

func (ev *evaluator) optionFits(control value.Value, k *Node) (bool, error) {
	if k.Op != Splat {
		v, err := ev.eval(k)
		if err != nil {
			return false, err
		}
		return ev.matches(control, v)
	}
	elems, err := ev.splat(k)
	for _, v := range elems {
		if fits, err := ev.matches(control, v); fits || err != nil {
			return fits, err
		}
	}
	return false, err
}
