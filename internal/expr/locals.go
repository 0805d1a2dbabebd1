package expr

import (
	"strconv"
	"strings"

	"bindc/internal/value"
)

// locals is a scope: the variables of an expression or lambda, and the groups of the last match.
type locals struct {
	parent *locals
	vars   []local
	groups []value.Value // nil if nothing has matched
}

type local struct {
	name string
	val  value.Value
}

func (s *locals) find(name string) (value.Value, bool) {
	for ; s != nil; s = s.parent {
		for i := range s.vars {
			if s.vars[i].name == name {
				return s.vars[i].val, true
			}
		}
	}
	return value.Value{}, false
}

// group returns the match variable called name, such as 0 for $0. A group that does not exist is undef, and never an
// error.
func (s *locals) group(name string) value.Value {
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

// readsLocal reports whether n reads a lambda parameter or an assigned variable, or accesses one by constant keys.
func (ev *Evaluator) readsLocal(n *Node) bool {
	name, _, ok := n.constantAccess()
	if !ok {
		return false
	}
	_, local := ev.locals.find(name)
	return local
}

// IsNumber reports whether name begins with a digit, like the names of match variables.
func IsNumber(name string) bool { return name != "" && '0' <= name[0] && name[0] <= '9' }

func (ev *Evaluator) evalVariable(n *Node) (value.Value, error) {
	if IsNumber(n.Name) {
		return ev.locals.group(n.Name), nil
	}
	v, ok := ev.Variable(n.Name)
	if !ok && ev.strict {
		return v, failf(n, "the variable $%s is not defined", n.Name)
	}
	if !ok {
		missed(ev.env, n.Name)
	}
	return v, nil
}

// Variable returns the variable called name. A leading :: means the top scope.
func (ev *Evaluator) Variable(name string) (value.Value, bool) {
	from, local := ev.locals, name
	if rest, ok := strings.CutPrefix(name, "::"); ok {
		ev.varies() // Fold evaluates parts of an expression, and a part's top scope differs from the whole expression's
		from, local = &ev.top, rest
	}
	if v, ok := from.find(local); ok {
		return v, true
	}
	return variableOf(ev.env, name)
}

// TopEnv is an Env whose variables include those of an inner scope.
type TopEnv interface {
	// TopVariable is like Env.Variable, but finds only variables of the top scope.
	TopVariable(name string) (value.Value, bool)
}

// variableOf returns the variable of env called name. A leading :: means the top scope.
func variableOf(env Env, name string) (value.Value, bool) {
	if !strings.HasPrefix(name, "::") {
		return env.Variable(name)
	}
	if top, ok := env.(TopEnv); ok {
		return top.TopVariable(name[2:])
	}
	return env.Variable(name[2:])
}
