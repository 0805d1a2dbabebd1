package expr

import (
	"math"

	"bindc/internal/expr/ruby"
	"bindc/internal/types"
	"bindc/internal/value"
)

// operators lists the names of Binary nodes.
var operators = []string{
	"+", "-", "*", "/", "%", "<<", ">>", "==", "!=", "<", "<=", ">", ">=", "=~", "!~", "in", "and", "or",
}

func (ev *Evaluator) unary(n *Node) (value.Value, error) {
	v, err := ev.eval(n.Kids[0])
	if err != nil {
		return v, err
	}
	if n.Name == "!" {
		return value.FromBool(!v.Truthy()), nil
	}
	num, ok := ruby.Number(v)
	switch {
	case !ok:
		return v, failf(n, "the operator - needs a number, found %s", Describe(v))
	case num.Kind() == value.Float:
		return value.FromFloat(-num.Float()), nil
	case num.Int() == math.MinInt64:
		return v, failf(n, "the result of - does not fit in 64 bits")
	}
	return value.FromInt(-num.Int()), nil
}

func (ev *Evaluator) binary(n *Node) (value.Value, error) {
	left, err := ev.eval(n.Kids[0])
	if err != nil {
		return left, err
	}
	if n.Name == "and" && !left.Truthy() || n.Name == "or" && left.Truthy() {
		return value.FromBool(n.Name == "or"), nil
	}
	right, err := ev.eval(n.Kids[1])
	if err != nil {
		return right, err
	}
	switch n.Name {
	case "and", "or":
		return value.FromBool(right.Truthy()), nil
	case "==", "!=":
		same, err := ev.equals(left, right)
		return value.FromBool(same == (n.Name == "==")), err
	case "<", "<=", ">", ">=":
		holds, err := ev.ordered(n, left, right)
		return value.FromBool(holds), err
	case "in":
		holds, err := ev.contains(right, left)
		return value.FromBool(holds), err
	case "=~", "!~":
		holds, err := ev.matchOperator(n, left, right)
		return value.FromBool(holds == (n.Name == "=~")), err
	}
	return ev.arithmetic(n, left, right)
}

// Describe returns the type of v for messages.
func Describe(v value.Value) string { return types.Infer(v).String() }
