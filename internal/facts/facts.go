// Package facts reads the facts of nodes as people have them: what facter --json and puppet facts print, the YAML that
// Puppet keeps, and what PuppetDB answers. What is none of these is an error.
package facts

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bindc/internal/diag"
	"bindc/internal/value"
	"bindc/internal/yaml"
	bindings "bindc/runtime"
)

// Node is a node and its facts.
type Node struct {
	Name    string // "" where the facts do not name it
	File    string // of a fleet's, where its facts are
	Facts   value.Value
	Trusted value.Value // undef: none were given
	Vars    value.Value // variables of top scope that are no facts; undef: none were given

	ofFile bool // Name is only that of the file: facts say who the node is
}

// fail is an error with the code facts.
func fail(format string, args ...any) error {
	return &bindings.Error{Code: bindings.CodeFacts, Message: fmt.Sprintf(format, args...)}
}

// Parse reads the facts of one node or of several, in JSON or YAML; file is what messages call it.
func Parse(file string, src []byte) ([]Node, error) {
	v, err := ParseValue(file, withoutTag(src))
	if err != nil {
		return nil, err
	}
	nodes, err := Of(v)
	if err != nil {
		return nil, fail("%s: %v", file, err)
	}
	return nodes, nil
}

// nodeTag is what Puppet writes in front of the facts of a node.
const nodeTag = "!ruby/object:Puppet::Node::Facts"

// withoutTag blanks nodeTag out where a document begins with it, so that all places stay.
func withoutTag(src []byte) []byte {
	head, tag := []byte("---"), []byte(nodeTag)
	rest, ok := bytes.CutPrefix(src, head)
	if !ok || !bytes.HasPrefix(bytes.TrimLeft(rest, " "), tag) {
		return src
	}
	return bytes.Replace(src, tag, bytes.Repeat([]byte(" "), len(tag)), 1)
}

// ParseValue parses JSON or YAML. YAML takes JSON too, but for large numbers and tabs, so JSON is tried first; what is
// neither, and begins as JSON does, is reported as JSON. Nothing at all is undef.
func ParseValue(file string, src []byte) (value.Value, error) {
	opts := yaml.Options{LastKeyWins: true, TimesAreText: true}
	var asJSON, asYAML diag.List
	doc, ok := yaml.ParseJSON(file, src, opts, &asJSON)
	if !ok {
		doc, ok = yaml.Parse(file, src, opts, &asYAML)
	}
	if !ok {
		wrong := asYAML.Sorted()
		if start := bytes.TrimSpace(src); bytes.HasPrefix(start, []byte("{")) || bytes.HasPrefix(start, []byte("[")) {
			wrong = asJSON.Sorted()
		}
		return value.Value{}, fail("%s: %s", wrong[0].Pos, wrong[0].Message)
	}
	if doc.Root == nil {
		return value.Value{}, nil
	}
	return doc.Root.Literal(), nil
}

// Of is the nodes that a value tells of. The error says what was expected.
func Of(v value.Value) ([]Node, error) {
	switch v.Kind() {
	case value.Hash:
		n, err := one(v)
		return []Node{n}, err
	case value.Array:
		if v.Len() > 0 {
			return several(v)
		}
		return nil, errors.New("expected facts, found an empty list")
	case value.Undef:
		return nil, errors.New("expected facts, found nothing (write {} where a node has none)")
	}
	return nil, errors.New("expected facts as a hash of names to values, found " + value.Describe(v))
}

// one is the node of a hash: {"name", "values"} of Puppet, {"certname", "facts"} of PuppetDB, which may have "trusted"
// and "vars" beside them, or nothing but facts.
func one(v value.Value) (Node, error) {
	name, values := text(v, "name"), get(v, "values")
	if name != "" && values.Kind() == value.Hash {
		return Node{Name: name, Facts: values}, nil
	}
	if name = text(v, "certname"); name == "" || get(v, "facts").IsUndef() {
		for k := range v.Pairs() {
			if k.Kind() != value.String {
				return Node{}, errors.New("expected names of facts, found " + value.Describe(k))
			}
		}
		return Node{Facts: v}, nil
	}
	values, n := get(v, "facts"), Node{Name: name, Trusted: hash(v, "trusted"), Vars: hash(v, "vars")}
	if data := get(values, "data"); data.Kind() == value.Array {
		values = data
	}
	if values.Kind() == value.Hash {
		n.Facts = values
		return n, nil
	}
	var b value.Builder
	for f := range values.Elems() {
		fact := get(f, "name")
		if fact.Kind() != value.String {
			return Node{}, fmt.Errorf("expected {\"name\", \"value\"} in the facts of '%s', found %s", name,
				value.Describe(f))
		}
		b.Set(fact, get(f, "value"))
	}
	if values.Kind() != value.Array {
		return Node{}, fmt.Errorf("expected the facts of '%s', found %s", name, value.Describe(values))
	}
	n.Facts = b.Hash()
	return n, nil
}

