package report

import (
	"encoding/json"
	"fmt"
	"strings"

	"bindc/diag"
	"bindc/internal/lookup"
	"bindc/internal/report/decision"
	"bindc/internal/value"
)

// Values is the decision table of a key. A node gets the value of the first binding whose condition holds for it.
type Values struct {
	Key           string          `json:"key"`
	Options       json.RawMessage `json:"lookup_options,omitempty"`
	Bindings      []Candidate     `json:"bindings"`
	Contributions []Candidate     `json:"contributions,omitempty"`
	Without       []string        `json:"nodes_without,omitempty"` // nodes of the fleet without a value

	table     *decision.Table
	ofBinding rowIndex // rows of Bindings; set by AddNode
	ofPart    rowIndex // rows of Contributions
}

// Values returns the report on a decision table.
func (s Style) Values(key string, t *decision.Table) *Values {
	return &Values{Key: key, Options: options(t, s.Form), Bindings: s.rows(t.Rows),
		Contributions: s.rows(t.Contributions), table: t}
}

// AddNode adds a node to the bindings that its value comes from. e explains the value.
func (v *Values) AddNode(name string, e *Explanation) {
	if v.ofBinding == nil {
		v.ofBinding, v.ofPart = indexOf(v.Bindings), indexOf(v.Contributions)
	}
	found := v.ofBinding.addNode(v.Bindings, name, e.Candidates)
	v.ofPart.addNode(v.Contributions, name, e.Contributions)
	if !found {
		v.Without = append(v.Without, name)
	}
}

// rowIndex finds the row of a binding by its id. A table can have a row for each of many nodes.
type rowIndex map[string]int

func indexOf(rows []Candidate) rowIndex {
	out := rowIndex{}
	for i := range rows {
		out[rows[i].id()] = i
	}
	return out
}

// addNode adds a node to the rows that win for it or are merged. It reports whether there are such rows.
func (x rowIndex) addNode(rows []Candidate, name string, candidates []Candidate) (found bool) {
	for i := range candidates {
		c := &candidates[i]
		if c.State != lookup.Wins && c.State != lookup.Merged {
			continue
		}
		if at, known := x[c.id()]; known {
			rows[at].Nodes, found = append(rows[at].Nodes, name), true
		}
	}
	return found
}

// Values shows a decision table.
func (p *Page) Values(v *Values) {
	fmt.Fprintln(p, p.paint(bold, v.Key))
	p.options(v.table)
	p.rows(v.Bindings)
	if len(v.Without) > 0 {
		p.line(2, yellow, "nothing")
		p.nodes(6, v.Without)
	}
	if len(v.Contributions) > 0 {
		fmt.Fprintf(p, "\n%s\n", p.paint(bold, "contributions to "+v.Key))
		p.rows(v.Contributions)
	}
}

// options returns the lookup_options of a key, true if they depend on the request, or nil if there are none.
func options(t *decision.Table, f Form) json.RawMessage {
	switch {
	case !t.HasOptions:
		return nil
	case t.Options.IsUndef():
		return json.RawMessage("true")
	}
	return appendForm(nil, t.Options, f) // the keys of options are strings, so no two have the same text
}

// options shows the lookup_options of a key, which determine whether its rows are merged.
func (p *Page) options(t *decision.Table) {
	text := "lookup_options: " + string(value.AppendJSON(nil, t.Options))
	switch {
	case !t.HasOptions:
		return
	case t.Options.IsUndef():
		text = "lookup_options depend on the node: all bindings that hold for it may be merged"
	case t.Merged:
		text += ", so all bindings that hold for a node are merged"
	}
	p.wrapped(2, yellow, strings.Fields(text))
}

// shownTable is the number of rows of a decision table that a page shows without --all. A key may have a binding for
// each of thousands of nodes.
const shownTable = 100

// rows shows a table of conditions, values and places.
func (p *Page) rows(rows []Candidate) {
	for i := range rows {
		if i == shownTable && !p.All {
			p.line(2, dim, diag.Count(len(rows)-i, "more binding")+" (--all shows each)")
			return
		}
		r := &rows[i]
		p.wrapped(2, "", condition(r.Name, r.When, "always"))
		p.line(6, p.outcomeStyle(r.Outcome), "= "+r.Outcome.text())
		fmt.Fprint(p, "      ")
		p.location(6, r.At, r.Layer)
		p.nodes(6, r.Nodes)
	}
}

// nodes shows the nodes of a row, if there are any.
func (p *Page) nodes(indent int, all []string) {
	if len(all) == 0 {
		return
	}
	shown := all
	if len(all) > shownRows && !p.All {
		shown = all[:shownRows]
	}
	words := append([]string{diag.Count(len(all), "node") + ":"}, shown...)
	if more := len(all) - len(shown); more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	p.wrapped(indent, "", words)
}

func (p *Page) outcomeStyle(o Outcome) string {
	if o.Error != nil {
		return red
	}
	return green
}
