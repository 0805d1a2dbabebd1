package facts

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/value"
	bindings "bindc/runtime"
)

// Node is a node and its facts. Facts is a hash. Trusted and Vars are hashes, or undef if they are missing.
type Node struct {
	Name        string // "" if the facts do not have it
	File        string // path of the facts file; "" if the node was not read from a directory
	Environment string // "" if the facts do not have it

	Facts   bindings.Value
	Trusted bindings.Value // the variable $trusted
	Vars    bindings.Value // top-scope variables that are not facts

	NamedByFile bool // Name is only the file's name; the facts have another one
}

// nodesIn returns the nodes in v, which may have any of the formats of this package.
func nodesIn(v value.Value) ([]Node, error) {
	switch v.Kind() {
	case value.Hash:
		n, err := singleNode(v)
		return []Node{n}, err
	case value.Array:
		if v.Len() > 0 {
			return nodesInList(v)
		}
		return nil, errors.New("expected facts, found an empty list")
	case value.Undef:
		return nil, errors.New("expected facts, found nothing (write {} for a node without facts)")
	}
	return nil, errors.New("expected facts as a hash whose keys are fact names, found " + value.Describe(v))
}

// singleNode returns the node in a hash: {"name", "values"} from Puppet, {"certname", "facts"} from PuppetDB, or bare
// facts.
func singleNode(v value.Value) (Node, error) {
	wrapper := wrapperOf(v)
	if wrapper == "" {
		return Node{Facts: runtimeValue(v)}, cmp.Or(checkNames(v), checkPlain(v))
	}
	n, err := wrapped(v, wrapper)
	if err != nil {
		err = fmt.Errorf("%w%s", err, inFacts(n.Name))
	}
	return n, err
}

// wrapperOf returns the key of the entry of v that contains the facts of a node: "facts" or "values". If v is a hash of
// facts without such a wrapper, it returns "". No fact has the name facts.
func wrapperOf(v value.Value) string {
	switch {
	case has(v, "facts"):
		return "facts"
	case has(v, "values") && has(v, "certname"), !hash(v, "values").IsUndef() && text(v, "name") != "":
		return "values"
	}
	return ""
}

// inFacts returns the end of a message, such as " in the facts of 'web1'". If name is "", it returns "".
func inFacts(name string) string {
	if name == "" {
		return ""
	}
	return " in the facts of '" + name + "'"
}

// wrapped returns the node in a hash that has the facts in the entry called wrapper.
func wrapped(v value.Value, wrapper string) (n Node, err error) {
	m := members{node: v}
	certname, name := m.text("certname"), m.text("name")
	trusted, environment := m.hash("trusted"), m.text("environment")
	n.Trusted, n.Environment, n.Vars = runtimeValue(trusted), environment, runtimeValue(m.variables())
	n.Name = cmp.Or(certname, name, text(trusted, "certname"))
	m.check(certname == "" || name == "" || certname == name,
		"found two different names for the node: certname '%s' and name '%s'", certname, name)
	m.refuseOthers(wrapper)
	if m.err == nil {
		var all value.Value
		all, m.err = factsIn(get(v, wrapper))
		n.Facts = runtimeValue(all)
	}
	return n, m.err
}

// meaningful lists the members next to the facts of a node that this package uses.
var meaningful = []string{"certname", "name", "environment", "trusted", "vars", "parameters"}

// metadata lists members that Puppet and PuppetDB write next to the facts of a node. They are ignored.
var metadata = []string{"timestamp", "_timestamp", "expiration", "hash", "producer", "producer_timestamp",
	"package_inventory", "classes"}

// members reads the members next to the facts of a node. It keeps the first error.
type members struct {
	node value.Value
	err  error
}

func (m *members) check(ok bool, format string, args ...any) {
	if !ok && m.err == nil {
		m.err = fmt.Errorf(format, args...)
	}
}

// get returns the member called name. If it is null, missing or not of the given kind, get returns undef; another kind
// is also an error, whose text says what was expected.
func (m *members) get(name string, kind value.Kind, expected string) value.Value {
	v := get(m.node, name)
	if v.IsUndef() {
		return v
	}
	m.check(v.Kind() == kind, "'%s' next to the facts: expected %s, found %s", name, expected, value.Describe(v))
	if v.Kind() != kind {
		return value.Value{}
	}
	return v
}

func (m *members) text(name string) string {
	if v := m.get(name, value.String, "a text"); !v.IsUndef() {
		return v.Text()
	}
	return ""
}

func (m *members) hash(name string) value.Value {
	return m.get(name, value.Hash, "a hash whose keys are names")
}

