// Package report makes reports from a snapshot and facts: why a key has its value, which nodes get which value, and how
// two snapshots differ. A report is a struct with a JSON form; a Page shows it on a terminal.
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

// docs/cli.md, "Shapes of JSON answers", describes the JSON of these structs.

// Terms is a condition. In JSON, it is an object in the order of precedence.
type Terms []lookup.Term

// MarshalJSON returns the terms as an object.
func (ts Terms) MarshalJSON() ([]byte, error) { return value.AppendJSON(nil, ts.hash()), nil }

func (ts Terms) hash() value.Value {
	var b value.Builder
	for _, t := range ts {
		b.Set(value.FromString(t.Name), value.FromString(t.Value))
	}
	return b.Hash()
}

// Outcome is the result of a lookup or of a binding.
type Outcome struct {
	Value     json.RawMessage `json:"value,omitempty"`
	Sensitive bool            `json:"sensitive,omitempty"`
	Found     *bool           `json:"found,omitempty"`
	Error     *Error          `json:"error,omitempty"`
	Computed  string          `json:"computed,omitempty"`
}

// Style controls how reports show values.
type Style struct {
	Sensitive bool // show sensitive values
	Form      Form
}

func notFound() Outcome { return Outcome{Found: new(bool)} }

// Outcome converts o for output. It leaves out a sensitive value unless s.Sensitive is set.
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

// value returns the outcome for a value that may be shown.
func (s Style) value(v value.Value, sensitive bool) Outcome {
	text, err := Text(v, s.Form)
	if err != nil {
		return failedOutcome(err)
	}
	return Outcome{Sensitive: sensitive, Value: text}
}

func failedOutcome(err error) Outcome { return Outcome{Error: &Error{lookup.CodeOf(err), err.Error()}} }

// row returns the outcome of a row in a decision table. nil means not found.
func (s Style) row(r *decision.Row) Outcome {
	switch {
	case r == nil || r.Erased:
		return notFound()
	case r.Abstract:
		return Outcome{Error: &Error{bindings.CodeAbstract, "abstract: a value is expected above it"}}
	case r.Sealed || r.Sensitive && !s.Sensitive:
		return Outcome{Sensitive: true}
	case r.Computed != "":
		return Outcome{Sensitive: r.Sensitive, Computed: r.Computed}
	}
	return s.value(r.Value, r.Sensitive)
}

// text returns the outcome on one line.
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

// Candidate is a binding in an explanation, or a row of a decision table.
type Candidate struct {
	Layer   string  `json:"layer"`
	When    Terms   `json:"when"`
	At      string  `json:"at"`
	Name    string  `json:"name,omitempty"`
	Outcome Outcome `json:"outcome"`
	State   string  `json:"state,omitempty"`
	Why     string  `json:"why,omitempty"`

	Nodes []string `json:"nodes,omitempty"` // nodes of the fleet whose value uses this binding
}

// Explanation explains why a key has its outcome in a request.
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

	Left, LeftParts int `json:"-"` // numbers of bindings and of contributions that a brief explanation omits
}

// Explain explains why a key has its outcome in a request.
func (s Style) Explain(r *lookup.Request, key string) (*Explanation, error) {
	e, err := r.Explain(key)
	if err != nil {
		return nil, err
	}
	out := s.explanation(e, r.Categories())
	return &out, nil
}

// ExplainBriefly is like Explain, but omits most bindings whose condition does not hold. See the method of
// lookup.Request.
func (s Style) ExplainBriefly(r *lookup.Request, key string, others int, index lookup.Index) (*Explanation, error) {
	e, err := r.ExplainBriefly(key, others, index)
	if err != nil {
		return nil, err
	}
	out := s.explanation(e, r.Categories())
	return &out, nil
}

// ExplainForPage explains at least the bindings that a Page shows without All.
func (s Style) ExplainForPage(r *lookup.Request, key string) (*Explanation, error) {
	return s.ExplainBriefly(r, key, shownRows, lookup.Index{})
}

// Outcomes returns the outcomes of all bindings of a key that are effective in a request, in order of precedence.
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

// distinct removes duplicate bindings, and keeps the one with the most effective state. With mapped_paths, Hiera 5
// binds a file once for each element of a list, but a report should show it once.
func distinct(cs []Candidate) []Candidate {
	return distinctBy(cs, func(c *Candidate) *Candidate { return c })
}

// distinctBy is distinct for structs that contain a candidate.
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

// id identifies a binding as reports show it.
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

// states lists the states of a candidate, the most effective first.
var states = []string{lookup.Wins, lookup.Merged, lookup.Hidden, lookup.NotEffective}

func (s Style) rows(rows []decision.Row) []Candidate {
	out := make([]Candidate, len(rows))
	for i := range rows {
		r := &rows[i]
		out[i] = Candidate{Layer: r.Layer, When: r.When, At: r.At, Name: r.Name, Outcome: s.row(r)}
	}
	return distinct(out)
}

// Error is the reason why a lookup has no value.
type Error struct {
	Code    bindings.Code `json:"code"`
	Message string        `json:"message"`
}
