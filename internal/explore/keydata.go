package explore

import (
	"slices"
	"sync"

	"bindc/facts"
	"bindc/internal/report"
	"bindc/internal/report/affected"
	"bindc/internal/report/decision"
)

// keyData is the decision table of a key, with the nodes that each row reaches. Its parts become available one after
// the other, in the background.
type keyData struct {
	known chan struct{} // closed when table and shown are set
	table *decision.Table
	shown *report.Values // table formatted for pages, without nodes

	ready  chan struct{} // closed when err, full and reason are set
	err    error
	full   *report.Values // table formatted for pages, with nodes; nil if the nodes were not counted
	reason string         // why the nodes were not counted; "" if they were

	answered   chan struct{} // closed when answers, answersErr and looked are set
	answersErr error
	answers    []answer
	looked     int // number of nodes for which the key was looked up; at most maxAnswered

	rows int // this table's share of keyCache.rows
}

// maxExplained limits the cost of counting nodes by explaining every node, which is needed if bindings decline or
// merge. The cost is the number of bindings times the number of nodes.
const maxExplained = 100_000_000

// keyCache caches the tables of the most recently requested keys.
type keyCache struct {
	mu    sync.Mutex
	known map[string]*keyData
	order []string // keys in the order of their first request
	rows  int      // total number of rows of all tables
}

// Limits of a keyCache. A single table is kept whatever its length.
const (
	cachedKeys = 64
	cachedRows = 500_000 // about 1 KB of memory each
)

// entry returns the entry for key, and adds one if there is none. If isNew is true, the caller must fill it.
func (c *keyCache) entry(key string) (k *keyData, isNew bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.known[key]; k != nil {
		return k, false
	}
	if c.known == nil {
		c.known = map[string]*keyData{}
	}
	if len(c.order) == cachedKeys {
		c.drop()
	}
	k = &keyData{known: make(chan struct{}), ready: make(chan struct{}), answered: make(chan struct{})}
	c.known[key], c.order = k, append(c.order, key)
	return k, true
}

// drop removes the oldest key.
func (c *keyCache) drop() {
	c.rows -= c.known[c.order[0]].rows
	delete(c.known, c.order[0])
	c.order = c.order[1:]
}

// count records that the table of key has this many rows. It removes the oldest keys if the cache is over its limit.
func (c *keyCache) count(key string, k *keyData, rows int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known[key] != k {
		return // dropped meanwhile
	}
	k.rows, c.rows = rows, c.rows+rows
	for c.rows > cachedRows && len(c.order) > 1 {
		c.drop()
	}
}

func (d *Data) style(f report.Form) report.Style {
	return report.Style{Sensitive: d.Sensitive, Form: f}
}

// key returns the decision table of key and starts computing it if it is not cached. Wait for its channels before
// reading the fields.
func (d *Data) key(key string) *keyData {
	k, isNew := d.cache.entry(key)
	if isNew {
		go func() {
			k.err = d.read(func() error { return d.fillKey(k, key) })
			close(k.ready)
			if k.answersErr = k.err; k.err == nil {
				k.answersErr = d.read(func() error { return d.fillAnswers(k, key) })
			}
			close(k.answered)
		}()
	}
	return k
}

// fillKey computes the decision table of key and, if there are nodes, which rows reach them.
func (d *Data) fillKey(k *keyData, key string) (err error) {
	if k.table, err = d.tables().Values(key); err != nil {
		return err
	}
	d.cache.count(key, k, len(k.table.Rows)+len(k.table.Contributions))
	k.shown = d.style(report.People).Values(key, k.table)
	close(k.known)
	if len(d.nodes) == 0 {
		return nil
	}
	<-d.census.ready
	full := *k.shown
	full.Bindings, full.Contributions = slices.Clone(full.Bindings), slices.Clone(full.Contributions)
	switch {
	case k.isPlain():
		rest := d.census.reach(d, k.table.Rows, false, func(row int, nodes *nodeSet) {
			full.Bindings[row].Nodes = d.names(nodes)
		})
		full.Without = d.names(&rest)
	case len(k.table.Rows)*len(d.nodes) > maxExplained:
		k.reason = "this key has too many bindings to count nodes"
		return nil
	default:
		if err := d.explainAll(&full, key); err != nil {
			return err
		}
	}
	k.full = &full
	return nil
}

func (d *Data) names(nodes *nodeSet) (out []string) {
	for node := range nodes.all {
		out = append(out, d.nodes[node].Name)
	}
	return out
}

// twin returns the decision table for a JSON response, in the form that 'bindq values' prints.
func (d *Data) twin(key string, k *keyData) *report.Values {
	out := d.style(report.JSON).Values(key, k.table)
	if k.full == nil {
		return out
	}
	for i := range out.Bindings {
		out.Bindings[i].Nodes = k.full.Bindings[i].Nodes
	}
	for i := range out.Contributions {
		out.Contributions[i].Nodes = k.full.Contributions[i].Nodes
	}
	out.Without = k.full.Without
	return out
}

// isPlain reports whether each node gets the value of the first row whose condition holds. That is so without merging,
// contributions and declining rows.
func isPlain(t *decision.Table) bool {
	return !t.HasOptions && len(t.Contributions) == 0 &&
		!slices.ContainsFunc(t.Rows, func(r decision.Row) bool { return r.Declines })
}

// isPlain reports whether k.table is plain and k.shown has all its rows, so that the two have the same indices.
func (k *keyData) isPlain() bool {
	return isPlain(k.table) && len(k.shown.Bindings) == len(k.table.Rows)
}

// explainedAtOnce limits how many explanations are in memory at the same time.
const explainedAtOnce = 1000

// explainAll looks up key for every node and adds the node to the rows of table that give it its value.
func (d *Data) explainAll(table *report.Values, key string) error {
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
				table.AddNode(d.nodes[from+i].Name, e)
			}
		}
	}
	return nil
}

func (d *Data) explain(n facts.Node, key string) (e *report.Explanation, err error) {
	err = d.read(func() error {
		r, err := affected.Request(d.snap, n)
		if err == nil {
			e, err = d.style(report.JSON).ExplainBriefly(r, key, 0, d.index()) // AddNode needs no others
		}
		return err
	})
	return e, err
}
