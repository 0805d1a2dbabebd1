package explore

import (
	"slices"
	"strconv"
	"strings"

	"bindc/diag"
	"bindc/internal/report"
	"bindc/internal/report/decision"
)

// keyContent is the data of the page of a key.
type keyContent struct {
	Key     string
	Options string // lookup_options
	Merged  bool
	Rows    []keyRow
	Parts   []keyRow // contributions
	Values  []valueGroup
	Without int    // nodes without a value
	Total   int    // rows of the table
	Next    string // address of the next rows
	Counted bool
	Reason  string // why nodes are not counted

	MoreValues int // values that are not shown
	Nodes      *nodesContent
}

// keyRow is a binding of a key.
type keyRow struct {
	Number int
	Name   string // of a contribution
	When   report.Terms
	Value  shownValue
	SameAs int // number of an earlier row with the same long value
	Place  place
	Layer  string
	Nodes  int
	List   string // address of the list of nodes
}

// valueGroup is a value of the key and the number of nodes that get it.
type valueGroup struct {
	Value shownValue
	Nodes int
	Rows  int
}

// nodesContent is a part of the list of nodes of a row.
type nodesContent struct {
	Row   keyRow
	Names []string
	Next  string
}

// keyPage shows the decision table of a key.
func (v *view) keyPage() (any, error) {
	key := v.name("key", v.d.hasKey)
	if !v.d.hasKey(key) {
		return nil, notFound("nothing binds the key '"+diag.Visible(key)+"'", diag.DidYouMean(key, v.d.keys))
	}
	v.Title, v.Section = diag.Visible(key), "k"
	k := v.d.key(key)
	ready, err := v.wait(k.ready)
	switch {
	case err != nil:
		return nil, err
	case ready && k.err != nil:
		return nil, k.err
	case v.asJSON:
		return v.d.twin(key, k), nil
	case ready && k.full != nil:
		return v.keyContent(key, k.table, k.full, true), nil
	case ready:
		c := v.keyContent(key, k.table, k.shown, false)
		c.Reason = k.reason
		return c, nil
	case isClosed(k.known):
		return v.keyContent(key, k.table, k.shown, false), nil
	}
	return &keyContent{Key: key}, nil
}

// keyContent returns the data of the page for a table, which has nodes if it is counted.
func (v *view) keyContent(key string, table *decision.Table, values *report.Values, counted bool) *keyContent {
	c := &keyContent{Key: key, Merged: table.Merged, Total: len(values.Bindings), Without: len(values.Without),
		Counted: counted}
	if values.Options != nil {
		c.Options = diag.Visible(string(values.Options))
	}
	if v.Get("row") != "" && counted {
		c.Nodes = v.nodesOf(key, values, v.number("row"))
	}
	from := min(v.number("from"), c.Total)
	to := min(from+pageRows, c.Total)
	c.Rows = v.keyRows(key, counted, values.Bindings, from, to)
	c.Parts = v.keyRows(key, counted, values.Contributions, 0, min(pageRows, len(values.Contributions)))
	if to < c.Total {
		c.Next = v.Key(key, "from", to)
	}
	if counted && !table.Merged {
		c.Values, c.MoreValues = valueGroups(values)
	}
	return c
}

// keyRows returns rows of a table.
func (v *view) keyRows(key string, counted bool, list []report.Candidate, from, to int) []keyRow {
	var out []keyRow
	first := map[string]int{}
	for i := from; i < to; i++ {
		b := &list[i]
		row := keyRow{Number: i + 1, Name: diag.Visible(b.Name), When: b.When, Value: shown(b.Outcome),
			Place: v.place(b.At), Layer: b.Layer, Nodes: len(b.Nodes)}
		if row.Nodes > 0 && counted {
			row.List = v.Key(key, "row", i+1)
		}
		if n, known := first[row.Value.Text]; known && (row.Value.Tall || row.Value.Cut) {
			row.SameAs = n
		} else {
			first[row.Value.Text] = row.Number
		}
		out = append(out, row)
	}
	return out
}

// shownValues is the number of values in the summary of a key.
const shownValues = 20

// valueGroups groups the rows of a key by value, most nodes first. more is the number of values after shownValues.
func valueGroups(values *report.Values) (out []valueGroup, more int) {
	at := map[string]int{}
	for i := range values.Bindings {
		o := &values.Bindings[i].Outcome
		id := string(marshal(o))
		if o.Sensitive && o.Value == nil {
			id = "row " + strconv.Itoa(i) // equal values would show that they are equal
		}
		n, known := at[id]
		if !known {
			n = len(out)
			at[id] = n
			out = append(out, valueGroup{Value: shown(*o)})
		}
		out[n].Nodes, out[n].Rows = out[n].Nodes+len(values.Bindings[i].Nodes), out[n].Rows+1
	}
	slices.SortStableFunc(out, func(a, b valueGroup) int { return b.Nodes - a.Nodes })
	shown := min(len(out), shownValues)
	return out[:shown], len(out) - shown
}

// nodesOf returns a part of the nodes that get the value of a row, or of those without a value for row 0.
func (v *view) nodesOf(key string, values *report.Values, row int) *nodesContent {
	c := &nodesContent{}
	list := values.Without
	if row > 0 && row <= len(values.Bindings) {
		c.Row = v.keyRows(key, true, values.Bindings, row-1, row)[0]
		list = values.Bindings[row-1].Nodes
	}
	var next string
	if c.Names, next = after(list, v.Get("after")); next != "" {
		c.Next = v.Key(key, "row", strconv.Itoa(row), "after", next)
	}
	return c
}

// listContent is the data of a page with a list of names.
type listContent struct {
	Prefix string
	Names  []string
	Groups []prefixGroup // common prefixes of many keys
	Total  int
	Next   string
}

// prefixGroup is the number of keys with a prefix.
type prefixGroup struct {
	Prefix string
	Keys   int
}

// keyList lists the keys, by prefix.
func (v *view) keyList() (any, error) {
	prefix := v.Get("prefix")
	v.Title, v.Section = "Keys", "k"
	from, _ := slices.BinarySearch(v.d.keys, prefix)
	list := v.d.keys[from:]
	end := slices.IndexFunc(list, func(key string) bool { return !strings.HasPrefix(key, prefix) })
	if end >= 0 {
		list = list[:end]
	}
	if v.asJSON {
		return append([]string{}, list...), nil
	}
	c := &listContent{Prefix: prefix, Total: len(list)}
	if len(list) > pageRows && prefix == "" {
		c.Groups = prefixGroups(list)
	}
	var next string
	if c.Names, next = after(list, v.Get("after")); next != "" {
		c.Next = v.With("/k", "prefix", prefix, "after", next)
	}
	return c, nil
}

// prefixGroups counts keys by the text before '::', most keys first. It returns at most pageRows groups.
func prefixGroups(keys []string) (out []prefixGroup) {
	for _, key := range keys {
		prefix, _, ok := strings.Cut(key, "::")
		if prefix += "::"; !ok {
			continue
		}
		if n := len(out); n == 0 || out[n-1].Prefix != prefix {
			out = append(out, prefixGroup{Prefix: prefix})
		}
		out[len(out)-1].Keys++
	}
	slices.SortStableFunc(out, func(a, b prefixGroup) int { return b.Keys - a.Keys })
	return out[:min(len(out), pageRows)]
}
