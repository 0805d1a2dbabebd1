package explore

import (
	"strings"
	"time"

	"bindc/internal/report"
)

// searchContent holds the results of a search, on the page and in JSON.
type searchContent struct {
	Keys   []string     `json:"keys"`
	Nodes  []string     `json:"nodes"`
	Files  []string     `json:"files"`
	Values []foundValue `json:"values"`
	// Results lists keys with a computed value that contains the text on some node.
	Results []foundResult `json:"results"`
	// Unsearched is the number of keys whose bindings were not searched because time ran out.
	Unsearched int `json:"unsearched,omitempty"`
	// UnsearchedResults is the number of keys whose computed values were not searched on all nodes because time ran
	// out.
	UnsearchedResults int `json:"unsearched_results,omitempty"`
	// Cut reports whether more than maxFound keys, nodes or files match.
	Cut bool `json:"more,omitempty"`

	Query string `json:"-"`
	From  int    `json:"-"` // index of the key with which the search in bindings starts
	Next  string `json:"-"`

	NextResults string `json:"-"`
	Near        []link `json:"-"` // keys and nodes with similar names, if no name contains the text
}

type foundValue struct {
	Key     string         `json:"key"`
	When    report.Terms   `json:"when"`
	At      string         `json:"at"`
	Outcome report.Outcome `json:"outcome"`
	Value   shownValue     `json:"-"`
	Place   place          `json:"-"`
}

// maxFound limits the number of results of each kind.
const maxFound = 50

// searchTime limits the search in bindings, and then the search in computed values.
const searchTime = 60 * time.Millisecond

// searchPage finds keys, nodes, files and values that contain the text in the query. It does not search sensitive
// values.
func (v *view) searchPage() (any, error) {
	v.Title = "Search"
	v.unstable = true
	text := v.Get("q")
	c := &searchContent{Query: text, Keys: []string{}, Nodes: []string{}, Files: []string{}, Values: []foundValue{},
		Results: []foundResult{}}
	if text == "" {
		return c, nil
	}
	if !v.asJSON && !v.Has("all") && !v.Has("from") && !v.Has("results") {
		if v.moved = v.named(text); v.moved != "" {
			return c, nil
		}
	}
	c.From = v.number("from")
	if v.Has("results") {
		return c, v.searchResults(c)
	}
	if c.From == 0 {
		c.Keys, c.Nodes, c.Files = c.containing(v.d.keys), c.containing(v.d.nodeNames()), c.containing(v.d.paths())
		if len(c.Keys)+len(c.Nodes)+len(c.Files) == 0 {
			c.Near = append(similar(text, v.d.keys, v.Key), similarNodes(text, v.d.nodeNames(), v.Node)...)
		}
	}
	if err := v.searchValues(c); err != nil || c.From > 0 {
		return c, err
	}
	return c, v.searchResults(c)
}

// named returns the address of the key or node with exactly this name, or "".
func (v *view) named(name string) string {
	if v.d.hasKey(name) {
		return v.Key(name)
	}
	if _, ok := v.d.node(name); ok {
		return v.Node(name)
	}
	return ""
}

// containing returns the first names that contain the searched text, regardless of case. A name that equals the text
// comes first.
func (c *searchContent) containing(names []string) []string {
	out := []string{}
	text := strings.ToLower(c.Query)
	for _, name := range names {
		switch folded := strings.ToLower(name); {
		case folded == text:
			out = append([]string{name}, out...)
		case !strings.Contains(folded, text):
		case len(out) < maxFound:
			out = append(out, name)
		default:
			c.Cut = true
		}
	}
	return out
}

// searchValues searches bindings until it has found enough or searchTime is over.
func (v *view) searchValues(c *searchContent) error {
	start := time.Now()
	from := min(c.From, len(v.d.keys))
	for i, key := range v.d.keys[from:] {
		if len(c.Values) >= maxFound || time.Since(start) > searchTime {
			c.Unsearched = len(v.d.keys) - from - i
			c.Next = v.With("/q", "q", c.Query, "from", from+i)
			break
		}
		table, err := v.d.tables().Values(key)
		if err != nil {
			return err
		}
		values := v.d.style(report.JSON).Values(key, table)
		for _, b := range append(values.Bindings, values.Contributions...) {
			if c.isIn(b) && len(c.Values) < 2*maxFound {
				c.Values = append(c.Values, foundValue{key, v.asOnNodes(b.When), b.At, b.Outcome,
					shown(b.Outcome), v.place(b.At)})
			}
		}
	}
	return nil
}

// isIn reports whether the value or expression of b contains the searched text, regardless of case.
func (c *searchContent) isIn(b report.Candidate) bool {
	return strings.Contains(strings.ToLower(string(b.Outcome.Value)+b.Outcome.Computed), strings.ToLower(c.Query))
}
