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

// answer is an outcome of looking up a key: a value, an error, or not found. All nodes in nodes get this outcome.
type answer struct {
	nodes []int32 // numbers of the nodes, in order
}

// maxAnswered limits the number of nodes for which a key is looked up.
const maxAnswered = 200_000

// answerPrint is a fingerprint of an answer. Sensitive values that pages hide all have the same fingerprint.
type answerPrint [sha256.Size]byte

func printOf(o report.Outcome) answerPrint {
	kind, text := described(o)
	return sha256.Sum256([]byte(kind + " " + text))
}

// answerOf returns the value of a key in a request.
func (d *Data) answerOf(r *lookup.Request, key string, form report.Form) report.Outcome {
	value, found, err := r.Lookup(key)
	return d.style(form).Outcome(lookup.Outcome{Value: value, Found: found, Err: err})
}

// fillAnswers groups the nodes by the value that they get. If a value is computed, it looks up the key for every node,
// because the result may differ between nodes.
func (d *Data) fillAnswers(k *keyData, key string) error {
	if len(d.nodes) == 0 {
		return nil
	}
	if isConstant(k) {
		k.answers, k.looked = d.answersOfRows(k), len(d.nodes)
		return nil
	}
	k.looked = min(len(d.nodes), d.maxAnswered)
	prints, failed := make([]answerPrint, k.looked), make([]error, k.looked)
	affected.InParallel(k.looked, func(i int) {
		if !d.census.known.has(i) {
			return
		}
		failed[i] = d.read(func() error {
			r, err := affected.Request(d.snap, d.nodes[i])
			if err == nil {
				prints[i] = printOf(d.answerOf(r, key, report.People))
			}
			return err
		})
	})
	groups := answerGroups{}
	for i, print := range prints {
		if failed[i] != nil {
			return failed[i]
		}
		if d.census.known.has(i) {
			groups.add(print, int32(i))
		}
	}
	k.answers = groups.sorted()
	return nil
}

// isConstant reports whether every node gets a constant from a row of the table.
func isConstant(k *keyData) bool {
	isComputed := func(r decision.Row) bool { return r.Computed != "" }
	return k.isPlain() && !slices.ContainsFunc(k.table.Rows, isComputed)
}

// answersOfRows groups the nodes of a decision table by the values of its rows.
func (d *Data) answersOfRows(k *keyData) []answer {
	groups := answerGroups{}
	rest := d.census.reach(d, k.table.Rows, false, func(row int, nodes *nodeSet) {
		print := printOf(k.shown.Bindings[row].Outcome)
		for node := range nodes.all {
			groups.add(print, int32(node))
		}
	})
	for node := range rest.all {
		groups.add(printOf(report.Outcome{Found: new(bool)}), int32(node))
	}
	return groups.sorted()
}

// answerGroups maps the fingerprints of answers to the answers.
type answerGroups map[answerPrint]*answer

func (g answerGroups) add(print answerPrint, node int32) {
	a := g[print]
	if a == nil {
		a = &answer{}
		g[print] = a
	}
	a.nodes = append(a.nodes, node)
}

// sorted returns the answers, most nodes first.
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
