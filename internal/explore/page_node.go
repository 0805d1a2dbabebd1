package explore

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/facts"
	"bindc/internal/lookup"
	"bindc/internal/report"
	"bindc/internal/report/affected"
)

// nodeContent is the data for a node's page.
type nodeContent struct {
	Name       string
	File       string // path of the node's facts file
	Categories report.Terms
	Doubt      string   // why the facts are in doubt: they are about another node
	Unset      []string // variables that conditions use and the node lacks
	Empty      []string // variables and categories that conditions use and that are empty
	Facts      []factField

	Environment factField

	Prefix, InFile, Layer string // filters of the keys
	Layers                []string
	Rows                  []nodeRow
	Scanned               int // number of keys that the filter examined, if it hides some
	Next                  string

	If         []string // changed facts
	OtherFacts []string // changed facts without an input field

	With   string // name of the other node
	Effect *effectContent

	Problem string // why the page has no effect to show
	Near    []link // comparisons with nodes of a similar name
}

// nodeRow is a key with the value that a node gets.
type nodeRow struct {
	Key    string
	Value  shownValue
	At     string // position of the binding, or ""
	Place  place
	Layer  string
	When   report.Terms
	Reason string // why no single binding wins, or ""
	Hidden int    // number of effective bindings that are hidden

	outcome lookup.Outcome
}

// nodeNamed returns the node called text. If no node has this name, the error has links to similar names, and the given
// links.
func (v *view) nodeNamed(text string, to func(string, ...any) string, more ...link) (facts.Node, error) {
	n, ok := v.d.node(text)
	if ok {
		return n, nil
	}
	v.Section = "n"
	message := "No facts were read for node '" + diag.Visible(text) + "'"
	if len(v.d.nodes) == 0 {
		return n, notFound(message, "bindc explore --facts-dir DIR reads the facts of nodes")
	}
	return n, &problem{status: http.StatusNotFound, text: message, Near: similarNodes(text, v.d.nodeNames(), to),
		Links: append(more, link{"All nodes", v.With("/n")})}
}

// nodePage shows the values of a node, and what changes with other facts or for another node.
func (v *view) nodePage() (any, error) {
	text := v.name("node", func(name string) bool { _, ok := v.d.node(name); return ok })
	n, err := v.nodeNamed(text, v.Node)
	if err != nil {
		return nil, err
	}
	v.Title, v.Section = diag.Visible(n.Name), "n"
	r, err := affected.Request(v.d.snap, n)
	if err != nil {
		return nil, err
	}
	if changed, canonical := v.changedFacts(n); !canonical {
		v.Values["if"] = changed
		v.moved = v.Node(n.Name, v.conditions()...)
		return nil, nil
	}
	if len(v.Values["if"]) > 0 || v.Get("with") != "" {
		return v.comparison(n, r)
	}
	v.categories = r.Categories()
	rows, next, scanned, err := v.nodeRows(r)
	if err != nil {
		return nil, err
	}
	if v.asJSON {
		return v.explanations(r, rows)
	}
	c := v.nodeContent(n, r)
	c.Scanned, c.Rows = scanned, rows
	if next != "" {
		c.Next = v.Node(n.Name, "prefix", c.Prefix, "file", c.InFile, "layer", c.Layer, "after", next)
	}
	return c, nil
}

// nodeContent returns the page content for a node, except its keys.
func (v *view) nodeContent(n facts.Node, r *lookup.Request) *nodeContent {
	c := &nodeContent{Name: n.Name, File: n.File, Environment: environmentOf(n),
		Categories: r.Categories(), Doubt: n.Contradiction(), Facts: v.factFields(n),
		Prefix: v.Get("prefix"), InFile: v.Get("file"), Layer: v.Get("layer"),
		Layers: v.d.file.Layers(), If: v.Values["if"], With: v.Get("with")}
	c.Unset, c.Empty = v.unset(n, r)
	if ready, _ := v.wait(v.d.census.ready); ready { // waiting for a page does not fail
		v.suggest(c.Facts)
	}
	return c
}

// maxScanned limits the number of keys that a filter examines for one page.
const maxScanned = 1000

