package expr

import (
	"bindc/internal/types"
	"bindc/internal/value"
)

// closure is a lambda with the scope it was written in.
type closure struct {
	lambda *Lambda
	scope  *scope
}

// Takes tells whether l has a use for exactly n arguments.
func (l *Lambda) Takes(n int) bool { return (&closure{lambda: l}).accepts(n) }

// required is the number of arguments that the lambda needs.
func (c *closure) required() int {
	n := 0
	for _, p := range c.lambda.Params {
		if !p.Rest && p.Default == nil {
			n++
		}
	}
	return n
}

// accepts tells whether the lambda has a use for exactly n arguments.
func (c *closure) accepts(n int) bool {
	return c.required() <= n && (n <= len(c.lambda.Params) || c.rest())
}

// rest tells whether the last parameter takes all that is left.
func (c *closure) rest() bool {
	n := len(c.lambda.Params)
	return n > 0 && c.lambda.Params[n-1].Rest
}

// callClosure calls c for the node n. Arguments beyond the parameters are dropped, as Puppet does.
func (ev *evaluator) callClosure(c *closure, n *Node, args ...value.Value) (value.Value, error) {
	if need := c.required(); need > len(args) {
		return value.Value{}, failf(n, "the lambda needs %s and is called with %d", count(need, "argument"), len(args))
	}
	if err := ev.spend(1); err != nil { // also where the body is a constant
		return value.Value{}, at(n, err)
	}
	outer := ev.scope
	ev.scope = &scope{parent: c.scope, locals: make([]local, 0, len(c.lambda.Params))}
	v, err := value.Value{}, ev.bind(c, n, args)
	if err == nil {
		v, err = ev.eval(c.lambda.Body)
	}
	ev.scope = outer
	return v, err
}

func (ev *evaluator) bind(c *closure, n *Node, args []value.Value) error {
	for i, p := range c.lambda.Params {
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
		ev.scope.locals = append(ev.scope.locals, local{p.Name, v})
	}
	return nil
}

// restArgument is what *$p receives.
func (ev *evaluator) restArgument(p *Param, args []value.Value, i int) (value.Value, error) {
	switch {
	case i < len(args):
		return ev.array(args[i:])
	case p.Default == nil:
		return value.FromSlice(nil), nil
	}
	v, err := ev.eval(p.Default)
	if err == nil && v.Kind() != value.Array {
		v = value.FromSlice([]value.Value{v})
	}
	return v, err
}

func (ev *evaluator) checkParam(p *Param, v value.Value) error {
	tv, err := ev.eval(p.Type)
	if err != nil {
		return err
	}
	t, err := types.FromValue(tv)
	if err != nil {
		return failf(p.Type, "the type of the parameter $%s is no type", p.Name)
	}
	if err := ev.traverse(v); err != nil {
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

// mismatch is m, which may be nil, as the error of the parameter.
func (p *Param) mismatch(m *types.Mismatch) error {
	if m == nil {
		return nil
	}
	return failf(p.Type, "the parameter $%s of the lambda: %s", p.Name, m.Shown())
}
