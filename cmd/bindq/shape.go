package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"bindc/internal/decision"
	"bindc/internal/lookup"
	"bindc/internal/value"
	bindings "bindc/runtime"
)

// The answers of reports in JSON, as cli.md has them.

// terms is a condition, an object in the order of precedence.
type terms []lookup.Term

func (ts terms) MarshalJSON() ([]byte, error) {
	var b value.Builder
	for _, t := range ts {
		b.Set(value.FromString(t.Name), value.FromString(t.Value))
	}
	return value.AppendJSON(nil, b.Hash()), nil
}

// outcome is what comes of a lookup or of a binding.
type outcome struct {
	Value     json.RawMessage `json:"value,omitempty"`
	Sensitive bool            `json:"sensitive,omitempty"`
	Found     *bool           `json:"found,omitempty"`
	Error     *answerError    `json:"error,omitempty"`
	Computed  string          `json:"computed,omitempty"`
}

// shower makes outcomes of what there is to show.
type shower struct {
	sensitive bool
	form      form
}

func notFound() outcome { return outcome{Found: new(bool)} }

func (s shower) outcome(o lookup.Outcome) outcome {
	switch {
	case o.Err != nil:
		return failedOutcome(o.Err)
	case !o.Found:
		return notFound()
	}
	out := outcome{Sensitive: o.Value.Sensitive()}
	if out.Sensitive && !s.sensitive {
		return out
	}
	t, err := tree(bindings.Value(o.Value.Reveal()))
	if err != nil {
		return failedOutcome(err)
	}
	return s.value(t, out.Sensitive)
}

// value returns the outcome for a value that may be shown.
func (s shower) value(v value.Value, sensitive bool) outcome {
	text, err := textOf(v, s.form)
	if err != nil {
		return failedOutcome(err)
	}
	return outcome{Sensitive: sensitive, Value: text}
}

func failedOutcome(err error) outcome { return outcome{Error: &answerError{codeOf(err), err.Error()}} }

// row is the outcome of a row of a decision table; nil is not found.
func (s shower) row(r *decision.Row) outcome {
	switch {
	case r == nil || r.Erased:
		return notFound()
	case r.Abstract:
		return outcome{Error: &answerError{bindings.CodeAbstract, "abstract: a value is expected above it"}}
	case r.Sealed || r.Sensitive && !s.sensitive:
		return outcome{Sensitive: true}
	case r.Computed != "":
		return outcome{Sensitive: r.Sensitive, Computed: r.Computed}
	}
	return s.value(r.Value, r.Sensitive)
}

// text is an outcome in a line.
func (o outcome) text() string {
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

// candidateShape is a candidate of an explanation, or a row of a table.
type candidateShape struct {
	Layer   string  `json:"layer"`
	When    terms   `json:"when"`
	At      string  `json:"at"`
	Name    string  `json:"name,omitempty"`
	Outcome outcome `json:"outcome"`
	State   string  `json:"state,omitempty"`
	Why     string  `json:"why,omitempty"`
}

type explanationShape struct {
	Key           string             `json:"key"`
	Root          string             `json:"root,omitempty"`
	Outcome       outcome            `json:"outcome"`
	Categories    terms              `json:"categories,omitzero"`
	Options       []candidateShape   `json:"lookup_options,omitempty"`
	Candidates    []candidateShape   `json:"candidates"`
	Contributions []candidateShape   `json:"contributions"`
	Lookups       []explanationShape `json:"lookups"`
	Unexplained   int                `json:"unexplained,omitempty"`
}

func (s shower) explanation(e *lookup.Explanation, categories []lookup.Term) explanationShape {
	out := explanationShape{Key: e.Key, Root: e.Root, Outcome: s.outcome(e.Outcome), Categories: categories,
		Candidates: s.candidates(e.Candidates), Contributions: s.candidates(e.Contributions),
		Lookups: []explanationShape{}, Unexplained: e.Unexplained}
	if e.Options != nil {
		out.Options = s.candidates([]lookup.Candidate{*e.Options})
	}
	for _, inner := range e.Lookups {
		out.Lookups = append(out.Lookups, s.explanation(inner, nil))
	}
	return out
}

func (s shower) candidates(cs []lookup.Candidate) []candidateShape {
	out := make([]candidateShape, len(cs))
	for i, c := range cs {
		out[i] = candidateShape{c.Layer, c.When, c.At, c.Name, s.outcome(c.Outcome), c.State, c.Why}
	}
	return once(out)
}

// once tells of each binding in the same words once, as the request has it that it is most effective in. A file that
// mapped_paths leads to is bound by a path for each element that the array may have: nobody wants to read of all.
func once(cs []candidateShape) []candidateShape {
	return oncePer(cs, func(c *candidateShape) *candidateShape { return c })
}

// oncePer is once of what has a candidate.
func oncePer[T any](list []T, candidate func(*T) *candidateShape) []T {
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

// id is the same of what is told in the same words.
func (c *candidateShape) id() string {
	return fmt.Sprintf("%q %q %q %q", c.At, c.Name, c.Layer, c.When)
}

// states are those of a candidate, the most effective first.
var states = []string{lookup.Wins, lookup.Merged, lookup.Hidden, lookup.NotEffective}

func (s shower) rows(rows []decision.Row) []candidateShape {
	out := make([]candidateShape, len(rows))
	for i := range rows {
		r := &rows[i]
		out[i] = candidateShape{Layer: r.Layer, When: r.When, At: r.At, Name: r.Name, Outcome: s.row(r)}
	}
	return once(out)
}

// encode writes x as JSON in a line.
func encode(w io.Writer, x any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(x)
}

// asJSON returns a shape or a text as JSON, on one line.
func asJSON(x any) json.RawMessage {
	var b bytes.Buffer
	if err := encode(&b, x); err != nil {
		panic(err) // shapes contain valid JSON only
	}
	return bytes.TrimSpace(b.Bytes())
}
