package explore

import (
	"cmp"
	"crypto/sha256"
	"slices"

	"bindc/internal/lookup"
	"bindc/internal/report"
	"bindc/internal/report/affected"
	"bindc/internal/report/decision"
)

// answer is one result of looking up a key, with the nodes that get it. A lookup error and "not found" are results,
// too.
type answer struct {
	nodes []int32 // node numbers, in ascending order
}

// maxAnswered is the largest number of nodes for which one key is looked up.
const maxAnswered = 200_000

// fingerprint is equal for equal answers. All hidden sensitive values share one fingerprint.
type fingerprint [sha256.Size]byte

func fingerprintOf(o report.Outcome) fingerprint {
	kind, text := described(o)
	return sha256.Sum256([]byte(kind + " " + text))
}

func (d *Data) answerOf(r *lookup.Request, key string, form report.Form) report.Outcome {
	value, found, err := r.Lookup(key)
	return d.style(form).Outcome(lookup.Outcome{Value: value, Found: found, Err: err})
}

// fillAnswers sets the answers of k. If the key has computed values, it looks up the key for every node, because the
// result may differ between nodes.
func (d *Data) fillAnswers(k *keyData, key string) error {
	if len(d.nodes) == 0 {
		return nil
	}
	if isConstant(k) {
		k.answers, k.looked = d.answersOfRows(k), len(d.nodes)
		return nil
	}
	k.looked = min(len(d.nodes), d.maxAnswered)
	found, failed := make([]fingerprint, k.looked), make([]error, k.looked)
	affected.InParallel(k.looked, func(i int) {
		if !d.census.known.has(i) {
			return
		}
		failed[i] = d.read(func() error {
			r, err := affected.Request(d.snap, d.nodes[i])
			if err == nil {
				found[i] = fingerprintOf(d.answerOf(r, key, report.People))
			}
			return err
		})
	})
	groups := answerGroups{}
	for i, fp := range found {
		if failed[i] != nil {
			return failed[i]
		}
		if d.census.known.has(i) {
			groups.add(fp, int32(i))
		}
	}
	k.answers = groups.sorted()
	return nil
}

// isConstant reports whether every node gets its value from a single row, and every row has a constant value.
func isConstant(k *keyData) bool {
	isComputed := func(r decision.Row) bool { return r.Computed != "" }
	return k.isPlain() && !slices.ContainsFunc(k.table.Rows, isComputed)
}

// answersOfRows groups the nodes of a decision table by the value of the row that they use.
func (d *Data) answersOfRows(k *keyData) []answer {
	groups := answerGroups{}
	rest := d.census.reach(d, k.table.Rows, false, func(row int, nodes *nodeSet) {
		fp := fingerprintOf(k.shown.Bindings[row].Outcome)
		for node := range nodes.all {
			groups.add(fp, int32(node))
		}
	})
	for node := range rest.all {
		groups.add(fingerprintOf(report.Outcome{Found: new(bool)}), int32(node))
	}
	return groups.sorted()
}

type answerGroups map[fingerprint]*answer

func (g answerGroups) add(fp fingerprint, node int32) {
	a := g[fp]
	if a == nil {
		a = &answer{}
		g[fp] = a
	}
	a.nodes = append(a.nodes, node)
}

// sorted returns the answers, those with the most nodes first.
func (g answerGroups) sorted() []answer {
	out := make([]answer, 0, len(g))
	for _, a := range g {
		slices.Sort(a.nodes)
		out = append(out, *a)
	}
	slices.SortFunc(out, func(a, b answer) int {
		return cmp.Or(cmp.Compare(len(b.nodes), len(a.nodes)), cmp.Compare(a.nodes[0], b.nodes[0]))
	})
	return out
}
