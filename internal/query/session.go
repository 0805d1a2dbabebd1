package query

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"bindc/facts"
	"bindc/internal/lookup"
	bindings "bindc/runtime"
)

// Session looks up the keys of queries. Queries for the same node usually follow one another, so a Session reuses the
// last request where possible.
type Session struct {
	Begin func(*bindings.Facts) (*lookup.Request, error) // returns a new request; the previous one is not used again
	Node  func(name string) (facts.Node, error)          // returns the facts of a node, for queries without facts

	last    []byte // identifies the facts of request
	request *lookup.Request
	types   map[string]*bindings.Type
}

// Request returns a request for the facts in q. It is valid until the next call of Request.
func (s *Session) Request(q *Query) (*lookup.Request, error) {
	// The lengths keep different queries from having the same id.
	id := fmt.Appendf(nil, "%d %d %d %d ", len(q.Facts), len(q.Trusted), len(q.Variables), len(q.Node))
	id = slices.Concat(id, q.Facts, q.Trusted, q.Variables, []byte(q.Node), []byte(q.Environment))
	if s.request != nil && bytes.Equal(id, s.last) {
		return s.request, nil
	}
	trusted, err := parseOptional(q.Trusted)
	if err != nil {
		return nil, err
	}
	variables, err := parseOptional(q.Variables)
	if err != nil {
		return nil, err
	}
	f, err := s.factsOf(q, bindings.FactsOptions{Node: q.Node, Environment: q.Environment, Trusted: trusted,
		Variables: variables})
	if err != nil {
		return nil, err
	}
	if s.request, err = s.Begin(f); err != nil {
		s.request = nil
		return nil, err
	}
	s.last = id
	return s.request, nil
}

func (s *Session) factsOf(q *Query, opts bindings.FactsOptions) (*bindings.Facts, error) {
	if len(q.Facts) > 0 {
		return facts.ParseJSON(q.Facts, opts)
	}
	node, err := s.Node(q.Node)
	if err != nil {
		return nil, err
	}
	return facts.Variables(node, opts)
}

func parseOptional(text json.RawMessage) (v bindings.Value, err error) {
	if len(text) == 0 {
		return v, nil
	}
	if err = v.UnmarshalJSON(text); err != nil {
		err = &bindings.Error{Code: bindings.CodeFacts, Message: err.Error()}
	}
	return v, err
}

// Check returns an error if the value of key must not be used as the answer. merge is undef if the query has no merge
// strategy.
type Check func(r *lookup.Request, key string, merge bindings.Value) error

// Lookup looks up key with the merge strategy and the type in q. If check is not nil, Lookup calls it first.
func (s *Session) Lookup(r *lookup.Request, q *Query, key string, check Check) (v bindings.Value,
	found bool, err error) {
	typ, err := s.parseType(q.Type)
	if err != nil {
		return v, false, err
	}
	merge, err := parseOptional(q.Merge)
	if err != nil {
		return v, false, err
	}
	if check != nil {
		if err := check(r, key, merge); err != nil {
			return v, false, err
		}
	}
	answer, found, err := r.LookupMerged(key, lookup.Value(merge))
	v = bindings.Value(answer)
	if err == nil && found && typ != nil {
		err = v.Check(typ)
	}
	return v, found, err
}

// Limits on the types that a Session caches: how many, and how long their sources are in bytes.
const (
	maxTypes    = 1000
	maxTypeText = 1000
)

func (s *Session) parseType(text string) (*bindings.Type, error) {
	if text == "" {
		return nil, nil
	}
	if t := s.types[text]; t != nil {
		return t, nil
	}
	t, err := bindings.ParseType(text)
	if err != nil {
		return nil, err
	}
	if s.types == nil || len(s.types) >= maxTypes {
		s.types = map[string]*bindings.Type{}
	}
	if len(text) <= maxTypeText {
		s.types[text] = t
	}
	return t, nil
}