// variables returns the variables next to the facts. In Puppet's format, they are called parameters.
func (m *members) variables() value.Value {
	vars, parameters := m.hash("vars"), m.hash("parameters")
	m.check(vars.IsUndef() || parameters.IsUndef(),
		"found both 'vars' and 'parameters' next to the facts; write all variables into one of them")
	if vars.IsUndef() {
		return parameters
	}
	return vars
}

// refuseOthers rejects unknown members, because they would have no effect.
func (m *members) refuseOthers(wrapper string) {
	for k := range m.node.Pairs() {
		if k.Kind() != value.String {
			m.check(false, "expected names next to '%s', found %s", wrapper, value.Describe(k))
			return
		}
		name := k.Text()
		if name == wrapper || slices.Contains(meaningful, name) || slices.Contains(metadata, name) {
			continue
		}
		hint := diag.DidYouMean(name, meaningful)
		if hint == "" {
			hint = "a fact is written inside '" + wrapper + "', another variable inside 'vars'"
		}
		m.check(false, "unknown member '%s' next to '%s'; %s", name, wrapper, hint)
	}
}

func has(v value.Value, name string) bool {
	if v.Kind() != value.Hash {
		return false
	}
	_, ok := v.Get(value.FromString(name))
	return ok
}

func get(v value.Value, name string) value.Value {
	if v.Kind() != value.Hash {
		return value.Value{}
	}
	e, _ := v.Get(value.FromString(name))
	return e
}

// hash returns the entry of v called name. If there is none or it is not a hash, hash returns undef.
func hash(v value.Value, name string) value.Value {
	if e := get(v, name); e.Kind() == value.Hash {
		return e
	}
	return value.Value{}
}

func text(v value.Value, name string) string {
	if e := get(v, name); e.Kind() == value.String {
		return e.Text()
	}
	return ""
}

// Choose returns the node called name. If there is only one node, Choose returns that one.
func Choose(nodes []Node, name string) (Node, error) {
	if len(nodes) == 1 {
		return nodes[0], nil
	}
	var names []string
	for _, n := range nodes {
		if n.Name == name {
			return n, nil
		}
		names = append(names, n.Name)
	}
	if name == "" {
		return Node{}, fail("expected the facts of one node, found %d nodes; name the node", len(nodes))
	}
	text := fmt.Sprintf("expected facts of '%s' among those of %d nodes", name, len(nodes))
	if hint := diag.DidYouMean(name, names); hint != "" {
		text += "; " + hint
	}
	return Node{}, fail("%s", text)
}

// withCertname returns the trusted facts of n. If they have no certname, it adds the name of n, unless the name is only
// that of the file.
func (n Node) withCertname() value.Value {
	trusted := content(n.Trusted)
	if n.Name == "" || n.NamedByFile || !get(trusted, "certname").IsUndef() {
		return trusted
	}
	var b value.Builder
	for k, v := range trusted.Pairs() {
		b.Set(k, v)
	}
	b.Set(value.FromString("certname"), value.FromString(n.Name))
	return b.Hash()
}

// MarshalJSON returns n in a format of this package: its name and facts, and the environment, trusted facts and
// variables if it has them.
func (n Node) MarshalJSON() ([]byte, error) {
	member := func(name string, v value.Value) value.Pair {
		return value.Pair{Key: value.FromString(name), Value: v}
	}
	pairs := []value.Pair{member("name", value.FromString(n.Name)), member("facts", content(n.Facts))}
	if n.Environment != "" {
		pairs = append(pairs, member("environment", value.FromString(n.Environment)))
	}
	if trusted := n.withCertname(); !trusted.IsUndef() {
		pairs = append(pairs, member("trusted", trusted))
	}
	if !n.Vars.IsUndef() {
		pairs = append(pairs, member("vars", content(n.Vars)))
	}
	return value.AppendJSON(nil, value.FromPairs(pairs...)), nil
}

// Contradiction describes how the name of n differs from the certname in its trusted facts. If they agree, it returns
// "".
func (n Node) Contradiction() string {
	certname := text(content(n.Trusted), "certname")
	if n.Name == "" || n.NamedByFile || certname == "" || certname == n.Name {
		return ""
	}
	return fmt.Sprintf("the node is '%s', but its trusted facts have the certname '%s', which takes precedence",
		n.Name, certname)
}

// identifiesAnother reports whether the facts identify a node with another name. The fact clientcert is the certname,
// which by default is the fqdn in lower case.
func (n Node) identifiesAnother() bool {
	all := content(n.Facts)
	if certname := text(all, "clientcert"); certname != "" {
		return certname != n.Name
	}
	fqdn := cmp.Or(text(all, "fqdn"), text(get(all, "networking"), "fqdn"), text(all, "hostname"))
	return fqdn != "" && strings.ToLower(fqdn) != n.Name
}

// Has reports whether n has a fact or variable with that name.
func (n Node) Has(name string) bool { return has(content(n.Facts), name) || has(content(n.Vars), name) }
