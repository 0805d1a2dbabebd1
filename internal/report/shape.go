// Package report explains the contents of a snapshot: why a key has its value, which nodes get which value, and how two
// snapshots differ. Each report is a struct that can be encoded as JSON, or written as text by a Page.
package report

import (
	"encoding/json"
	"slices"
	"strconv"

	"bindc/internal/lookup"
	"bindc/internal/report/decision"
	"bindc/internal/value"
	bindings "bindc/runtime"
)

// The JSON form of these structs is described in docs/cli.md, "Shapes of JSON answers".

// Terms is a condition. It encodes as a JSON object in order of precedence.
type Terms []lookup.Term

func (ts Terms) MarshalJSON() ([]byte, error) { return value.AppendJSON(nil, ts.hash()), nil }

func (ts Terms) hash() value.Value {
	var b value.Builder
	for _, t := range ts {
		b.Set(value.FromString(t.Name), value.FromString(t.Value))
	}
	return b.Hash()
}

// Outcome is the result of a lookup, or the value of a binding. At most one field besides Sensitive is set.
type Outcome struct {
	Value     json.RawMessage `json:"value,omitempty"`
	Sensitive bool            `json:"sensitive,omitempty"`
	Found     *bool           `json:"found,omitempty"`
	Error     *Failure        `json:"error,omitempty"`
	Computed  string          `json:"computed,omitempty"`
}

// Style determines how values are formatted.
type Style struct {
	Sensitive bool // include sensitive values
	Form      Form
}

func notFound() Outcome { return Outcome{Found: new(bool)} }

// Outcome formats o. It leaves out a sensitive value unless s.Sensitive is set.
func (s Style) Outcome(o lookup.Outcome) Outcome {
	switch {
	case o.Err != nil:
		return failedOutcome(o.Err)
	case !o.Found:
		return notFound()
	}
	out := Outcome{Sensitive: o.Value.Sensitive()}
	if out.Sensitive && !s.Sensitive {
		return out
	}
	t, err := Tree(bindings.Value(o.Value.Reveal()))
	if err != nil {
		return failedOutcome(err)
	}
	return s.value(t, out.Sensitive)
}

// value formats v. sensitive only sets a flag: the caller has checked that v may be shown.
func (s Style) value(v value.Value, sensitive bool) Outcome {
	text, err := Text(v, s.Form)
	if err != nil {
		return failedOutcome(err)
	}
	return Outcome{Sensitive: sensitive, Value: text}
}

func failedOutcome(err error) Outcome {
	return Outcome{Error: &Failure{lookup.CodeOf(err), err.Error()}}
}

// row formats the value of a row. A nil row means that the key is not found.
func (s Style) row(r *decision.Row) Outcome {
	switch {
	case r == nil || r.Erased:
		return notFound()
	case r.Abstract:
		return Outcome{Error: &Failure{bindings.CodeAbstract, "abstract: a value is expected above it"}}
	case r.Sealed || r.Sensitive && !s.Sensitive:
		return Outcome{Sensitive: true}
	case r.Computed != "":
		return Outcome{Sensitive: r.Sensitive, Computed: r.Computed}
	}
	return s.value(r.Value, r.Sensitive)
}

// text returns the outcome on a single line, for people.
func (o Outcome) text() string {
	switch {
	case o.Error != nil:
		return "error: " + o.Error.Message + " [" + string(o.Error.Code) + "]"
	case o.Found != nil:
		return "not found"
	case o.Computed != "":
		return o.Computed
	case o.Value != nil:
		return string(o.Value)
	}
	return "<sensitive>"
}

// Candidate is a binding in an explanation or in a decision table.
type Candidate struct {
	Layer   string  `json:"layer"`
	When    Terms   `json:"when"`
	At      string  `json:"at"`
	Name    string  `json:"name,omitempty"`
	Outcome Outcome `json:"outcome"`
	State   string  `json:"state,omitempty"`
	Why     string  `json:"why,omitempty"`

	Nodes []string `json:"nodes,omitempty"` // names of the nodes whose value uses this binding
}

// Explanation explains the value that a key has for a request.
type Explanation struct {
	Key           string        `json:"key"`
	Root          string        `json:"root,omitempty"`
	Outcome       Outcome       `json:"outcome"`
	Categories    Terms         `json:"categories,omitzero"`
	Options       []Candidate   `json:"lookup_options,omitempty"`
	Candidates    []Candidate   `json:"candidates"`
	Contributions []Candidate   `json:"contributions"`
	Lookups       []Explanation `json:"lookups"`
	Unexplained   int           `json:"unexplained,omitempty"`

	Left, LeftParts int `json:"-"` // number of bindings and contributions that a brief explanation omits
}

