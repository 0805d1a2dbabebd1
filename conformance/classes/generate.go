// Package classes generates random sites with data for class parameters, and asks Puppet which
// errors occur when nodes declare the classes.
package classes

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Site is a Hiera 5 site with one module. Each class has a single parameter, p.
type Site struct {
	Files   map[string]string // from the path to the content
	Classes []string
}

// Roles lists the values of the fact role. A node with the role "" does not have the fact. Each
// other role has a data file.
var Roles = []string{"", "a", "b"}

type generator struct {
	*rand.Rand
	aliases []string
	types   map[string]typ      // types of the aliases, by alias name
	data    map[string][]string // lines of data files, by path
	options map[string][]string // lines of lookup_options, by path
	places  *rand.Rand          // chooses the files for lookup_options
}

// Generate returns a random site with n classes. Equal seeds give equal sites.
func Generate(seed uint64, n int) *Site {
	g := generator{Rand: rand.New(rand.NewPCG(seed, 29)), data: map[string][]string{},
		types: map[string]typ{}, options: map[string][]string{}, places: rand.New(rand.NewPCG(seed, 30))}
	s := &Site{Files: map[string]string{
		"hiera.yaml": "version: 5\ndefaults: {datadir: data, data_hash: yaml_data}\nhierarchy:\n" +
			"  - {name: role, path: 'role/%{facts.role}.yaml'}\n  - {name: common, path: common.yaml}\n",
	}}
	for i := range 4 {
		name := fmt.Sprintf("M::A%d", i)
		t := g.alias(name)
		s.Files[fmt.Sprintf("modules/m/types/a%d.pp", i)] = "# An alias\ntype " + name + " = " + t.text + "\n"
		g.aliases = append(g.aliases, name)
		g.types[name] = t
	}
	g.common("m::text: \"x y\"\nm::number: 7\nm::list: [a, b]\nm::hash: {a: 1}")
	var included strings.Builder
	for i := range n {
		class := fmt.Sprintf("m::c%d", i)
		s.Classes = append(s.Classes, class)
		t := g.typ(3)
		s.Files[fmt.Sprintf("modules/m/manifests/c%d.pp", i)] = g.class(class, t)
		g.bind(class+"::p", t)
		included.WriteString("  include " + class + "\n")
	}
	s.Files["manifests/site.pp"] = "node 'none' {\n" + included.String() + "}\nnode default { }\n"
	for path, lines := range g.options {
		g.data[path] = append(g.data[path], "lookup_options:\n  "+strings.Join(lines, "\n  "))
	}
	for path, lines := range g.data {
		s.Files[path] = strings.Join(lines, "\n") + "\n"
	}
	return s
}

func (g *generator) common(line string) {
	g.data["data/common.yaml"] = append(g.data["data/common.yaml"], line)
}

func (g *generator) often(percent int) bool { return g.IntN(100) < percent }

// class returns the manifest of a class with a parameter of type t. If the parameter has a default,
// the default is of type t.
func (g *generator) class(name string, t typ) string {
	layout := []string{"class %s (\n  %s $p%s,\n) { }\n", "class %s(%s $p%s) {\n  class { 'x': }\n}\n",
		"# class m::no ($x) { }\nclass %s ( # comment, with ( and ,\n  %s\n  $p%s # )\n) inherits m::params { }\n"}[g.IntN(3)]
	layout = strings.Replace(strings.Replace(layout, " inherits m::params", "", 1), "  class { 'x': }\n", "", 1)
	defaultValue := ""
	if v, ok := t.value(g, 3); ok && g.often(40) {
		defaultValue = " = " + v.puppet()
	}
	return fmt.Sprintf(layout, name, t.text, defaultValue)
}

// bind adds values of type t for a key to some data files, and sometimes lookup_options for it.
func (g *generator) bind(key string, t typ) {
	bound := false
	for _, path := range []string{"data/common.yaml", "data/role/a.yaml", "data/role/b.yaml"} {
		if g.often(60) || path == "data/role/b.yaml" && !bound {
			g.data[path] = append(g.data[path], key+": "+g.written(t))
			bound = true
		}
	}
	if g.often(25) {
		path := "data/common.yaml"
		if g.places.IntN(100) < 30 {
			path = "data/role/a.yaml"
		}
		g.options[path] = append(g.options[path], key+": "+g.option())
	}
}

func (g *generator) option() string {
	merges := []string{"unique", "hash", "deep", "first", "{strategy: deep, merge_hash_arrays: true}"}
	convert := []string{"Sensitive", "Integer", "String", "Array", "Boolean", "Float", "Timestamp",
		"'Sensitive[String]'",
		"[Integer, 16]", "[Array, true]", "SemVer", "Numeric", "'M::A0'", "Hash", "'Optional[Integer]'", "URI"}
	switch g.IntN(3) {
	case 0:
		return "{merge: " + merges[g.IntN(len(merges))] + "}"
	case 1:
		return "{convert_to: " + convert[g.IntN(len(convert))] + "}"
	}
	return "{merge: " + merges[g.IntN(len(merges))] + ", convert_to: " + convert[g.IntN(len(convert))] + "}"
}

// written returns a value for a parameter of type t, as YAML. Some of the values are not of that
// type.
func (g *generator) written(t typ) string {
	switch {
	case g.often(4):
		texts := []string{"'%{facts.role}'", "'a%{facts.other}'", "\"%{lookup('m::text')}\"",
			"\"%{alias('m::number')}\"",
			"\"%{alias('m::list')}\"", "\"%{alias('m::hash')}\"", "\"%{lookup('m::number')}\"", "['%{facts.role}']",
			"{a: '%{facts.role}'}", "[\"%{alias('m::number')}\"]", "'%{literal(\"%\")}'"}
		return texts[g.IntN(len(texts))]
	case g.often(3):
		return "~"
	}
	v, ok := t.value(g, 3)
	if !ok || g.often(10) {
		v = g.anything(3)
	}
	if g.often(35) {
		v = g.mutated(v)
	}
	return v.yaml()
}
