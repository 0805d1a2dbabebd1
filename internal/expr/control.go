package expr

import (
	"bindc/internal/types"
	"bindc/internal/value"
)

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
