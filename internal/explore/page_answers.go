package explore

import (
	"slices"
	"strconv"

	"bindc/internal/report"
	"bindc/internal/report/affected"
)

// answersContent lists the values that nodes get for a key.
type answersContent struct {
	Rows    []answerRow
	Total   int  // number of distinct values
	Looked  int  // number of nodes whose values are known
	Skipped int  // number of nodes that were not looked up
	None    bool // no node gets a value
	Pending bool
	Alone   bool   // the page has no decision table, only this list
	Next    string // address of the next page of values, or ""
}

type answerRow struct {
	Value shownValue
	Nodes int
	Some  []string // names of the first few nodes
	List  string   // address of the list of all nodes that get the value
}

// These constants limit the list of values on a key's page.
const (
	shownAnswers = 20
	namedNodes   = 3
)

// answers returns at most n values of a key, starting at index from.
func (v *view) answers(key string, k *keyData, from, n int) (*answersContent, error) {
	c := &answersContent{Total: len(k.answers), Skipped: len(v.d.nodes) - k.looked}
	for i := range k.answers {
		c.Looked += len(k.answers[i].nodes)
	}
	from = min(from, c.Total)
	to := min(from+n, c.Total)
	for i, a := range k.answers[from:to] {
		value, err := v.valueOf(key, int(a.nodes[0]), report.People)
		if err != nil {
			return c, err
		}
		row := answerRow{Value: shown(value), Nodes: len(a.nodes), List: v.Key(key, "value", from+i+1)}
		for _, node := range a.nodes[:min(len(a.nodes), namedNodes)] {
			row.Some = append(row.Some, v.d.nodes[node].Name)
		}
		c.Rows = append(c.Rows, row)
	}
	c.None = c.Total == 1 && len(c.Rows) == 1 && c.Rows[0].Value.Kind == "missing"
	if to < c.Total {
		c.Next = v.Key(key, "values", to)
	}
	return c, nil
}

// valueOf looks up a key for the node with index node.
func (v *view) valueOf(key string, node int, form report.Form) (report.Outcome, error) {
	r, err := affected.Request(v.d.snap, v.d.nodes[node])
	if err != nil {
		return report.Outcome{}, err
	}
	return v.d.answerOf(r, key, form), nil
}

type answerTwin struct {
	Outcome report.Outcome `json:"outcome"`
	Nodes   []string       `json:"nodes"`
}

// answersTwin returns one page of a key's values, with all nodes that get each value, for a JSON response.
func (v *view) answersTwin(key string, k *keyData) (any, error) {
	ready, err := v.wait(k.answered)
	if ready {
		err = k.answersErr
	}
	if err != nil {
		return nil, err
	}
	from := min(v.number("values"), len(k.answers))
	to := min(from+pageRows, len(k.answers))
	out := []answerTwin{}
	for _, a := range k.answers[from:to] {
		value, err := v.valueOf(key, int(a.nodes[0]), report.JSON)
		if err != nil {
			return nil, err
		}
		x := answerTwin{Outcome: value}
		for _, node := range a.nodes {
			x.Nodes = append(x.Nodes, v.d.nodes[node].Name)
		}
		out = append(out, x)
	}
	if to < len(k.answers) {
		v.next = v.following("values", strconv.Itoa(to))
	}
	return out, nil
}

// nodesContent is one page of the list of nodes that use a binding or get a value.
type nodesContent struct {
	Row   *keyRow     // the binding that the nodes use, or nil if they are listed by value
	Value *shownValue // the value that the nodes get, or nil if they are listed by binding
	Nodes []nodeValue
	Total int
	Next  string
}

// nodeValue is a node in a list. Value is nil if all nodes in the list have the same value.
type nodeValue struct {
	Name  string
	Value *shownValue
}

// nodesOfRow returns one page of the nodes that use a binding or a contribution. The query gives the row's number or
// its position.
func (v *view) nodesOfRow(key string, values *report.Values) (*nodesContent, error) {
	parameter, list := "row", values.Bindings
	if v.Has("part") {
		parameter, list = "part", values.Contributions
	}
	number := v.number(parameter)
	if v.Has("at") {
		parameter, list, number = v.rowAt(values)
	}
	if number < 1 || number > len(list) {
		return nil, notFound("This key has no such binding", "", link{"All bindings of this key", v.Key(key)})
	}
	row := v.keyRows(key, parameter, list, number-1, number)[0]
	c := &nodesContent{Row: &row, Total: row.Nodes}
	names, next := after(list[number-1].Nodes, v.Get("after"))
	if next != "" {
		c.Next = v.Key(key, parameter, number, "after", next)
	}
	differ := row.Value.Kind == "computed" || len(row.Name) > 0 || values.Options != nil
	for _, name := range names {
		n := nodeValue{Name: name}
		if differ {
			value, err := v.valueOf(key, v.d.number[name], report.People)
			if err != nil {
				return nil, err
			}
			shown := shown(value)
			n.Value = &shown
		}
		c.Nodes = append(c.Nodes, n)
	}
	return c, nil
}

// rowAt finds the row at the position in the query's parameter "at". number counts from 1; it is 0 if there is no such
// row.
func (v *view) rowAt(values *report.Values) (parameter string, list []report.Candidate, number int) {
	isAt := func(c report.Candidate) bool { return c.At == v.Get("at") && c.Name == v.Get("part_name") }
	if i := slices.IndexFunc(values.Bindings, isAt); i >= 0 {
		return "row", values.Bindings, i + 1
	}
	return "part", values.Contributions, slices.IndexFunc(values.Contributions, isAt) + 1
}

// nodesOfAnswer returns one page of the nodes that get one value of key. number is the number of this value, from 1.
func (v *view) nodesOfAnswer(key string, k *keyData, number int) (*nodesContent, error) {
	if number < 1 || number > len(k.answers) {
		return nil, notFound("No node gets such a value", "", link{"All values of this key", v.Key(key)})
	}
	nodes := k.answers[number-1].nodes
	value, err := v.valueOf(key, int(nodes[0]), report.People)
	if err != nil {
		return nil, err
	}
	shown := shown(value)
	c := &nodesContent{Value: &shown, Total: len(nodes)}
	from := min(v.number("after"), len(nodes))
	to := min(from+pageRows, len(nodes))
	for _, node := range nodes[from:to] {
		c.Nodes = append(c.Nodes, nodeValue{Name: v.d.nodes[node].Name})
	}
	if to < len(nodes) {
		c.Next = v.Key(key, "value", number, "after", to)
	}
	return c, nil
}
