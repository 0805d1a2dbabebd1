// Package examples runs the tests of a site. A test states which values lookups return for certain facts; see
// docs/guide/test-data.md.
package examples

import (
	"path/filepath"

	"bindc/diag"
	"bindc/facts"
	"bindc/internal/fsx"
	"bindc/internal/lookup"
	"bindc/internal/proof/policy"
	"bindc/internal/yaml"
	bindings "bindc/runtime"
)

// Code is the code of diagnostics about test files.
const Code = "example"

// Folder describes the directory of test files.
var Folder = policy.Folder{Name: "tests", Singular: "test", Version: "tests_version", What: "tests",
	Has: "'name', 'facts' and 'expect'", Marks: []string{"expect", "golden"}, Code: Code}

// Example is a test: a request and its expected results.
type Example struct {
	Name string
	At   diag.Pos

	facts  *bindings.Facts
	expect []expectation
	golden string // golden file, which has the values of all keys, or ""
}

// expectation states what the value of a key must be.
type expectation struct {
	key  string
	at   diag.Pos
	want *policy.Requirement
}

// Read reads the test files of the site in dir. It adds errors to diags and leaves out invalid examples.
func Read(dir string, diags *diag.List) []*Example {
	r := &reader{diags: diags, names: map[string]diag.Pos{}}
	for _, path := range Folder.Files(dir, r.disk, diags) {
		r.file(path)
	}
	return r.out
}

type reader struct {
	disk  fsx.Disk
	diags *diag.List
	names map[string]diag.Pos
	out   []*Example
	doc   *yaml.Document
}

func (r *reader) file(path string) {
	_, doc, entries := Folder.Parse(path, false, r.disk, r.diags)
	r.doc = doc
	for i := range entries {
		if e, ok := r.example(&entries[i]); ok {
			r.out = append(r.out, e)
		}
	}
}

func (r *reader) errorf(n *yaml.Node, format string, args ...any) {
	r.diags.Errorf(r.doc.Pos(n), Code, format, args...)
}

// unknown adds a diagnostic for each key of n that is not in allowed. It reports whether there are any.
func (r *reader) unknown(n *yaml.Node, what string, allowed ...string) (any bool) {
	for _, d := range r.doc.UnknownKeys(n, Code, what, allowed) {
		r.diags.Add(d)
		any = true
	}
	return any
}

// example reads one test. ok is false if the test has an error.
func (r *reader) example(n *yaml.Node) (e *Example, ok bool) {
	if n.Kind != yaml.Mapping {
		r.errorf(n, "expected a test: a hash with 'name', 'facts' and 'expect', found %s", n.Describe())
		return nil, false
	}
	ok = !r.unknown(n, "attribute of a test", "name", "facts", "facts_file", "node", "environment", "expect", "golden")
	e = &Example{At: r.doc.Pos(n)}
	if e.Name, _ = r.text(n, "name"); e.Name == "" {
		r.errorf(n, "expected 'name', a string that identifies the test")
		ok = false
	} else if first, twice := r.names[e.Name]; twice {
		r.diags.Add(diag.Diagnostic{Pos: e.At, Code: Code, Message: "two tests have the name '" + e.Name + "'",
			Notes: []diag.Note{{Pos: first, Message: "the other one is here"}}, Hint: "rename one of them"})
		ok = false
	}
	r.names[e.Name] = e.At
	golden, okGolden := r.text(n, "golden")
	if e.golden = golden; golden != "" {
		e.golden = r.resolve(golden)
	}
	okExpect := r.expectations(n, e)
	if okExpect && okGolden && len(e.expect) == 0 && golden == "" {
		r.errorf(n, "expected 'expect', a hash of keys to values, or 'golden', a file with all values")
		ok = false
	}
	return e, r.request(n, e) && okGolden && okExpect && ok
}

// resolve resolves a path that is relative to the test file.
func (r *reader) resolve(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(r.doc.File), path)
}

// text returns the string at a key of n. If the key is missing, it returns "" and true. If the value is not a string,
// it adds a diagnostic and returns false.
func (r *reader) text(n *yaml.Node, key string) (text string, ok bool) {
	_, v, there := n.Lookup(key)
	if !there {
		return "", true
	}
	if text, _ = v.Text(); text == "" {
		r.errorf(v, "expected a string for '%s', found %s", key, v.Describe())
	}
	return text, text != ""
}

// expectations reads the attribute 'expect'.
func (r *reader) expectations(n *yaml.Node, e *Example) bool {
	_, all, there := n.Lookup("expect")
	if !there {
		return true
	}
	if all.Kind != yaml.Mapping || len(all.Kids) == 0 {
		r.errorf(all, "expected a hash of keys to values for 'expect', found %s", all.Describe())
		return false
	}
	whole := true
	for k, v := range all.Pairs() {
		key, _ := k.Text()
		if key == "" {
			r.errorf(k, "expected a key name, found %s", k.Describe())
			whole = false
			continue
		}
		want, ok := policy.Equal(v.Literal()), true
		if policy.IsRequirement(v) {
			want, ok = policy.ReadRequirement(r.doc, v, Code, r.diags)
		}
		whole = whole && ok
		e.expect = append(e.expect, expectation{key, r.doc.Pos(k), want})
	}
	return whole
}

// request reads the facts and the node of a test.
func (r *reader) request(n *yaml.Node, e *Example) bool {
	environment, okEnvironment := r.text(n, "environment")
	name, okName := r.text(n, "node")
	file, okFile := r.text(n, "facts_file")
	at, given, inline := n.Lookup("facts")
	if !okEnvironment || !okName || !okFile {
		return false
	}
	if inline == (file != "") {
		r.errorf(n, "expected either 'facts', a hash, or 'facts_file', a facts file")
		return false
	}
	var node facts.Node
	opts := bindings.FactsOptions{Environment: environment, Node: name}
	var err error
	if inline {
		if given.Kind != yaml.Mapping {
			r.errorf(given, "expected a hash whose keys are fact names for 'facts', found %s", given.Describe())
			return false
		}
		if key, v, has := given.Lookup("trusted"); has && v.Kind == yaml.Mapping {
			r.diags.Add(diag.Diagnostic{Pos: r.doc.Pos(key), Severity: diag.Warning, Code: Code,
				Message: "a fact called 'trusted' does not set $trusted",
				Hint:    "write {facts: {...}, trusted: {...}} into a file, and name it with 'facts_file'"})
		}
		node.Facts = bindings.Value(lookup.FromValue(given.Literal()))
	} else {
		at, _, _ = n.Lookup("facts_file")
		if node, err = r.nodeIn(r.resolve(file), name); err == nil && node.Name == name {
			opts.Node = ""
		}
	}
	if err == nil {
		e.facts, err = facts.Variables(node, opts)
	}
	if err != nil {
		r.errorf(at, "%v", err)
	}
	return err == nil
}

// nodeIn returns the node called name from the facts file at path.
func (r *reader) nodeIn(path, name string) (facts.Node, error) {
	src, err := r.disk.ReadFile(path)
	if err != nil {
		return facts.Node{}, err
	}
	nodes, err := facts.Parse(path, src)
	if err != nil {
		return facts.Node{}, err
	}
	return facts.Choose(nodes, name)
}