// Explain explains the value of key for the request.
func (s Style) Explain(r *lookup.Request, key string) (*Explanation, error) {
	e, err := r.Explain(key)
	if err != nil {
		return nil, err
	}
	out := s.explanation(e, r.Categories())
	return &out, nil
}

// ExplainBriefly is like Explain, but lists only some of the bindings that do not apply. others and index are as in
// lookup.Request.ExplainBriefly.
func (s Style) ExplainBriefly(r *lookup.Request, key string, others int, index lookup.Index) (*Explanation, error) {
	e, err := r.ExplainBriefly(key, others, index)
	if err != nil {
		return nil, err
	}
	out := s.explanation(e, r.Categories())
	return &out, nil
}

// ExplainForPage is like Explain, but omits bindings that a Page shows only if Page.All is set.
func (s Style) ExplainForPage(r *lookup.Request, key string) (*Explanation, error) {
	return s.ExplainBriefly(r, key, shownRows, lookup.Index{})
}

// Outcomes returns the values of all bindings of key that apply to the request, highest first.
func (s Style) Outcomes(r *lookup.Request, key string) ([]Outcome, error) {
	cs, err := r.Candidates(key)
	if err != nil {
		return nil, err
	}
	out := []Outcome{}
	for _, c := range cs {
		if c.State != lookup.NotEffective && (c.Outcome.Found || c.Outcome.Err != nil) {
			out = append(out, s.Outcome(c.Outcome))
		}
	}
	return out, nil
}

func (s Style) explanation(e *lookup.Explanation, categories []lookup.Term) Explanation {
	out := Explanation{Key: e.Key, Root: e.Root, Outcome: s.Outcome(e.Outcome), Categories: categories,
		Candidates: s.candidates(e.Candidates), Contributions: s.candidates(e.Contributions),
		Lookups: []Explanation{}, Unexplained: e.Unexplained, Left: e.Left, LeftParts: e.LeftParts}
	if e.Options != nil {
		out.Options = s.candidates([]lookup.Candidate{*e.Options})
	}
	for _, inner := range e.Lookups {
		out.Lookups = append(out.Lookups, s.explanation(inner, nil))
	}
	return out
}

func (s Style) candidates(cs []lookup.Candidate) []Candidate {
	out := make([]Candidate, len(cs))
	for i, c := range cs {
		out[i] = Candidate{Layer: c.Layer, When: c.When, At: c.At, Name: c.Name, Outcome: s.Outcome(c.Outcome),
			State: c.State, Why: c.Why}
	}
	return distinct(out)
}

// distinct removes duplicates and keeps the one with the most effective state. Duplicates occur because mapped_paths
// can bind the same file several times.
func distinct(cs []Candidate) []Candidate {
	return distinctBy(cs, func(c *Candidate) *Candidate { return c })
}

// distinctBy is like distinct, for structs that contain a Candidate.
func distinctBy[T any](list []T, candidate func(*T) *Candidate) []T {
	out := list[:0]
	at := map[string]int{}
	for i := range list {
		c := candidate(&list[i])
		id := c.id()
		k, known := at[id]
		switch {
		case !known:
			at[id] = len(out)
			out = append(out, list[i])
		case slices.Index(states, c.State) < slices.Index(states, candidate(&out[k]).State):
			out[k] = list[i]
		}
	}
	return out
}

// id returns a string that is equal for bindings that look the same in a report.
func (c *Candidate) id() string {
	var id []byte
	add := func(text string) { id = append(append(strconv.AppendInt(id, int64(len(text)), 10), ':'), text...) }
	add(c.At)
	add(c.Name)
	add(c.Layer)
	for _, t := range c.When {
		add(t.Name)
		add(t.Value)
	}
	return string(id)
}

// states lists the states of a duplicated binding, most effective first.
var states = []string{lookup.Wins, lookup.Merged, lookup.Hidden, lookup.NotEffective}

func (s Style) rows(rows []decision.Row) []Candidate {
	out := make([]Candidate, len(rows))
	for i := range rows {
		r := &rows[i]
		out[i] = Candidate{Layer: r.Layer, When: r.When, At: r.At, Name: r.Name, Outcome: s.row(r)}
	}
	return distinct(out)
}

// Failure says why a lookup failed.
type Failure struct {
	Code    bindings.Code `json:"code"`
	Message string        `json:"message"`
}
