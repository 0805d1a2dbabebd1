package expr

import (
	"slices"

	"bindc/internal/types"
	"bindc/internal/value"
)

func (ev *Evaluator) assign(n *Node) (value.Value, error) {
	v, err := ev.eval(n.Kids[0])
	switch {
	case err != nil:
	case n.Name != "":
		err = ev.set(n, v)
	default:
		err = ev.setAll(n, n.Kids[1:], v)
	}
	return v, err
}

func (ev *Evaluator) set(n *Node, v value.Value) error {
	for _, l := range ev.locals.vars {
		if l.name == n.Name {
			return failf(n, "the variable $%s is already assigned", n.Name)
		}
	}
	if IsNumber(n.Name) {
		return failf(n, "the match variable $%s cannot be assigned", n.Name)
	}
	ev.locals.vars = append(ev.locals.vars, local{n.Name, v})
	return nil
}

// setAll assigns the elements of v to the targets, which are variables or lists of targets. If v is a hash, each
// variable receives the entry with its name; if v is an array, the element at its position.
func (ev *Evaluator) setAll(n *Node, targets []*Node, v value.Value) error {
	if v.Kind() == value.Hash {
		return ev.setByName(targets, v)
	}
	parts := []value.Value{v}
	if v.Kind() == value.Array {
		parts = v.Slice()
	}
	if len(parts) != len(targets) {
		return failf(n, "%s cannot be assigned to %s", count(len(parts), "value"), count(len(targets), "variable"))
	}
	for i, t := range targets {
		err := error(nil)
		if t.Op == Var {
			err = ev.set(t, parts[i])
		} else {
			err = ev.setAll(t, t.Kids, parts[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (ev *Evaluator) setByName(targets []*Node, v value.Value) error {
	for _, t := range targets {
		if t.Op != Var {
			return failf(t, "a Hash can only be assigned to variables, each of which receives the entry with its name")
		}
		part, ok := v.Get(value.FromString(t.Name))
		if !ok {
			return failf(t, "the hash has no value for $%s", t.Name)
		}
		if err := ev.set(t, part); err != nil {
			return err
		}
	}
	return nil
}

func (ev *Evaluator) block(n *Node) (v value.Value, err error) {
	for _, k := range n.Kids {
		if v, err = ev.eval(k); err != nil {
			return v, err
		}
	}
	return v, nil
}

// condition evaluates an if or unless, and then restores the match variables.
func (ev *Evaluator) condition(n *Node) (value.Value, error) {
	groups := ev.locals.groups
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
	ev.locals.groups = groups
	return v, err
}

// choose evaluates a case expression or a selector, and then restores the match variables.
func (ev *Evaluator) choose(n *Node) (value.Value, error) {
	groups := ev.locals.groups
	v, err := ev.chosen(n)
	ev.locals.groups = groups
	return v, err
}

func (ev *Evaluator) chosen(n *Node) (value.Value, error) {
	control, err := ev.control(n)
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

// control evaluates the control expression of n, a case or selector. If one of the options is undef, a missing
// variable is not reported, unless variables are strict.
func (ev *Evaluator) control(n *Node) (value.Value, error) {
	if v := n.Kids[0]; v.Op == Var && !ev.strict && !IsNumber(v.Name) && hasOptionOfUndef(n) {
		if err := ev.Spend(1); err != nil {
			return value.Value{}, at(v, err)
		}
		found, _ := ev.Variable(v.Name)
		return found, nil
	}
	return ev.eval(n.Kids[0])
}

func hasOptionOfUndef(n *Node) bool {
	isUndef := func(k *Node) bool { return k.Op == Const && k.Value.IsUndef() }
	return slices.ContainsFunc(n.Kids[1:], func(option *Node) bool {
		return slices.ContainsFunc(option.Kids[:len(option.Kids)-1], isUndef)
	})
}

func (ev *Evaluator) optionFits(control value.Value, k *Node) (bool, error) {
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
