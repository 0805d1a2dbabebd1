package expr

import (
	"strconv"

	"bindc/internal/value"
)

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
