package explore

import (
	"slices"
	"sync"

	"bindc/facts"
	"bindc/internal/report"
	"bindc/internal/report/affected"
	"bindc/internal/report/decision"
)

// keyData is the decision table of a key with the nodes that each row reaches.
type keyData struct {
	known chan struct{} // closed when table and shown are set
	table *decision.Table
	shown *report.Values // the table as pages show it, without nodes

	ready  chan struct{} // closed when full and reason are set
	err    error
	full   *report.Values // the table with nodes; nil if they were not counted
	reason string         // why the nodes were not counted, if they were not

	answered   chan struct{} // closed when the fields below are set
	answersErr error
	answers    []answer
	looked     int // number of nodes whose answers are known, which is limited

	rows int // number of rows of the table, as keyCache counts it
}

// maxExplained limits the work of counting nodes for a key whose bindings may decline or are merged. The unit is
// bindings times nodes.
const maxExplained = 100_000_000

// keyCache keeps the tables of the most recently added keys.
type keyCache struct {
	mu    sync.Mutex
	known map[string]*keyData
	order []string // the keys in known, least recently added first
	rows  int      // number of rows in all tables
}

// Limits on the tables in a keyCache. It keeps a single table of any length.
const (
	cachedKeys = 64
	cachedRows = 500_000 // about 1 KB each
)

// of returns the entry for a key. isNew means that the caller must compute it.
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
		c.drop()
	}
	k = &keyData{known: make(chan struct{}), ready: make(chan struct{}), answered: make(chan struct{})}
	c.known[key], c.order = k, append(c.order, key)
	return k, true
}

// drop forgets the least recently added key.
func (c *keyCache) drop() {
	c.rows -= c.known[c.order[0]].rows
	delete(c.known, c.order[0])
	c.order = c.order[1:]
}

// count records the number of rows of a key's table. It forgets earlier keys if there are too many rows.
func (c *keyCache) count(key string, k *keyData, rows int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known[key] != k {
		return // it has been forgotten
	}
	k.rows, c.rows = rows, c.rows+rows
	for c.rows > cachedRows && len(c.order) > 1 {
		c.drop()
	}
}

// style returns the style of values in a form.
func (d *Data) style(f report.Form) report.Style {
	return report.Style{Sensitive: d.Sensitive, Form: f}
}

// key returns the decision table of a key. The table is incomplete until its channel ready is closed.
func (d *Data) key(key string) *keyData {
	k, isNew := d.cache.of(key)
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

// fillKey computes the table of a key and the nodes of its rows.
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

// names returns the names of the nodes in a set.
func (d *Data) names(nodes *nodeSet) (out []string) {
	for node := range nodes.all {
		out = append(out, d.nodes[node].Name)
	}
	return out
}

// twin returns the table in the form that 'bindq values' prints.
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

// isPlain reports whether, for every node, the first row whose condition holds gives the answer.
func isPlain(t *decision.Table) bool {
	return !t.HasOptions && len(t.Contributions) == 0 &&
		!slices.ContainsFunc(t.Rows, func(r decision.Row) bool { return r.Declines })
}

// isPlain reports whether, for every node, the first row whose condition holds gives the answer. Pages show each row.
func (k *keyData) isPlain() bool {
	return isPlain(k.table) && len(k.shown.Bindings) == len(k.table.Rows)
}

// explainedAtOnce limits the number of explanations in memory.
const explainedAtOnce = 1000

// explainAll adds each node to the rows that give it its value. It looks up the key for every node.
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

// explain explains a key for a node.
func (d *Data) explain(n facts.Node, key string) (e *report.Explanation, err error) {
	err = d.read(func() error {
		r, err := affected.Request(d.snap, n)
		if err == nil {
			e, err = d.style(report.JSON).ExplainBriefly(r, key, 0, d.index()) // AddNode ignores the others
		}
		return err
	})
	return e, err
}
