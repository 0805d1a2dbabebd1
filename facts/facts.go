// Package facts reads the facts of nodes in the usual formats: the output of facter --json and puppet facts, the YAML
// files that Puppet keeps, the answers of PuppetDB, and a hash of facts in JSON or YAML. Anything else is an error. It
// converts the facts for package runtime, which does not link a YAML parser.
//
// Errors are *runtime.Error with the code facts, or errors of the operating system. Errors about a file have its name
// and the position. All functions are safe for concurrent use, and their results do not refer to the text that was
// read.
package facts

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"bindc/diag"
	"bindc/internal/lookup"
	"bindc/internal/value"
	"bindc/internal/yaml"
	bindings "bindc/runtime"
)

func fail(format string, args ...any) error {
	return &bindings.Error{Code: bindings.CodeFacts, Message: fmt.Sprintf(format, args...)}
}

// misfit is an error at a position in a facts file.
type misfit struct {
	at   diag.Pos
	text string
}

func (m *misfit) Error() string { return m.at.String() + ": " + m.text }

func failAt(at diag.Pos, text string) error {
	m := &misfit{at, text}
	return &bindings.Error{Code: bindings.CodeFacts, Message: m.Error(), Err: m}
}

// Parse parses the facts of one or more nodes, in JSON or YAML. file is the name of the source in errors.
func Parse(file string, src []byte) ([]Node, error) {
	v, err := parse(file, withoutTag(src))
	if err != nil {
		return nil, err
	}
	nodes, err := nodesIn(v)
	if err != nil {
		return nil, failAt(diag.Pos{File: file}, err.Error())
	}
	return nodes, nil
}

// nodeTag is the YAML tag that Puppet writes before the facts of a node.
const nodeTag = "!ruby/object:Puppet::Node::Facts"

// withoutTag replaces nodeTag at the beginning of a document with blanks, so that positions stay valid.
func withoutTag(src []byte) []byte {
	head, tag := []byte("---"), []byte(nodeTag)
	rest, ok := bytes.CutPrefix(src, head)
	if !ok || !bytes.HasPrefix(bytes.TrimLeft(rest, " "), tag) {
		return src
	}
	return bytes.Replace(src, tag, bytes.Repeat([]byte(" "), len(tag)), 1)
}

// ParseHash parses a hash in JSON or YAML, such as trusted facts. It converts keys to strings. An empty text is undef.
// In errors, file is the name of the source, and what is the name of the hash.
func ParseHash(what, file string, src []byte) (bindings.Value, error) {
	v, err := parse(file, src)
	if err == nil && !v.IsUndef() && v.Kind() != value.Hash {
		err = fail("%s, %s: expected a hash whose keys are fact names, found %s", what, file, value.Describe(v))
	}
	if err != nil {
		return bindings.Value{}, err
	}
	return withTextKeys(runtimeValue(v))
}

// ParseJSON parses the facts of a node from JSON in any format of this package, and converts them for package runtime.
// opts.Node selects one of several nodes. The options take precedence over the name, environment, trusted facts and
// variables in the JSON.
func ParseJSON(json []byte, opts bindings.FactsOptions) (*bindings.Facts, error) {
	var v bindings.Value
	if err := v.UnmarshalJSON(json); err != nil {
		message := "expected the facts as JSON: " + err.Error()
		return nil, &bindings.Error{Code: bindings.CodeFacts, Message: message, Err: err}
	}
	if v.IsUndef() {
		return bindings.NewFacts(v, opts)
	}
	nodes, err := nodesIn(content(v))
	if err != nil {
		return nil, fail("%s", err)
	}
	n, err := Choose(nodes, opts.Node)
	if err != nil {
		return nil, err
	}
	n.complete(&opts)
	return bindings.NewFacts(n.Facts, opts)
}

// parse parses JSON or YAML. It tries JSON first, because YAML parsers reject the tabs and large numbers of some JSON.
// If src is neither but begins like JSON, the error is that of the JSON parser. An empty text is undef. A second
// document is an error, and so is a key with two different values.
func parse(file string, src []byte) (value.Value, error) {
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

// Variables converts the facts of n for package runtime. opts takes precedence over n. For a node that was read from a
// directory, opts.Node is ignored, because n already has its name. If no other certname is known, it is the name of n.
// Keys of hashes become strings; two equal keys in a hash are an error.
func Variables(n Node, opts bindings.FactsOptions) (*bindings.Facts, error) {
	if n.File != "" {
		opts.Node = ""
	}
	if !opts.Trusted.IsUndef() {
		n.Trusted = bindings.Value{}
	}
	if !opts.Variables.IsUndef() {
		n.Vars = bindings.Value{}
	}
	for _, v := range []*bindings.Value{&n.Trusted, &n.Vars, &n.Facts} {
		var err error
		if *v, err = withTextKeys(*v); err != nil {
			return nil, err
		}
	}
	n.complete(&opts)
	return bindings.NewFacts(n.Facts, opts)
}

// CheckName returns an error if a request gives a node's name and trusted facts with another certname.
func CheckName(name string, trusted bindings.Value) error {
	certname := text(content(trusted), "certname")
	if name == "" || certname == "" || strings.EqualFold(certname, name) {
		return nil
	}
	return fail("the node is '%s', but the trusted facts have the certname '%s'; give only one of them", name, certname)
}

// complete sets the options that are missing in opts from n.
func (n Node) complete(opts *bindings.FactsOptions) {
	opts.Environment = cmp.Or(opts.Environment, n.Environment)
	if opts.Trusted.IsUndef() {
		opts.Trusted = runtimeValue(n.withCertname())
	}
	if opts.Variables.IsUndef() {
		opts.Variables = n.Vars
	}
}

func withTextKeys(v bindings.Value) (bindings.Value, error) {
	c := content(v)
	if name, twice := value.SameText(c); twice {
		return bindings.Value{}, fail("two keys of a hash have the text '%s'; fact names must be distinct strings", name)
	}
	err := v.UnmarshalJSON(value.AppendJSON(nil, c))
	return v, err
}

func runtimeValue(v value.Value) bindings.Value { return bindings.Value(lookup.FromValue(v)) }

func content(v bindings.Value) value.Value { return lookup.Value(v).Content() }
