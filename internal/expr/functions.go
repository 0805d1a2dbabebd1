package expr

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	"bindc/internal/types"
	"bindc/internal/value"
)

// block says what a function does with a lambda.
type block uint8

const (
	noBlock block = iota
	mayBlock
	mustBlock
)

// function is one built-in function. It takes min to max arguments, any number if max is negative.
type function struct {
	min, max int
	block    block
	varying  bool // the answer depends on more than the arguments
	run      func(*call) (value.Value, error)
}

// call is one call of a function.
type call struct {
	ev     *evaluator
	node   *Node
	name   string
	args   []value.Value
	lambda *closure // nil without one
}

// Known tells whether there is a function of that name, which a source may call.
func Known(name string) bool {
	_, ok := functions[name]
	return ok && name[0] != '%'
}

// Names are the names of all functions that a source may call, sorted.
func Names() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(functions)), func(name string) bool { return !Known(name) })
}

// check tells what is wrong with a call of f with that many arguments.
func (f function) check(name string, args int, lambda bool) error {
	switch {
	case args < f.min || f.max >= 0 && args > f.max:
		return fmt.Errorf("%s() takes %s, found %d", name, f.arity(), args)
	case lambda && f.block == noBlock:
		return fmt.Errorf("%s() takes no lambda", name)
	case !lambda && f.block == mustBlock:
		return fmt.Errorf("%s() needs a lambda", name)
	}
	return nil
}

func (f function) arity() string {
	switch {
	case f.max < 0:
		return fmt.Sprintf("%d or more arguments", f.min)
	case f.min == f.max:
		return count(f.min, "argument")
	}
	return fmt.Sprintf("%d to %d arguments", f.min, f.max)
}

// count is "1 argument", "2 arguments".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (ev *evaluator) call(n *Node) (value.Value, error) {
	args, err := ev.list(n.Kids)
	if err != nil {
		return value.Value{}, err
	}
	var c *closure
	if n.Lambda != nil {
		c = &closure{n.Lambda, ev.scope}
	}
	return ev.callFunction(n, n.Name, args, c)
}

func (ev *evaluator) callFunction(n *Node, name string, args []value.Value, c *closure) (value.Value, error) {
	f, ok := ev.functions[name]
	if !ok {
		return value.Value{}, failf(n, "unknown function '%s'", name)
	}
	if err := f.check(name, len(args), c != nil); err != nil {
		return value.Value{}, at(n, err)
	}
	if f.varying {
		ev.varies()
	}
	for _, a := range args { // collections are counted by the functions that go through them
		if err := ev.spend(len(a.Text()) / bytesPerStep); err != nil {
			return value.Value{}, at(n, err)
		}
	}
	return f.run(&call{ev, n, name, args, c})
}

// failf is an error that begins with the name of the function.
func (c *call) failf(format string, args ...any) error {
	return failf(c.node, "%s(): %s", c.name, fmt.Sprintf(format, args...))
}

// fail is err as an error of the function.
func (c *call) fail(err error) error { return c.failf("%s", err) }

// wrong says that argument i is not what it must be.
func (c *call) wrong(i int, want string) error {
	return c.failf("argument %d must be %s, found %s", i+1, want, describe(c.args[i]))
}

// arg is argument i, undef where there is none.
func (c *call) arg(i int) value.Value {
	if i < len(c.args) {
		return c.args[i]
	}
	return value.Value{}
}

// text is argument i as a String.
func (c *call) text(i int) (string, error) {
	if c.args[i].Kind() != value.String {
		return "", c.wrong(i, "a String")
	}
	return c.args[i].Text(), nil
}

// flag is argument i as a Boolean, otherwise where it is missing.
func (c *call) flag(i int, otherwise bool) (bool, error) {
	if i >= len(c.args) {
		return otherwise, nil
	}
	if c.args[i].Kind() != value.Bool {
		return false, c.wrong(i, "a Boolean")
	}
	return c.args[i].Bool(), nil
}

// yield calls the lambda.
func (c *call) yield(args ...value.Value) (value.Value, error) {
	return c.ev.callClosure(c.lambda, c.node, args...)
}

// needs checks that the lambda takes n arguments.
func (c *call) needs(n int) error {
	if c.lambda != nil && !c.lambda.accepts(n) {
		return c.failf("the lambda must take %s, it has %d", count(n, "parameter"), len(c.lambda.lambda.Params))
	}
	return nil
}

// source is what a value yields when it is iterated over: index and element, or key and value of a hash.
type source struct {
	hash bool
	seq  iter.Seq2[value.Value, value.Value]
}

// iterable is argument 0 as a source.
func (c *call) iterable() (source, error) {
	v := c.args[0]
	switch v.Kind() {
	case value.Hash:
		return source{true, v.Pairs()}, nil
	case value.Array:
		return source{seq: numbered(v.Elems())}, nil
	case value.String:
		return source{seq: numbered(characters(v.Text()))}, nil
	case value.Int:
		if v.Int() >= 0 {
			return source{seq: numbered(integers(0, v.Int()-1))}, nil
		}
	case value.Type:
		if t, err := types.FromValue(v); err == nil && t.Finite() {
			return source{seq: numbered(integers(t.Bounds()))}, nil
		} else if err == nil && t.Kind() == types.Enum {
			return source{seq: numbered(value.Strings(t.Texts()...).Elems())}, nil
		}
	}
	return source{}, c.wrong(0, "something to iterate over")
}

func numbered(elems iter.Seq[value.Value]) iter.Seq2[value.Value, value.Value] {
	return func(yield func(value.Value, value.Value) bool) {
		i := int64(0)
		for e := range elems {
			if !yield(value.FromInt(i), e) {
				return
			}
			i++
		}
	}
}

func characters(s string) iter.Seq[value.Value] {
	return func(yield func(value.Value) bool) {
		for s != "" {
			_, size := utf8.DecodeRuneInString(s)
			if !yield(value.FromString(s[:size])) {
				return
			}
			s = s[size:]
		}
	}
}

func integers(from, to int64) iter.Seq[value.Value] {
	return func(yield func(value.Value) bool) {
		for i := from; i <= to; i++ {
			if !yield(value.FromInt(i)) || i == math.MaxInt64 {
				return
			}
		}
	}
}

// loop calls the lambda for each element of argument 0, with one or two arguments as the lambda takes, until do stops
// it. do gets key or index, element, and the lambda's answer.
func (c *call) loop(src source, do func(k, e, answer value.Value) bool) error {
	two := c.lambda.accepts(2)
	if !two && !c.lambda.accepts(1) {
		return c.failf("the lambda must take 1 or 2 parameters, it has %d", len(c.lambda.lambda.Params))
	}
	for k, e := range src.seq {
		var answer value.Value
		var err error
		switch {
		case two:
			answer, err = c.yield(k, e)
		case src.hash:
			answer, err = c.yield(value.FromSlice([]value.Value{k, e}))
		default:
			answer, err = c.yield(e)
		}
		if err != nil {
			return err
		}
		if !do(k, e, answer) {
			return nil
		}
	}
	return nil
}

// elements are all elements of argument 0; a hash yields pairs.
func (c *call) elements() ([]value.Value, error) {
	src, err := c.iterable()
	if err != nil {
		return nil, err
	}
	var out []value.Value
	for k, e := range src.seq {
		if err := c.ev.produce(sizeOfElement); err != nil {
			return nil, err
		}
		if src.hash {
			e = value.FromSlice([]value.Value{k, e})
		}
		out = append(out, e)
	}
	return out, nil
}
