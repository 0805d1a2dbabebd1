package explore

import (
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/report"
)

type keyContent struct {
	Key     string
	Options string // the key's lookup_options as JSON, or ""
	Merged  bool
	Rows    []keyRow
	Parts   []keyRow // contributions
	Total   int      // number of rows in the whole table
	Next    string   // address of the next page of rows, or ""
	Counted bool
	Reason  string // why the nodes were not counted, or ""
	Unknown int    // number of nodes with unusable facts

	Answers *answersContent
	Nodes   *nodesContent
}

type keyRow struct {
	Name   string // name of the contribution, or ""
	When   report.Terms
	Value  shownValue
	SameAs string // position of an earlier row with the same long value, or ""
	Place  place
	Layer  string
	Nodes  int
	List   string // address of the list of nodes that use the row
	Dead   string // why the binding reaches no node; "" if unknown
}

func (v *view) keyPage() (any, error) {
	key := v.name("key", v.d.hasKey)
	if !v.d.hasKey(key) {
		return nil, v.unknownKey(key)
	}
	v.Title, v.Section = diag.Visible(key), "k"
	k := v.d.key(key)
	ready, err := v.wait(k.ready)
	switch {
	case err != nil:
		return nil, err
	case ready && k.err != nil:
		return nil, k.err
	case v.asJSON && v.Has("values"):
		return v.answersTwin(key, k)
	case v.asJSON:
		return v.d.twin(key, k), nil
	case !isClosed(k.known):
		return &keyContent{Key: key}, nil
	case !ready:
		return v.keyContent(key, k, k.shown, false), nil
	}
	return v.countedKey(key, k)
}

// unknownKey returns an error for a key without bindings, with links to similar keys. It names an older version that
// binds the key.
func (v *view) unknownKey(key string) error {
	v.Section = "k"
	p := missing("Nothing binds the key '"+diag.Visible(key)+"'", key, v.d.keys, v.Key,
		link{"All keys", v.With("/k")})
	for _, old := range v.others() {
		if old.hasKey(key) {
			name := diag.Visible(old.label())
			p.Hint = name + " binds this key, but " + diag.Visible(v.d.label()) + " does not."
			p.Links = append(p.Links, link{"Changes from " + name, v.With("/d", "old", old.ID)})
			break
		}
	}
	return p
}

// countedKey returns the content of a key's page once the nodes have been counted.
func (v *view) countedKey(key string, k *keyData) (any, error) {
	values := k.shown
	if k.full != nil {
		values = k.full
	}
	c := v.keyContent(key, k, values, k.full != nil)
	c.Reason, c.Unknown = k.reason, len(v.d.census.wrong)
	answered, err := v.wait(k.answered)
	if answered {
		err = k.answersErr
	}
	if err != nil || len(v.d.nodes) == 0 {
		return c, err
	}
	switch {
	case v.Has("row") || v.Has("part") || v.Has("at"):
		c.Nodes, err = v.nodesOfRow(key, values)
	case !answered:
		c.Answers = &answersContent{Pending: true}
	case v.Has("value"):
		c.Nodes, err = v.nodesOfAnswer(key, k, v.number("value"))
	case v.Has("values"):
		c.Answers, err = v.answers(key, k, v.number("values"), pageRows)
		c.Answers.Alone = true
	default:
		c.Answers, err = v.answers(key, k, 0, shownAnswers)
	}
	return c, err
}

// keyContent formats the decision table of a key. If counted is false, the number of nodes of each row is unknown.
func (v *view) keyContent(key string, k *keyData, values *report.Values, counted bool) *keyContent {
	c := &keyContent{Key: key, Merged: k.table.Merged, Total: len(values.Bindings), Counted: counted}
	if values.Options != nil {
		c.Options = diag.Visible(string(values.Options))
	}
	from := min(v.number("from"), c.Total)
	to := min(from+pageRows, c.Total)
	c.Rows = v.keyRows(key, "row", values.Bindings, from, to)
	c.Parts = v.keyRows(key, "part", values.Contributions, 0, min(pageRows, len(values.Contributions)))
	if counted {
		v.addReasons(c.Rows, values.Bindings, k.table.Rows, from)
		v.addReasons(c.Parts, values.Contributions, k.table.Contributions, 0)
	}
	if to < c.Total {
		c.Next = v.Key(key, "from", to)
	}
	return c
}

// keyRows formats the rows list[from:to]. parameter is the query parameter that selects a row in links to its nodes.
func (v *view) keyRows(key, parameter string, list []report.Candidate, from, to int) []keyRow {
	var out []keyRow
	first := map[string]string{}
	for i := from; i < to; i++ {
		b := &list[i]
		row := keyRow{Name: diag.Visible(b.Name), When: v.asOnNodes(b.When), Value: shown(b.Outcome),
			Place: v.place(b.At), Layer: b.Layer, Nodes: len(b.Nodes)}
		if row.Nodes > 0 {
			row.List = v.Key(key, parameter, i+1)
		}
		if at, known := first[row.Value.Text]; known && (row.Value.Tall || row.Value.Cut) {
			row.SameAs = at
		} else {
			first[row.Value.Text] = row.Place.Text
		}
		out = append(out, row)
	}
	return out
}

type listContent struct {
	Prefix string
	Level  string // only keys that nodes get from this level, unless ""
	IsBare bool   // only keys without a module
	Names  []string
	Groups []prefixGroup // number of keys for each prefix, if there are too many keys to list
	Total  int
	Next   string
}

// prefixGroup is a prefix such as "ntp::" and the number of keys that begin with it.
type prefixGroup struct {
	Prefix string
	Keys   int
}

// keyList lists the keys that have the prefix in the query.
func (v *view) keyList() (any, error) {
	prefix := v.Get("prefix")
	v.Title, v.Section = "Keys", "k"
	from, _ := slices.BinarySearch(v.d.keys, prefix)
	list := v.d.keys[from:]
	end := slices.IndexFunc(list, func(key string) bool { return !strings.HasPrefix(key, prefix) })
	if end >= 0 {
		list = list[:end]
	}
	c := &listContent{Prefix: prefix, Level: v.Get("level"), Total: len(list)}
	if c.Level != "" {
		ready, err := v.wait(v.d.tally.ready)
		if err != nil || !ready {
			return c, err
		}
		list = v.d.keysOfLevel(c.Level, prefix)
		c.Total = len(list)
	}
	if c.IsBare = v.Has("bare"); c.IsBare {
		list = slices.DeleteFunc(slices.Clone(list), func(key string) bool { return moduleOf(key) != noModule })
		c.Total = len(list)
	}
	if v.asJSON {
		return append([]string{}, list...), nil
	}
	if len(list) > pageRows && prefix == "" {
		c.Groups = prefixGroups(list)
	}
	var next string
	if c.Names, next = after(list, v.Get("after")); next != "" {
		c.Next = v.With("/k", "prefix", prefix, "level", c.Level, "bare", v.Get("bare"), "after", next)
	}
	return c, nil
}

// keysOfLevel returns the keys with the given prefix that some node gets from the level.
func (d *Data) keysOfLevel(level, prefix string) (out []string) {
	for _, number := range d.tally.levels[level] {
		if key := d.keys[number]; strings.HasPrefix(key, prefix) {
			out = append(out, key)
		}
	}
	return out
}

// prefixGroups groups sorted keys by their module prefix. It returns the pageRows largest groups, largest first.
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
