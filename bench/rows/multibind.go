package rows

import (
	"fmt"
	"os"
	"strings"

	"bindc/bench/built"
	"bindc/bench/measure"
	"bindc/facts"
	bindings "bindc/runtime"
)

// Multibindings compares lookups of a multibinding to which many nodes contribute with one to which
// few nodes contribute. The time should be the same: a lookup should visit only the contributions
// for its own node.
func Multibindings(few, many int) ([]Row, error) {
	small, err := collecting("all", few, 2, contributions(few))
	if err != nil {
		return nil, err
	}
	large, err := collecting("all", many, 2, contributions(many))
	if err != nil {
		return nil, err
	}
	return []Row{{fmt.Sprintf("multibinding, %d nodes contribute", many), large,
		measure.Case{Name: fmt.Sprintf("%d nodes", few), Run: small.Run}, 1, 0}}, nil
}

// Classes compares the lookup of a node's classes with a multibinding of the same size. Each node
// has twenty classes: ten of its own and ten that are common to all nodes.
func Classes(classes, nodes int) ([]Row, error) {
	included, err := collecting("/classes", nodes, 20, named(classes, nodes, "{include: %s}"))
	if err != nil {
		return nil, err
	}
	multibind := "  - {name: all, multibind_id: ids, type: 'Array[String]'}\n"
	multibind += named(classes, nodes, "{name: %[1]s, to: %[1]s, in: ids}")
	contributed, err := collecting("all", nodes, 20, multibind)
	if err != nil {
		return nil, err
	}
	return []Row{{fmt.Sprintf("classes, %d nodes include some of %d", nodes, classes), included,
		measure.Case{Name: "multibinding of this size", Run: contributed.Run}, 1, 0}}, nil
}

// collecting returns a case that looks up key for one node after the other. bind is the text of the
// bindings; elements is the expected length of each value.
func collecting(key string, nodes, elements int, bind string) (measure.Case, error) {
	dir, err := os.MkdirTemp("", "bindc-multibind-")
	if err != nil {
		return measure.Case{}, err
	}
	defer os.RemoveAll(dir)
	snap, err := built.Snapshot(dir, "bindings/default.yaml", "bindings_version: 1\nname: default\nbind:\n"+bind)
	if err != nil {
		return measure.Case{}, err
	}
	requests := make([]*bindings.Request, min(nodes, visitors))
	for i := range requests {
		facts, err := facts.ParseJSON(fmt.Appendf(nil, `{"fqdn": %q}`, nodeName(i*nodes/len(requests))),
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
			v, _, err := requests[i%len(requests)].Lookup(key)
			must(err)
			if v.Len() != elements {
				fail(fmt.Errorf("%d elements instead of %d", v.Len(), elements))
			}
		}
	}}, nil
}

func nodeName(i int) string { return fmt.Sprintf("node%06d.example.com", i) }

// contributions returns the text of a multibinding with one contribution per node and a common one.
func contributions(nodes int) string {
	var b strings.Builder
	b.WriteString("  - {name: all, multibind_id: ids, type: Array}\n  - {in: ids, to: everybody}\n")
	for i := range nodes {
		fmt.Fprintf(&b, "  - {when: {node: %s}, bind: [{in: ids, to: %d}]}\n", nodeName(i), i)
	}
	return b.String()
}

// named returns the text of bindings that use statement with ten names for all nodes and ten others
// for each node. The verb in statement is replaced by the name.
func named(names, nodes int, statement string) string {
	var b strings.Builder
	ten := func(from int) string {
		var out []string
		for i := range 10 {
			out = append(out, fmt.Sprintf(statement, fmt.Sprintf("class%04d", (from+i*names/10)%names)))
		}
		return strings.Join(out, ", ")
	}
	fmt.Fprintf(&b, "  - {when: {common: true}, bind: [%s]}\n", ten(0))
	for i := range nodes {
		fmt.Fprintf(&b, "  - {when: {node: %s}, bind: [%s]}\n", nodeName(i), ten(1+i%(names/10-1)))
	}
	return b.String()
}
