package datafile

import (
	"strings"

	"bindc/diag"
	"bindc/internal/pattern"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// The directory ClassifiedDir of a site contains the classifier's output for each node. The files
// are named after the nodes' certnames.
const (
	ClassifiedDir = "enc"
	ClassifiedExt = ".yaml"
)

// ClassPrefix and the name of a class are the key of the entry that includes the class.
const ClassPrefix = recipe.ClassesKey + "/"

var (
	className     = pattern.Lazy(`^(::)?[a-z]\w*(::[a-z]\w*)*$`)
	parameterName = pattern.Lazy(`^[a-z_]\w*$`)
	variableName  = pattern.Lazy(`^(::)?[a-z_]\w*(::[a-z_]\w*)*$`)
)

var classifiedKeys = []string{"classes", "parameters", "environment"}

type classified struct {
	*scratch
	doc   *yaml.Document
	diags *diag.List
	seen  map[string]bool
	out   []Entry
}

// compileClassified compiles the output of an external node classifier. Strings in it are not
// interpolated.
func compileClassified(doc *yaml.Document, file string, s *scratch, pools *Pools, diags *diag.List) []Entry {
	switch {
	case doc.Root == nil:
		diags.Errorf(diag.Pos{File: file, Line: 1, Col: 1}, "enc",
			"expected a hash of %s, found nothing", diag.Quoted(classifiedKeys))
		return nil
	case doc.Root.Kind != yaml.Mapping:
		diags.Errorf(doc.Pos(doc.Root), "enc", "expected a hash of %s, found %s", diag.Quoted(classifiedKeys),
			doc.Root.Describe())
		return nil
	}
	for _, unknown := range doc.UnknownKeys(doc.Root, "enc", "key in the output of the classifier", classifiedKeys) {
		diags.Add(unknown)
	}
	c := classified{scratch: s, doc: doc, diags: diags, seen: map[string]bool{}}
	for key, val := range doc.Root.Pairs() {
		switch name, _ := key.Text(); name {
		case "classes":
			c.classes(val)
		case "parameters":
			c.variables(val)
		case "environment":
			c.environment(key, val)
		}
	}
	return s.number(c.out, pools)
}

// add adds an entry that binds name to v. It ignores names that are already bound.
func (c *classified) add(at *yaml.Node, name string, v value.Value) {
	if c.seen[name] {
		return
	}
	c.seen[name] = true
	c.out = append(c.out, Entry{Line: at.Line, Col: at.Col})
	c.keys.add(func(dst []byte) []byte { return append(dst, name...) })
	c.values.add(func(dst []byte) []byte { return recipe.AppendConstant(dst, v) })
}

func (c *classified) errorf(n *yaml.Node, format string, args ...any) {
	c.diags.Errorf(c.doc.Pos(n), "enc", format, args...)
}

// isNone reports whether n is null. A null means the same as no value.
func isNone(n *yaml.Node) bool { return n.Kind == yaml.Scalar && n.Value.IsUndef() }

func (c *classified) classes(n *yaml.Node) {
	switch {
	case isNone(n):
	case n.Kind == yaml.Sequence:
		for i := range n.Kids {
			c.class(&n.Kids[i])
		}
	case n.Kind == yaml.Mapping:
		for key, val := range n.Pairs() {
			if class, ok := c.class(key); ok {
				c.parameters(class, val)
			}
		}
	default:
		c.errorf(n, "expected a list of classes, or a hash of classes to their parameters, found %s", n.Describe())
	}
}

// class adds an entry that includes the class named by n, and returns the name of the class.
func (c *classified) class(n *yaml.Node) (string, bool) {
	name, ok := n.Text()
	if !ok || !className().MatchString(name) {
		c.errorf(n, "expected a class name, such as ntp::server, found %s", n.Describe())
		return "", false
	}
	name = strings.TrimPrefix(name, "::")
	c.add(n, ClassPrefix+name, value.FromBool(true))
	return name, true
}

func (c *classified) parameters(class string, n *yaml.Node) {
	if isNone(n) {
		return
	}
	if n.Kind != yaml.Mapping {
		c.errorf(n, "expected the parameters of the class %s as a hash, found %s", class, n.Describe())
		return
	}
	for key, val := range n.Pairs() {
		name, ok := key.Text()
		if !ok || !parameterName().MatchString(name) {
			c.errorf(key, "expected a parameter name for the class %s, found %s", class, key.Describe())
			continue
		}
		c.add(key, class+"::"+name, val.Literal())
	}
}

// variables adds entries for the top-scope variables. An invalid name is only a warning, because
// classifiers accept any name.
func (c *classified) variables(n *yaml.Node) {
	if isNone(n) {
		return
	}
	if n.Kind != yaml.Mapping {
		c.errorf(n, "expected a hash of variables for 'parameters', found %s", n.Describe())
		return
	}
	for key, val := range n.Pairs() {
		name, ok := key.Text()
		if !ok || !variableName().MatchString(name) {
			c.diags.Add(diag.Diagnostic{Pos: c.doc.Pos(key), Severity: diag.Warning, Code: "enc",
				Message: "expected a variable name, found " + key.Describe() + ": it is ignored"})
			continue
		}
		c.add(key, recipe.VariableKeys+strings.TrimPrefix(name, "::"), val.Literal())
	}
}

func (c *classified) environment(key, n *yaml.Node) {
	if isNone(n) {
		return
	}
	if name, ok := n.Text(); !ok || name == "" {
		c.errorf(n, "expected an environment name, found %s", n.Describe())
		return
	}
	c.add(key, recipe.EnvironmentKey, n.Literal())
}