// several are the nodes of a list, of PuppetDB: {"certname", "name", "value"} of each fact, or what one reads.
func several(v value.Value) ([]Node, error) {
	var out []Node
	of := map[string]*value.Builder{}
	var order []string
	for e := range v.Elems() {
		name := text(e, "certname")
		fact := get(e, "name")
		switch {
		case name != "" && fact.Kind() == value.String:
			if of[name] == nil {
				of[name] = &value.Builder{}
				order = append(order, name)
			}
			of[name].Set(fact, get(e, "value"))
		case e.Kind() == value.Hash && (name != "" || text(e, "name") != ""):
			n, err := one(e)
			if err != nil {
				return nil, err
			}
			if n.Name == "" {
				return nil, fmt.Errorf("expected the facts of '%s', found none", name+text(e, "name"))
			}
			out = append(out, n)
		default:
			return nil, errors.New("expected {\"certname\", \"name\", \"value\"} or {\"certname\", \"facts\"}, found " +
				value.Describe(e))
		}
	}
	for _, name := range order {
		out = append(out, Node{Name: name, Facts: of[name].Hash()})
	}
	return out, nil
}

func get(v value.Value, name string) value.Value {
	if v.Kind() != value.Hash {
		return value.Value{}
	}
	e, _ := v.Get(value.FromString(name))
	return e
}

// hash is the entry of v if it is a hash, else undef.
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

// Choose is the node of that name, or the only one; name may be "".
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
	if name != "" {
		return Node{}, fail("expected facts of '%s' among those of %d nodes; %s", name, len(nodes),
			diag.DidYouMean(name, names))
	}
	return Node{}, fail("expected the facts of one node, found those of %d; choose one with --node", len(nodes))
}

// Variables are the facts as the runtime takes them. What opts give counts more than what n does: its name is the
// certname where nothing else is.
func (n Node) Variables(opts bindings.FactsOptions) (*bindings.Facts, error) {
	trusted := n.Trusted
	if n.Name != "" && !n.ofFile && get(trusted, "certname").IsUndef() {
		var b value.Builder
		for k, v := range trusted.Pairs() {
			b.Set(k, v)
		}
		b.Set(value.FromString("certname"), value.FromString(n.Name))
		trusted = b.Hash()
	}
	var err error
	if opts.Trusted.IsUndef() && !trusted.IsUndef() {
		if opts.Trusted, err = public(trusted); err != nil {
			return nil, err
		}
	}
	if opts.Variables.IsUndef() && !n.Vars.IsUndef() {
		if opts.Variables, err = public(n.Vars); err != nil {
			return nil, err
		}
	}
	all, err := public(n.Facts)
	if err != nil {
		return nil, err
	}
	return bindings.NewFacts(all, opts)
}

// Has tells whether the facts or variables of n have that name.
func (n Node) Has(name string) bool {
	at := value.FromString(name)
	for _, v := range []value.Value{n.Facts, n.Vars} {
		if v.Kind() != value.Hash {
			continue
		}
		if _, ok := v.Get(at); ok {
			return true
		}
	}
	return false
}

// public is v as the runtime takes values.
func public(v value.Value) (bindings.Value, error) {
	return bindings.ParseJSON(value.AppendJSON(nil, v))
}

// ReadDir reads the facts of a fleet, a file of each node or of several, by their names in order. A node that its facts
// do not name has the name of the file. Files that are neither JSON nor YAML by their names are passed over; the error
// tells of every file that cannot be read.
func ReadDir(dir string) ([]Node, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fail("cannot read the facts: %v", err)
	}
	var out []Node
	var wrong []error
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") || !slices.Contains([]string{".json", ".yaml", ".yml"}, ext) {
			continue
		}
		nodes, err := readFile(filepath.Join(dir, e.Name()), strings.TrimSuffix(e.Name(), ext))
		out, wrong = append(out, nodes...), append(wrong, err)
	}
	slices.SortStableFunc(out, func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(out); i++ {
		if out[i].Name == out[i-1].Name && (i == 1 || out[i].Name != out[i-2].Name) {
			wrong = append(wrong, fail("%s: found the facts of '%s' twice", dir, out[i].Name))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, fail("%s", strings.ReplaceAll(err.Error(), "\n", "; ")) // one line, as any other message
	}
	if len(out) == 0 {
		return nil, fail("%s: expected a file of facts per node, NAME.json or NAME.yaml, found none", dir)
	}
	return out, nil
}

// readFile reads a file of facts. Who has no name gets that of the file, also as certname where no fact says who it is.
func readFile(path, name string) ([]Node, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fail("cannot read the facts: %v", err)
	}
	nodes, err := Parse(path, src)
	for i := range nodes {
		nodes[i].File = path
	}
	if err != nil || len(nodes) != 1 || nodes[0].Name != "" {
		return nodes, err
	}
	n := &nodes[0]
	n.Name = name
	networking := get(n.Facts, "networking")
	n.ofFile = text(n.Facts, "fqdn") != "" || text(n.Facts, "clientcert") != "" || text(n.Facts, "hostname") != "" ||
		text(networking, "fqdn") != ""
	return nodes, nil
}
