package runtime

import (
	"strings"

	"bindc/internal/expr"
	"bindc/internal/types"
	"bindc/internal/value"
	"bindc/snapshot"
)

// Request is one node's place in the categories. It is not changed once made and may be used by several goroutines.
type Request struct {
	snap   *Snapshot
	facts  *Facts
	values []string // per dimension, folded; "" where it has none
	has    []bool
	scopes snapshot.Scopes
}

// Request evaluates the categories for facts. An error is an *Error: a category's expression cannot be evaluated.
func (s *Snapshot) Request(facts *Facts) (*Request, error) {
	r := &Request{snap: s, facts: facts, values: make([]string, len(s.dimensions)), has: make([]bool, len(s.dimensions))}
	numbers := make([]uint32, len(s.dimensions))
	env := categoryEnv{facts}
	for i, d := range s.dimensions {
		numbers[i] = snapshot.None
		if d.guard && d.category >= 0 && !r.has[d.category] {
			continue
		}
		v, err := expr.Eval(d.program, env, expr.Options{}) // an unknown variable: in no value of this category
		if err != nil {
			return nil, &Error{Code: "evaluation", Message: "the category '" + d.name + "': " + err.Error(), Err: err}
		}
		r.values[i] = strings.ToLower(string(value.AppendText(nil, v)))
		r.has[i] = d.guard || r.values[i] != ""
		if r.has[i] {
			numbers[i] = s.file.ValueNumber(i, r.values[i])
		}
	}
	s.file.Resolve(numbers, &r.scopes)
	return r, nil
}

// Category is the value the request has of a category, folded to lower case; false if it has none.
func (r *Request) Category(name string) (string, bool) {
	for i, d := range r.snap.dimensions {
		if d.name == name && !d.guard {
			return r.values[i], r.has[i]
		}
	}
	return "", false
}

// categoryEnv is what categories are computed from: facts only.
type categoryEnv struct{ facts *Facts }

func (e categoryEnv) Variable(name string) (value.Value, bool) {
	v, ok := e.facts.variables[name]
	return v, ok
}

func (e categoryEnv) Lookup(key string, _ *types.Type) (value.Value, bool, error) {
	return value.Value{}, false, &Error{Key: key, Code: "evaluation", Message: "a category cannot depend on a lookup: categories decide what a lookup finds"}
}
