package report

import (
	"encoding/json"

	"bindc/internal/lookup"
	"bindc/internal/recipe"
	"bindc/internal/report/decision"
	"bindc/internal/value"
	bindings "bindc/runtime"
)

// Bound is a binding of WhyNot.Key to WhyNot.Value.
type Bound struct {
	Candidate
	HiddenBy []Candidate `json:"hidden_by"`
	Never    bool        `json:"never,omitempty"` // a single higher binding always hides this one
}

// WhyNot explains why nodes do not get a certain value for a key. It lists the bindings with the value, the nodes for
// which they win, and the bindings that hide them.
type WhyNot struct {
	Key      string          `json:"key"`
	Value    json.RawMessage `json:"value"`
	Options  json.RawMessage `json:"lookup_options,omitempty"`
	Bindings []Bound         `json:"bindings"`
	Parts    []Candidate     `json:"contributions,omitempty"` // contributions with the value
	Outcome  *Outcome        `json:"outcome,omitempty"`       // what the node gets; nil if no node was selected
	Computed []Candidate     `json:"computed,omitempty"`      // bindings with computed values; nil with a node

	text   string
	merged bool
}

// WhyNot reports which rows of t bind key to the value in text. text is JSON or a plain string. e explains key for the
// selected node; it is nil if there is none.
func (s Style) WhyNot(key, text string, t *decision.Table, e *lookup.Explanation) (*WhyNot, error) {
	want, err := ParseValue(text).MarshalJSON()
	if err != nil {
		return nil, err
	}
	out := &WhyNot{Key: key, Value: want, Options: options(t, s.Form), Bindings: []Bound{}, text: text,
		merged: t.Merged}
	var cs []lookup.Candidate
	if e != nil {
		outcome := s.Outcome(e.Outcome)
		cs, out.Outcome = e.Candidates, &outcome
	}
	out.Parts = s.matchingContributions(key, t.Contributions, e, text)
	for i := range t.Rows {
		var found *lookup.Candidate
		if i < len(cs) {
			found = &cs[i]
		}
		switch {
		case bindsValue(&t.Rows[i], found, text):
			out.Bindings = append(out.Bindings, s.bound(t, i, found))
		case t.Rows[i].Computed != "" && found == nil:
			out.Computed = append(out.Computed, s.rows(t.Rows[i:i+1])...)
		}
	}
	out.Bindings = distinctBy(out.Bindings, func(b *Bound) *Candidate { return &b.Candidate })
	out.Computed = distinct(out.Computed)
	return out, nil
}

// AddNode adds the name of a node to the bindings that, according to e, give the value to that node.
func (w *WhyNot) AddNode(name string, e *Explanation) {
	rows := make([]Candidate, len(w.Bindings))
	for i := range w.Bindings {
		rows[i] = w.Bindings[i].Candidate
	}
	indexOf(rows).addNode(rows, name, e.Candidates)
	for i := range rows {
		w.Bindings[i].Nodes = rows[i].Nodes
	}
	indexOf(w.Parts).addNode(w.Parts, name, e.Contributions)
}

// IsBound reports whether any binding or contribution has the value.
func (w *WhyNot) IsBound() bool { return len(w.Bindings)+len(w.Parts) > 0 }

// matchingContributions returns the contributions that have the value in text, or that contribute the class named text.
// If e is not nil, they have the states in e.
func (s Style) matchingContributions(key string, parts []decision.Row, e *lookup.Explanation,
	text string) (out []Candidate) {
	for i := range parts {
		var found *lookup.Candidate
		if e != nil && len(e.Contributions) == len(parts) {
			found = &e.Contributions[i]
		}
		if !bindsValue(&parts[i], found, text) && (key != recipe.ClassesKey || parts[i].Name != text) {
			continue
		}
		c := s.rows(parts[i : i+1])[0]
		if found != nil {
			c.State, c.Why = found.State, found.Why
		}
		out = append(out, c)
	}
	return out
}

// bindsValue reports whether row r has the value in text, which is JSON or a plain string. If r is computed and c is
// not nil, it compares the result in c.
func bindsValue(r *decision.Row, c *lookup.Candidate, text string) bool {
	if c == nil || r.Computed == "" && !r.Sealed {
		want, _ := ParseValue(text).MarshalJSON() // text has been marshalled before, so this cannot fail
		if r.Computed != "" || r.Abstract || r.Erased || r.Sealed {
			return false
		}
		return r.Value.Kind() == value.String && r.Value.Text() == text ||
			string(value.AppendJSON(nil, r.Value)) == string(want)
	}
	v := bindings.Value(c.Outcome.Value.Reveal())
	got, err := v.MarshalJSON()
	want, _ := ParseValue(text).MarshalJSON()
	same := string(got) == string(want) || v.Kind() == bindings.String && v.String() == text
	return err == nil && c.Outcome.Found && same
}

// bound returns row i with the higher rows that can hide it. With merging, no row is hidden.
func (s Style) bound(t *decision.Table, i int, c *lookup.Candidate) Bound {
	rows := t.Rows
	out := Bound{Candidate: s.rows(rows[i : i+1])[0], HiddenBy: []Candidate{}}
	if c != nil {
		out.State, out.Why = c.State, c.Why
	}
	for k := range rows[:i] {
		higher := s.rows(rows[k : k+1])
		if t.Merged || !rows[k].Meets(&rows[i]) || higher[0].id() == out.id() {
			continue
		}
		out.HiddenBy = append(out.HiddenBy, higher...)
		if rows[k].Covers(&rows[i]) && !rows[k].Declines {
			out.Never = true
			out.HiddenBy = out.HiddenBy[len(out.HiddenBy)-1:]
			break
		}
	}
	out.HiddenBy = distinct(out.HiddenBy)
	return out
}
