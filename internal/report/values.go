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

// Values is the decision table of a key. A node gets the value of the first binding that applies to it.
type Values struct {
	Key           string          `json:"key"`
	Options       json.RawMessage `json:"lookup_options,omitempty"`
	Bindings      []Candidate     `json:"bindings"`
	Contributions []Candidate     `json:"contributions,omitempty"`
	Without       []string        `json:"nodes_without,omitempty"` // names of the nodes that get no value

	table     *decision.Table
	ofBinding rowIndex // index of Bindings, made by the first call of AddNode
	ofPart    rowIndex // index of Contributions
}

// Values returns the report on the decision table t of key, without nodes.
func (s Style) Values(key string, t *decision.Table) *Values {
	return &Values{Key: key, Options: options(t, s.Form), Bindings: s.rows(t.Rows),
		Contributions: s.rows(t.Contributions), table: t}
}

// AddNode adds a node to the bindings that determine its value. e explains the value of the key on that node.
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

// rowIndex maps the id of a binding to its index in a table, because tables can be long.
type rowIndex map[string]int

func indexOf(rows []Candidate) rowIndex {
	out := rowIndex{}
	for i := range rows {
		out[rows[i].id()] = i
	}
	return out
}

// addNode adds a node to those rows that win or are merged according to candidates. It reports whether there are any.
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

// Values writes a decision table.
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

// options returns the lookup_options of a key as JSON, "true" if they depend on the request, or nil if there are none.
func options(t *decision.Table, f Form) json.RawMessage {
	switch {
	case !t.HasOptions:
		return nil
	case t.Options.IsUndef():
		return json.RawMessage("true")
	}
	return appendForm(nil, t.Options, f) // no two keys are equal, because all are strings
}

// options writes the lookup_options of a key and whether they merge its rows.
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

// shownTable is the number of rows after which a decision table is cut off without --all. A key can have a binding for
// each of thousands of nodes.
const shownTable = 100

// rows writes the conditions, values and positions of the rows of a table.
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

// nodes writes the names of the nodes that use a row.
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
