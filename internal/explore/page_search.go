package explore

import (
	"strings"
	"time"

	"bindc/internal/report"
)

// searchContent is the data for a search page and for its JSON twin.
type searchContent struct {
	Keys   []string     `json:"keys"`
	Nodes  []string     `json:"nodes"`
	Files  []string     `json:"files"`
	Values []foundValue `json:"values"`
	// Results holds the keys whose expression has a result that contains the text, each with a node that gets this
	// result.
	Results []foundResult `json:"results"`
	// Unsearched is the number of keys whose values were not searched, because the search would take too long.
	Unsearched int `json:"unsearched,omitempty"`
	// UnsearchedResults is the number of keys with expressions whose results were not searched on all nodes.
	UnsearchedResults int `json:"unsearched_results,omitempty"`
	// Cut says that there are more results of a kind than listed.
	Cut bool `json:"more,omitempty"`

	Query string `json:"-"`
	From  int    `json:"-"` // where the search in values begins
	Next  string `json:"-"`

	NextResults string `json:"-"`
}

// foundValue is a binding whose value contains the text.
type foundValue struct {
	Key     string         `json:"key"`
	When    report.Terms   `json:"when"`
	At      string         `json:"at"`
	Outcome report.Outcome `json:"outcome"`
	Value   shownValue     `json:"-"`
	Place   place          `json:"-"`
}

// maxFound limits the results of each kind.
const maxFound = 50

// searchTime limits the search in values, and the search in results.
const searchTime = 60 * time.Millisecond

// searchPage finds keys, nodes, files and values that contain a text. It does not search sensitive values.
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
	}
	if err := v.searchValues(c); err != nil || c.From > 0 {
		return c, err
	}
	return c, v.searchResults(c)
}

// named returns the address of the key or the node called name, or "".
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

// searchValues searches the values of keys until enough are found or the time is over.
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

// isIn reports whether a binding's value contains the text of the search, regardless of case.
func (c *searchContent) isIn(b report.Candidate) bool {
	return strings.Contains(strings.ToLower(string(b.Outcome.Value)+b.Outcome.Computed), strings.ToLower(c.Query))
}
