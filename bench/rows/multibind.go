package rows

import (
	"fmt"
	"os"
	"strings"

	"bindc/bench/built"
	"bindc/bench/measure"
	bindings "bindc/runtime"
)

// Multibindings set a multibinding to which many nodes contribute beside one to which few do: a lookup collects those
// of its node, and should not go through the others.
func Multibindings(few, many int) ([]Row, error) {
	small, err := collecting(few)
	if err != nil {
		return nil, err
	}
	large, err := collecting(many)
	if err != nil {
		return nil, err
	}
	return []Row{{fmt.Sprintf("multibinding, %d nodes contribute", many), large,
		measure.Case{Name: fmt.Sprintf("%d nodes", few), Run: small.Run}, 1, 0}}, nil
}

// collecting looks a multibinding up, for one node after the other. It has a contribution from each node and one for
// all.
func collecting(nodes int) (measure.Case, error) {
	dir, err := os.MkdirTemp("", "bindc-multibind-")
	if err != nil {
		return measure.Case{}, err
	}
	defer os.RemoveAll(dir)
	snap, err := built.Snapshot(dir, "bindings/default.yaml", contributions(nodes))
	if err != nil {
		return measure.Case{}, err
	}
	requests := make([]*bindings.Request, min(nodes, visitors))
	for i := range requests {
		facts, err := bindings.ParseFacts(fmt.Appendf(nil, `{"fqdn": %q}`, nodeName(i*nodes/len(requests))),
			bindings.FactsOptions{})
		if err != nil {
			return measure.Case{}, err
		}
		if requests[i], err = snap.Request(facts); err != nil {
			return measure.Case{}, err
		}
	}
	return measure.Case{Run: func(n int) {
		for i := range n {
			v, _, err := requests[i%len(requests)].Lookup("all")
			must(err)
			if v.Len() != 2 {
				fail(fmt.Errorf("%d contributions instead of 2", v.Len()))
			}
		}
	}}, nil
}

func nodeName(i int) string { return fmt.Sprintf("node%06d.example.com", i) }

func contributions(nodes int) string {
	var b strings.Builder
	b.WriteString("bindings_version: 1\nname: default\nbind:\n  - {name: all, multibind_id: ids, type: Array}\n  - {in: ids, to: everybody}\n")
	for i := range nodes {
		fmt.Fprintf(&b, "  - {when: {node: %s}, bind: [{in: ids, to: %d}]}\n", nodeName(i), i)
	}
	return b.String()
}
