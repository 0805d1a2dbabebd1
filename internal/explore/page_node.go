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

type nodeContent struct {
	Name       string
	File       string // path of the node's facts file
	Categories report.Terms
	Doubt      string   // why the facts may be those of another node, or ""
	Unset      []string // variables that conditions use but the node lacks
	Empty      []string // variables and categories that conditions use but whose value is empty
	Facts      []factField

	Environment factField

	Prefix, InFile, Layer string // filters for the list of keys
	Layers                []string
	Rows                  []nodeRow
	Scanned               int  // number of keys that nodeRows examined
	Partial               bool // whether nodeRows stopped before it had examined enough keys to fill the page
	Next                  string

	If         []string // changed facts, in the syntax of --if
	OtherFacts []string // changed facts without an input field

	With   string // name of the node to compare with, or ""
	Effect *effectContent

	Problem string // why Effect is empty, or ""
	Near    []link // comparisons with nodes of similar names
}

// nodeRow is a key with the value that the node gets.
type nodeRow struct {
	Key    string
	Value  shownValue
	At     string // position of the winning binding, or ""
	Place  place
	Layer  string
	When   report.Terms
	Reason string // why no single binding wins, or ""
	Hidden int    // number of bindings that apply but are hidden

	outcome lookup.Outcome
}

// nodeNamed returns the node called text. If there is none, the error has links to nodes with similar names and the
// links in more. to returns a node's address.
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

// nodePage shows the values of a node or, if the query changes facts or names a second node, the values that differ.
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
		if next != "" {
			v.next = v.following("after", next)
		}
		return v.explanations(r, rows)
	}
	c := v.nodeContent(n, r)
	c.Scanned, c.Rows = scanned, rows
	if next != "" {
		c.Partial = len(rows) < pageRows
		c.Next = v.Node(n.Name, "prefix", c.Prefix, "file", c.InFile, "layer", c.Layer, "after", next)
	}
	return c, nil
}

// nodeContent returns the content of a node's page, except the list of keys.
func (v *view) nodeContent(n facts.Node, r *lookup.Request) *nodeContent {
	c := &nodeContent{Name: n.Name, File: n.File, Environment: environmentOf(n),
		Categories: r.Categories(), Doubt: n.Contradiction(), Facts: v.factFields(n),
		Prefix: v.Get("prefix"), InFile: v.Get("file"), Layer: v.Get("layer"),
		Layers: distinct(v.d.file.Layers()), If: v.Values["if"], With: v.Get("with")}
	c.Unset, c.Empty = v.unset(n, r)
	if ready, _ := v.wait(v.d.census.ready); ready { // v is a page here, so wait does not return an error
		v.suggest(c.Facts)
	}
	return c
}

// distinct returns the different texts in list, in order. Several layers of a site may have the same name.
func distinct(list []string) (out []string) {
	for _, text := range list {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// maxScanned limits the number of keys that nodeRows examines for one page.
const maxScanned = 20_000

// nodeRows returns a page of the keys that the filters in the query select. next is the key after which the next page
// starts, or "". scanned is the number of keys examined.
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

// selects reports whether the winning binding of the row's key passes the file and layer filters.
func (v *view) selects(row *nodeRow) bool {
	file, layer := v.Get("file"), v.Get("layer")
	in, _ := splitPlace(row.At)
	return (file == "" || in == file) && (layer == "" || row.Layer == layer)
}

// nodeRow explains key and returns it with its value and the winning binding. It omits what only visible rows need.
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

// dress sets the fields that nodeRow omits.
func (v *view) dress(row *nodeRow) {
	row.Value, row.When = shown(v.d.style(report.People).Outcome(row.outcome)), v.spelled(row.When)
	if row.At != "" {
		row.Place = v.place(row.At)
	}
}

// explanations returns the explanations of the keys in rows, for the JSON twin of a node's page.
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

// explanations is a list that encodes as a JSON object with one member per key, like the output of 'bindq explain'.
type explanations []*report.Explanation

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

type nodesListContent struct {
	Nodes  []report.Node
	Filter string
	Total  int
	Next   string
	Wrong  []string // errors about nodes with unusable facts
}

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
