package report

import (
	"encoding/json"
	"fmt"
	"strings"

	"bindc/internal/report/decision"
	"bindc/internal/value"
)

// Values is the decision table of a key: a node gets the value of the first binding whose condition holds for it.
type Values struct {
	Key           string          `json:"key"`
	Options       json.RawMessage `json:"lookup_options,omitempty"`
	Bindings      []Candidate     `json:"bindings"`
	Contributions []Candidate     `json:"contributions,omitempty"`

	table *decision.Table
}

// Values returns the report on a decision table.
func (s Style) Values(key string, t *decision.Table) *Values {
	return &Values{key, options(t, s.Form), s.rows(t.Rows), s.rows(t.Contributions), t}
}

// Values shows a decision table.
func (p *Page) Values(v *Values) {
	fmt.Fprintln(p, p.paint(bold, v.Key))
	p.options(v.table)
	p.rows(v.Bindings)
	if len(v.Contributions) > 0 {
		fmt.Fprintf(p, "\n%s\n", p.paint(bold, "contributions to "+v.Key))
		p.rows(v.Contributions)
	}
}

// options returns the lookup_options of a key, true if they depend on the request, or nil if there are none.
func options(t *decision.Table, f Form) json.RawMessage {
	switch {
	case !t.Touched:
		return nil
	case t.Options.IsUndef():
		return json.RawMessage("true")
	}
	return appendForm(nil, t.Options, f) // the keys of options are strings, so their texts differ
}

// options shows the lookup_options of a key, which decide whether only the first row counts.
func (p *Page) options(t *decision.Table) {
	text := "lookup_options: " + string(value.AppendJSON(nil, t.Options))
	switch {
	case !t.Touched:
		return
	case t.Options.IsUndef():
		text = "lookup_options depend on the node: all that hold for it may count"
	case t.Merged:
		text += ", so all count that hold for a node"
	}
	p.wrapped(2, yellow, strings.Fields(text))
}

// rows shows a table of conditions, values and places.
func (p *Page) rows(rows []Candidate) {
	for i := range rows {
		r := &rows[i]
		p.wrapped(2, "", condition(r.Name, r.When, "always"))
		p.line(6, p.outcomeStyle(r.Outcome), "= "+r.Outcome.text())
		fmt.Fprint(p, "      ")
		p.place(6, r.At, r.Layer)
	}
}

func (p *Page) outcomeStyle(o Outcome) string {
	if o.Error != nil {
		return red
	}
	return green
}
