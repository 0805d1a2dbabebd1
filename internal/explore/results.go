package explore

import (
	"slices"
	"strings"
	"time"

	"bindc/internal/report"
	"bindc/internal/report/affected"
)

type foundResult struct {
	Key     string         `json:"key"`
	Node    string         `json:"node"` // first node that gets this value
	Outcome report.Outcome `json:"outcome"`
	Value   shownValue     `json:"-"`
}

// searchResults searches the values that keys with expressions have on each node. It stops when it has found enough or
// searchTime is over. It skips a key if its source already contains the text, because searchValues finds that. The
// query parameter "results" is the number of steps to skip, one for each key and node.
func (v *view) searchResults(c *searchContent) error {
	if ready, err := v.wait(v.d.tally.ready); err != nil || !ready {
		return err
	}
	end, keys, nodes := time.Now().Add(searchTime), v.d.tally.computed, len(v.d.nodes)
	skip := min(v.number("results"), len(keys)*nodes)
	for i := skip / max(nodes, 1); nodes > 0 && i < len(keys); i++ {
		key := v.d.keys[keys[i]]
		isListed, err := v.isListed(c, key)
		for node := skip % nodes; err == nil && !isListed && node < nodes; node++ {
			if len(c.Results) == maxFound || time.Now().After(end) {
				c.UnsearchedResults = len(keys) - i
				c.NextResults = v.With("/q", "q", c.Query, "results", i*nodes+node)
				return nil
			}
			isListed, err = v.resultOn(c, key, node) // one node is enough; the key's page shows the others
		}
		if err != nil {
			return err
		}
		skip = 0
	}
	return nil
}

// isListed reports whether the value or expression of some binding of key contains the searched text.
func (v *view) isListed(c *searchContent, key string) (bool, error) {
	table, err := v.d.tables().Values(key)
	if err != nil {
		return false, err
	}
	values := v.d.style(report.JSON).Values(key, table)
	return slices.ContainsFunc(append(values.Bindings, values.Contributions...), c.isIn), nil
}

// resultOn adds the key's value on a node to the results if the value contains the searched text. It reports whether it
// did.
func (v *view) resultOn(c *searchContent, key string, node int) (bool, error) {
	if !v.d.census.known.has(node) {
		return false, nil
	}
	r, err := affected.Request(v.d.snap, v.d.nodes[node])
	if err != nil {
		return false, err
	}
	outcome := v.d.answerOf(r, key, report.JSON)
	kind, text := described(outcome)
	if kind != "value" || !strings.Contains(strings.ToLower(text), strings.ToLower(c.Query)) {
		return false, nil
	}
	c.Results = append(c.Results, foundResult{key, v.d.nodes[node].Name, outcome, shown(outcome)})
	return true, nil
}
