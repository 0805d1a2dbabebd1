package explore

import (
	"slices"
	"strconv"
	"strings"

	"bindc/diag"
	"bindc/internal/report"
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
	More    string // reason why nodes are not counted
	Nodes   *nodesContent
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
	Row   int // number of the first row
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
	if err != nil {
		return nil, err
	}
	if !ready { // without nodes
		k = &keyData{more: "the nodes are being counted"}
		if err := v.d.fillTable(k, key); err != nil {
			return nil, err
		}
	}
	if k.err != nil {
		return nil, k.err
	}
	if v.asJSON {
		return k.json, nil
	}
	return v.keyContent(key, k), nil
}

func (v *view) keyContent(key string, k *keyData) *keyContent {
	c := &keyContent{Key: key, Merged: k.table.Merged, Total: len(k.shown.Bindings), Without: len(k.shown.Without),
		Counted: k.tally != nil, More: k.more}
	if k.shown.Options != nil {
		c.Options = diag.Visible(string(k.shown.Options))
	}
	if row := v.number("row"); v.Get("row") != "" && c.Counted {
		c.Nodes = v.nodesOf(key, k, row)
	}
	from := min(v.number("from"), c.Total)
	to := min(from+pageRows, c.Total)
	c.Rows = v.keyRows(key, k.tally != nil, k.shown.Bindings, from, to)
	c.Parts = v.keyRows(key, k.tally != nil, k.shown.Contributions, 0, min(pageRows, len(k.shown.Contributions)))
	if to < c.Total {
		c.Next = v.Key(key, "from", to)
	}
	if c.Counted && !k.table.Merged {
		c.Values = valueGroups(k)
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

// valueGroups groups the rows of a key by value, most nodes first.
func valueGroups(k *keyData) (out []valueGroup) {
	at := map[string]int{}
	for i := range k.shown.Bindings {
		o := &k.shown.Bindings[i].Outcome
		id := string(marshal(o))
		if o.Sensitive && o.Value == nil {
			id = "row " + strconv.Itoa(i) // equal values would show that they are equal
		}
		n, known := at[id]
		if !known {
			n = len(out)
			at[id] = n
			out = append(out, valueGroup{Value: shown(*o), Row: i + 1})
		}
		out[n].Nodes, out[n].Rows = out[n].Nodes+k.tally[i], out[n].Rows+1
	}
	slices.SortStableFunc(out, func(a, b valueGroup) int { return b.Nodes - a.Nodes })
	return out
}

// nodesOf returns a part of the nodes that get the value of a row, or of those without a value for row 0.
func (v *view) nodesOf(key string, k *keyData, row int) *nodesContent {
	c := &nodesContent{}
	list := k.shown.Without
	if row > 0 && row <= len(k.shown.Bindings) {
		c.Row = v.keyRows(key, k.tally != nil, k.shown.Bindings, row-1, row)[0]
		list = k.shown.Bindings[row-1].Nodes
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