// nodeRows returns the rows of a page for the keys that the filters select.
func (v *view) nodeRows(r *lookup.Request) (rows []nodeRow, next string, scanned int, err error) {
	from, _ := slices.BinarySearch(v.d.keys, cmp.Or(v.Get("after")+"\x00", v.Get("prefix")))
	if v.Get("after") == "" {
		from, _ = slices.BinarySearch(v.d.keys, v.Get("prefix"))
	}
	for _, key := range v.d.keys[from:] {
		if !strings.HasPrefix(key, v.Get("prefix")) {
			break
		}
		if len(rows) == pageRows || scanned == maxScanned {
			return rows, v.d.keys[from+scanned-1], scanned, nil
		}
		scanned++
		row, err := v.nodeRow(r, key)
		if err != nil {
			return nil, "", 0, err
		}
		if v.selects(&row) {
			v.dress(&row)
			rows = append(rows, row)
		}
	}
	return rows, "", scanned, nil
}

// selects reports whether the winning binding of a key matches the file and layer filters.
func (v *view) selects(row *nodeRow) bool {
	file, layer := v.Get("file"), v.Get("layer")
	in, _ := splitPlace(row.At)
	return (file == "" || in == file) && (layer == "" || row.Layer == layer)
}

// nodeRow returns a key with its value and the binding that wins.
func (v *view) nodeRow(r *lookup.Request, key string) (nodeRow, error) {
	e, err := r.ExplainBriefly(key, 0, v.d.index())
	if err != nil {
		return nodeRow{}, err
	}
	row := nodeRow{Key: key}
	merged := 0
	for _, c := range e.Candidates {
		switch c.State {
		case lookup.Wins, lookup.Merged:
			if merged++; merged == 1 {
				row.At, row.Layer, row.When = c.At, c.Layer, c.When
			}
		case lookup.Hidden:
			row.Hidden++
		}
	}
	row.outcome = e.Outcome
	switch {
	case merged > 1:
		row.Reason = "merged from " + diag.Count(merged, "binding")
	case len(e.Contributions) > 0:
		row.Reason = "combined from " + diag.Count(len(e.Contributions), "contribution")
	}
	return row, nil
}

// dress sets the fields of a row that the filters do not need.
func (v *view) dress(row *nodeRow) {
	row.Value, row.When = shown(v.d.style(report.People).Outcome(row.outcome)), v.spelled(row.When)
	if row.At != "" {
		row.Place = v.place(row.At)
	}
}

// explanations returns the JSON twin of a node's page: the explanations of the node's keys.
func (v *view) explanations(r *lookup.Request, rows []nodeRow) (any, error) {
	out := explanations{}
	for i := range rows {
		e, err := v.d.style(report.JSON).Explain(r, rows[i].Key)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// explanations is an object with a member for each key, as bindq explain prints it.
type explanations []*report.Explanation

// MarshalJSON implements json.Marshaler.
func (es explanations) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, e := range es {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, marshal(e.Key)...), ':'), marshal(e)...)
	}
	return append(out, '}'), nil
}

// nodesListContent is the data for the page that lists nodes.
type nodesListContent struct {
	Nodes  []report.Node
	Filter string
	Total  int
	Next   string
	Wrong  []string // nodes with unusable facts
}

// nodeList lists the nodes with their categories.
func (v *view) nodeList() (any, error) {
	v.Title, v.Section = "Nodes", "n"
	var names []string
	for _, n := range v.d.nodes {
		if strings.Contains(n.Name, v.Get("filter")) {
			names = append(names, n.Name)
		}
	}
	c := &nodesListContent{Filter: v.Get("filter"), Total: len(names)}
	part, next := names, ""
	if !v.asJSON {
		part, next = after(names, v.Get("after"))
	}
	all := report.Nodes{}
	for _, name := range part {
		n, _ := v.d.node(name)
		r, err := affected.Request(v.d.snap, n)
		if err != nil {
			c.Wrong = append(c.Wrong, err.Error())
			continue
		}
		all = append(all, report.Node{Name: n.Name, Categories: r.Categories()})
	}
	if v.asJSON {
		return all, nil
	}
	c.Nodes = all
	if next != "" {
		c.Next = v.With("/n", "filter", c.Filter, "after", next)
	}
	return c, nil
}
