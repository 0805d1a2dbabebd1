package explore

import (
	"sync"

	"bindc/facts"
	"bindc/internal/report"
	"bindc/internal/report/affected"
	"bindc/internal/report/decision"
)

// keyData is the decision table of a key with the nodes that each row reaches.
type keyData struct {
	ready chan struct{} // closed when the rest is set
	err   error
	table *decision.Table
	json  *report.Values // as bindq values prints it
	shown *report.Values // as pages show it, with the same rows
	tally []int          // number of nodes of each row, or nil if they were not counted
	more  string         // reason why the nodes were not counted
}

// maxExplained limits the work of counting the nodes of a key whose bindings may decline or are merged, in bindings
// times nodes.
const maxExplained = 100_000_000

// keyCache keeps the tables of the keys that were used last.
type keyCache struct {
	mu    sync.Mutex
	known map[string]*keyData
	order []string // least recently added first
}

// cachedKeys limits the number of tables in a keyCache.
const cachedKeys = 64

// of returns the entry of a key, and whether the caller has to compute it.
func (c *keyCache) of(key string) (k *keyData, isNew bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.known[key]; k != nil {
		return k, false
	}
	if c.known == nil {
		c.known = map[string]*keyData{}
	}
	if len(c.order) == cachedKeys {
		delete(c.known, c.order[0])
		c.order = c.order[1:]
	}
	k = &keyData{ready: make(chan struct{})}
	c.known[key], c.order = k, append(c.order, key)
	return k, true
}

// style returns the style of values in a form.
func (d *Data) style(f report.Form) report.Style {
	return report.Style{Sensitive: d.Sensitive, Form: f}
}

// key returns the decision table of a key, which may be incomplete until it is ready.
func (d *Data) key(key string) *keyData {
	k, isNew := d.cache.of(key)
	if isNew {
		go func() {
			defer close(k.ready)
			k.err = d.read(func() error { return d.fillKey(k, key) })
		}()
	}
	return k
}

// fillTable computes the table of a key.
func (d *Data) fillTable(k *keyData, key string) (err error) {
	if k.table, err = d.tables.Values(key); err == nil {
		k.json, k.shown = d.style(report.JSON).Values(key, k.table), d.style(report.People).Values(key, k.table)
	}
	return err
}

// fillKey computes the table of a key and the nodes of its rows.
func (d *Data) fillKey(k *keyData, key string) (err error) {
	if err := d.fillTable(k, key); err != nil {
		return err
	}
	if len(d.nodes) == 0 {
		return nil
	}
	<-d.census.ready
	if d.isPlain(k) {
		rest := d.census.reach(d, k.table.Rows, false, func(row int, nodes *nodeSet) {
			for node := range nodes.all {
				k.json.Bindings[row].Nodes = append(k.json.Bindings[row].Nodes, d.nodes[node].Name)
			}
		})
		for node := range rest.all {
			k.json.Without = append(k.json.Without, d.nodes[node].Name)
		}
	} else if len(k.table.Rows)*len(d.nodes) > maxExplained {
		k.more = "this key has too many bindings to count nodes"
	} else if err := d.explainAll(k, key); err != nil {
		return err
	}
	k.count()
	return nil
}

// isPlain reports whether the first row whose condition holds is the answer for every node.
func (d *Data) isPlain(k *keyData) bool {
	if k.table.HasOptions || len(k.table.Contributions) > 0 || len(k.json.Bindings) != len(k.table.Rows) {
		return false
	}
	for i := range k.table.Rows {
		if k.table.Rows[i].Declines {
			return false
		}
	}
	return true
}

// explainedAtOnce limits the number of explanations in memory.
const explainedAtOnce = 1000

// explainAll looks the key up for every node.
func (d *Data) explainAll(k *keyData, key string) error {
	for from := 0; from < len(d.nodes); from += explainedAtOnce {
		n := min(explainedAtOnce, len(d.nodes)-from)
		reports, failed := make([]*report.Explanation, n), make([]error, n)
		affected.InParallel(n, func(i int) {
			if d.census.known.has(from + i) {
				reports[i], failed[i] = d.explain(d.nodes[from+i], key)
			}
		})
		for i, e := range reports {
			if failed[i] != nil {
				return failed[i]
			}
			if e != nil {
				k.json.AddNode(d.nodes[from+i].Name, e)
			}
		}
	}
	return nil
}

// explain explains a key for a node.
func (d *Data) explain(n facts.Node, key string) (e *report.Explanation, err error) {
	err = d.read(func() error {
		r, err := affected.Request(d.snap, n)
		if err == nil {
			e, err = d.style(report.JSON).Explain(r, key)
		}
		return err
	})
	return e, err
}

// count sets the numbers of nodes.
func (k *keyData) count() {
	if k.more != "" {
		return
	}
	k.tally = make([]int, len(k.json.Bindings))
	for i := range k.json.Bindings {
		k.tally[i] = len(k.json.Bindings[i].Nodes)
	}
	for i := range k.json.Bindings {
		k.shown.Bindings[i].Nodes = k.json.Bindings[i].Nodes
	}
	for i := range k.json.Contributions {
		k.shown.Contributions[i].Nodes = k.json.Contributions[i].Nodes
	}
	k.shown.Without = k.json.Without
}
