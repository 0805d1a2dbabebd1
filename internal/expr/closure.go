package expr

import (
	"bindc/internal/types"
	"bindc/internal/value"
)

// Closure is a lambda with the scope in which it was created.
type Closure struct {
	*Lambda
	locals *locals
}

// Takes reports whether l can be called with n arguments.
func (l *Lambda) Takes(n int) bool {
	return l.required() <= n && (n <= len(l.Params) || l.HasRest())
}

func (l *Lambda) required() int {
	n := 0
	for _, p := range l.Params {
		if !p.Rest && p.Default == nil {
			n++
		}
	}
	return n
}

// HasRest reports whether the last parameter of l receives all remaining arguments.
func (l *Lambda) HasRest() bool {
	n := len(l.Params)
	return n > 0 && l.Params[n-1].Rest
}

// callClosure calls c with args. Errors have the offset of n. As in Puppet, extra arguments are ignored.
func (ev *Evaluator) callClosure(c *Closure, n *Node, args ...value.Value) (value.Value, error) {
	if need := c.required(); need > len(args) {
		return value.Value{}, failf(n, "the lambda needs %s but is called with %d", count(need, "argument"), len(args))
	}
	if err := ev.Spend(1); err != nil { // even a constant body takes a step
		return value.Value{}, at(n, err)
	}
	outer := ev.locals
	ev.locals = &locals{parent: c.locals, vars: make([]local, 0, len(c.Params))}
	v, err := value.Value{}, ev.bind(c, n, args)
	if err == nil {
		v, err = ev.eval(c.Body)
	}
	ev.locals = outer
	return v, err
}

func (ev *Evaluator) bind(c *Closure, n *Node, args []value.Value) error {
	for i, p := range c.Params {
		var v value.Value
		var err error
		switch {
		case p.Rest:
			v, err = ev.restArgument(&p, args, i)
		case i < len(args):
			v = args[i]
		case p.Default != nil:
			v, err = ev.eval(p.Default)
		}
		if err == nil && p.Type != nil {
			err = ev.checkParam(&p, v)
		}
		if err != nil {
			return at(n, err)
		}
		ev.locals.vars = append(ev.locals.vars, local{p.Name, v})
	}
	return nil
}

// restArgument returns the value of p, which receives all arguments from args[i] on as an array.
func (ev *Evaluator) restArgument(p *Param, args []value.Value, i int) (value.Value, error) {
	switch {
	case i < len(args):
		return ev.MakeArray(args[i:])
	case p.Default == nil:
		return value.FromSlice(nil), nil
	}
	v, err := ev.eval(p.Default)
	if err == nil && v.Kind() != value.Array {
		v = value.FromSlice([]value.Value{v})
	}
	return v, err
}

func (ev *Evaluator) checkParam(p *Param, v value.Value) error {
	tv, err := ev.eval(p.Type)
	if err != nil {
		return err
	}
	t, err := types.FromValue(tv)
	if err != nil {
		return failf(p.Type, "the type of the parameter $%s is not a type", p.Name)
	}
	if err := ev.Traverse(v); err != nil {
		return err
	}
	if !p.Rest || t.Kind() == types.Array {
		return p.mismatch(t.Assert(v))
	}
	for e := range v.Elems() {
		if err := p.mismatch(t.Assert(e)); err != nil {
			return err
		}
	}
	return nil
}

// mismatch converts m to an error about the parameter p. If m is nil, it returns nil.
func (p *Param) mismatch(m *types.Mismatch) error {
	if m == nil {
		return nil
	}
	return failf(p.Type, "the parameter $%s of the lambda: %s", p.Name, m.Shown())
}
