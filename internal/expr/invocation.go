package expr

import (
	"fmt"

	"bindc/internal/types"
	"bindc/internal/value"
)

// Invocation is a call of a function. It gives the function its arguments, its lambda and access to the evaluation.
type Invocation struct {
	*Evaluator
	node   *Node
	Name   string // the function's name in messages
	Args   []value.Value
	Lambda *Closure // nil if the call has no lambda
}

// NewInvocation returns a call that is not part of an expression. Error messages begin with name.
func NewInvocation(name string, opts Options, args ...value.Value) *Invocation {
	return &Invocation{Evaluator: newEvaluator(nil, opts), node: &Node{Op: Call}, Name: name, Args: args}
}

// Failf returns an error whose message begins with the name of the function.
func (c *Invocation) Failf(format string, args ...any) error {
	return failf(c.node, "%s(): %s", c.Name, fmt.Sprintf(format, args...))
}

// Fail is like Failf with the text of err.
func (c *Invocation) Fail(err error) error { return c.Failf("%s", err) }

// Wrong returns the error for an invalid argument i. want describes a valid one.
func (c *Invocation) Wrong(i int, want string) error {
	return c.Failf("argument %d must be %s, found %s", i+1, want, Describe(c.Args[i]))
}

// Arg returns argument i, or undef if it is missing.
func (c *Invocation) Arg(i int) value.Value {
	if i < len(c.Args) {
		return c.Args[i]
	}
	return value.Value{}
}

// Text returns argument i, or an error unless it is a String.
func (c *Invocation) Text(i int) (string, error) {
	if c.Args[i].Kind() != value.String {
		return "", c.Wrong(i, "a String")
	}
	return c.Args[i].Text(), nil
}

// Flag returns argument i, or an error unless it is a Boolean. If the argument is missing, Flag returns otherwise.
func (c *Invocation) Flag(i int, otherwise bool) (bool, error) {
	if i >= len(c.Args) {
		return otherwise, nil
	}
	if c.Args[i].Kind() != value.Bool {
		return false, c.Wrong(i, "a Boolean")
	}
	return c.Args[i].Bool(), nil
}

// Needs returns an error if the call has a lambda that cannot take n arguments.
func (c *Invocation) Needs(n int) error {
	if c.Lambda != nil && !c.Lambda.Takes(n) {
		return c.Failf("expected a lambda with %s, found %d", count(n, "parameter"), len(c.Lambda.Params))
	}
	return nil
}

// Yield calls the lambda, which must not be nil.
func (c *Invocation) Yield(args ...value.Value) (value.Value, error) {
	return c.callClosure(c.Lambda, c.node, args...)
}

// CallByName calls the function called name with args and the lambda of c. It cannot call interpolations of Hiera 5.
func (c *Invocation) CallByName(name string, args []value.Value) (value.Value, error) {
	if _, ok := c.functions.Find(name); !ok {
		return value.Value{}, c.Failf("unknown function '%s'", name)
	}
	return c.callFunction(c.node, name, args, c.Lambda)
}

// Lookup looks up key in the environment. typ may be nil.
func (c *Invocation) Lookup(key string, typ *types.Type) (v value.Value, found bool, err error) {
	leave := c.nest()
	v, found, err = c.env.Lookup(key, typ)
	leave()
	if err != nil {
		err = &EvalError{Off: c.node.Off, Message: "lookup('" + key + "'): " + err.Error(), Err: err}
	}
	return v, found, err
}

// OuterVariable returns a variable of the environment, even if a local variable of the expression has the same name.
func (c *Invocation) OuterVariable(name string) value.Value {
	v, _ := c.env.Variable(name)
	return v
}
