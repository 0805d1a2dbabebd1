// Package facts reads the facts of nodes as people have them: what facter --json and puppet facts print, the YAML that
// Puppet keeps, and what PuppetDB answers. What is none of these is an error.
package facts

import (
	"bytes"
	"cmp"
	"fmt"

	"bindc/internal/diag"
	"bindc/internal/node"
	"bindc/internal/value"
	"bindc/internal/yaml"
	bindings "bindc/runtime"
)

// Node is a node and its facts.
type Node = node.Node

// fail is an error with the code facts.
func fail(format string, args ...any) error {
	return &bindings.Error{Code: bindings.CodeFacts, Message: fmt.Sprintf(format, args...)}
}

// misfit describes a problem in a file of facts, and its position.
type misfit struct {
	at   diag.Pos
	text string
}

func (m *misfit) Error() string { return m.at.String() + ": " + m.text }

// failAt returns an error of code facts with a position.
func failAt(at diag.Pos, text string) error {
	m := &misfit{at, text}
	return &bindings.Error{Code: bindings.CodeFacts, Message: m.Error(), Err: m}
}

// Parse reads the facts of one node or of several, in JSON or YAML; file is what messages call it.
func Parse(file string, src []byte) ([]Node, error) {
	v, err := ParseValue(file, withoutTag(src))
	if err != nil {
		return nil, err
	}
	nodes, err := node.Of(v)
	if err != nil {
		return nil, failAt(diag.Pos{File: file}, err.Error())
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
// neither, and begins as JSON does, is reported as JSON. Nothing at all is undef. A second document, or a key that is
// given twice with different values, is an error.
func ParseValue(file string, src []byte) (value.Value, error) {
	opts := yaml.Options{SameValueTwice: true, TimesAreText: true}
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
		return value.Value{}, failAt(wrong[0].Pos, wrong[0].Message)
	}
	for _, d := range asYAML.Sorted() {
		if d.Code == "yaml_document" {
			return value.Value{}, failAt(d.Pos, "found a second YAML document; expected one, with all facts")
		}
	}
	if doc.Root == nil {
		return value.Value{}, nil
	}
	return doc.Root.Literal(), nil
}

// Choose returns the node with that name, or the only node; name may be "".
func Choose(nodes []Node, name string) (Node, error) {
	n, err := node.Choose(nodes, name)
	if err != nil {
		return Node{}, fail("%v", err)
	}
	return n, nil
}

// Variables converts the facts of n for the runtime. opts takes precedence over n. The name of n serves as the certname
// unless another one is given.
func Variables(n Node, opts bindings.FactsOptions) (*bindings.Facts, error) {
	trusted := n.WithCertname()
	opts.Environment = cmp.Or(opts.Environment, n.Environment)
	var err error
	if opts.Trusted.IsUndef() && !trusted.IsUndef() {
		if opts.Trusted, err = Public(trusted); err != nil {
			return nil, err
		}
	}
	if opts.Variables.IsUndef() && !n.Vars.IsUndef() {
		if opts.Variables, err = Public(n.Vars); err != nil {
			return nil, err
		}
	}
	all, err := Public(n.Facts)
	if err != nil {
		return nil, err
	}
	return bindings.NewFacts(all, opts)
}

// Public converts v to a Value of the runtime. Keys of hashes become texts.
func Public(v value.Value) (bindings.Value, error) {
	if name, twice := value.SameText(v); twice {
		return bindings.Value{}, fail("two keys of a hash have the text '%s'; keys of facts are texts", name)
	}
	return bindings.ParseJSON(value.AppendJSON(nil, v))
}
