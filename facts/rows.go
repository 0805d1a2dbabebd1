package facts

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"bindc/diag"
	"bindc/internal/value"
)

// checkPlain rejects a hash of facts that looks like the facts of a named node with a misspelt member.
func checkPlain(v value.Value) error {
	switch {
	case text(v, "certname") != "":
		for k, e := range v.Pairs() {
			hint := diag.DidYouMean(k.Text(), []string{"facts", "values"})
			if hint != "" && e.Kind() == value.Hash {
				return fmt.Errorf("unknown member '%s' next to 'certname'; %s", k.Text(), hint)
			}
		}
	case text(v, "name") != "" && !hash(v, "parameters").IsUndef():
		return fmt.Errorf("expected the facts of '%s' in 'values', found only its parameters", text(v, "name"))
	}
	return nil
}

func checkNames(v value.Value) error {
	for k := range v.Pairs() {
		if k.Kind() != value.String {
			return errors.New("expected fact names, found " + value.Describe(k))
		}
	}
	return nil
}

// factsIn returns the facts in wrapped, which is a hash of facts, a list of {"name", "value"}, or a hash with such a
// list in "data".
func factsIn(wrapped value.Value) (value.Value, error) {
	wrapped = data(wrapped)
	switch wrapped.Kind() {
	case value.Hash:
		return wrapped, checkNames(wrapped)
	case value.Array:
		var b value.Builder
		for f := range wrapped.Elems() {
			if err := cmp.Or(checkRow(f, "name", "value"), addRow(&b, f)); err != nil {
				return value.Value{}, err
			}
		}
		return b.Hash(), nil
	}
	return value.Value{}, errors.New("expected a hash whose keys are fact names, found " + value.Describe(wrapped))
}

// data returns the list in a hash {"href", "data"}, in which PuppetDB wraps facts. It returns any other value
// unchanged.
func data(wrapped value.Value) value.Value {
	list := get(wrapped, "data")
	if list.Kind() != value.Array || wrapped.Len() > 2 || wrapped.Len() == 2 && !has(wrapped, "href") {
		return wrapped
	}
	return list
}

// checkRow rejects a row of PuppetDB with a name and no value, or with a member that would have no effect.
func checkRow(row value.Value, columns ...string) error {
	if get(row, "name").Kind() != value.String {
		return errors.New(`expected {"name", "value"}, found ` + value.Describe(row))
	}
	if !has(row, "value") {
		return fmt.Errorf("the fact '%s' has no 'value'", text(row, "name"))
	}
	for k := range row.Pairs() {
		if !slices.Contains(columns, k.Text()) {
			return fmt.Errorf("unknown member '%s' next to the value of the fact '%s'", k.Text(), text(row, "name"))
		}
	}
	return nil
}

// addRow adds the fact in a row to b. A second row for the fact must have the same value.
func addRow(b *value.Builder, row value.Value) error {
	name, val := get(row, "name"), get(row, "value")
	before := b.Len()
	at := b.At(name)
	if b.Len() == before && !value.Same(*at, val) {
		return fmt.Errorf("the fact '%s' is given twice, with different values", name.Text())
	}
	*at = val
	return nil
}

// rows collects the facts of a node from a list with one row per fact.
type rows struct {
	facts       value.Builder
	trusted     value.Value
	environment string
}

// add adds a row of the node. PuppetDB stores the trusted facts as a fact.
func (r *rows) add(row value.Value) error {
	err := checkRow(row, "certname", "name", "value", "environment")
	switch {
	case err != nil:
	case text(row, "name") == "trusted" && get(row, "value").Kind() == value.Hash:
		r.trusted = get(row, "value")
	default:
		err = addRow(&r.facts, row)
	}
	m := members{node: row, err: err}
	environment := m.text("environment")
	r.environment = cmp.Or(r.environment, environment)
	m.check(environment == "" || environment == r.environment,
		"found two environments for the node, '%s' and '%s'", r.environment, environment)
	return m.err
}

// nodesInList returns the nodes in a list from PuppetDB. Each element is a single fact, {"certname", "name", "value"},
// or a hash with all facts of a node.
func nodesInList(v value.Value) ([]Node, error) {
	var out []Node
	byNode := map[string]*rows{}
	var order []string
	for e := range v.Elems() {
		name := text(e, "certname")
		switch {
		case name != "" && get(e, "name").Kind() == value.String && !has(e, "facts") && !has(e, "values"):
			if byNode[name] == nil {
				byNode[name] = &rows{}
				order = append(order, name)
			}
			if err := byNode[name].add(e); err != nil {
				return nil, fmt.Errorf("%w%s", err, inFacts(name))
			}
		case e.Kind() == value.Hash && (name != "" || text(e, "name") != "" || wrapperOf(e) != ""):
			n, err := singleNode(e)
			if err != nil {
				return nil, err
			}
			if n.Name == "" {
				return nil, missingIn(e)
			}
			out = append(out, n)
		default:
			return nil, errors.New("expected {\"certname\", \"name\", \"value\"} or {\"certname\", \"facts\"}, found " +
				value.Describe(e))
		}
	}
	for _, name := range order {
		r := byNode[name]
		out = append(out, Node{Name: name, Environment: r.environment,
			Facts: runtimeValue(r.facts.Hash()), Trusted: runtimeValue(r.trusted)})
	}
	return out, checkTwice(out)
}

// missingIn returns the error for an element of a list that lacks facts or the name of its node.
func missingIn(e value.Value) error {
	if wrapperOf(e) != "" {
		return errors.New("expected a certname for each node in the list, found facts without one")
	}
	return fmt.Errorf("expected the facts of '%s', found none", cmp.Or(text(e, "certname"), text(e, "name")))
}

func checkTwice(nodes []Node) error {
	seen := make(map[string]bool, len(nodes))
	for _, n := range nodes {
		if seen[n.Name] {
			return fmt.Errorf("found the facts of '%s' twice", n.Name)
		}
		seen[n.Name] = true
	}
	return nil
}
