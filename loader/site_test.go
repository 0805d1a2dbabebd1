//go:build unix

package loader_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"bindc/diag"
	"bindc/internal/fsx"
	"bindc/loader"
)

// reportsOf returns the diagnostics of a site, each as "place severity code", followed by the places of its notes and
// its hint.
func reportsOf(dir string, diags *diag.List) []string {
	place := func(p diag.Pos) string {
		rel, _ := filepath.Rel(dir, p.File)
		return diag.Pos{File: filepath.ToSlash(rel), Line: p.Line, Col: p.Col}.String()
	}
	var out []string
	for _, d := range diags.Sorted() {
		line := fmt.Sprintf("%s %v %s", place(d.Pos), d.Severity, d.Code)
		for _, n := range d.Notes {
			line += " (" + place(n.Pos) + ")"
		}
		if d.Hint != "" {
			line += "; " + d.Hint
		}
		out = append(out, line)
	}
	return out
}

// contentsOf lists what a site binds, by layer and URI: for each data file its path, condition and number of entries,
// and for each binding its key and conditions.
func contentsOf(dir string, site *loader.Site) []string {
	var out []string
	for _, layer := range site.Layers {
		for _, c := range layer.Contributions {
			line := strings.TrimSpace(layer.Name+" "+c.URI) + ":"
			for _, f := range c.Files {
				rel, _ := filepath.Rel(dir, f.Path)
				line += fmt.Sprintf(" %s%s %d", filepath.ToSlash(rel), terms(site, f.Condition), len(f.Entries))
				if f.Hidden {
					line += " hidden"
				}
			}
			for _, b := range c.Bindings {
				line += " " + b.Key
				for _, when := range b.When {
					line += terms(site, when)
				}
			}
			out = append(out, line)
		}
	}
	return out
}

// configured returns files and a configuration with one layer, l, that includes uris.
func configured(uris string, files map[string]string) map[string]string {
	out := map[string]string{"binder_config.yaml": "version: 1\nlayers:\n- {name: l, include: [" + uris + "]}\n"}
	for name, text := range files {
		out[name] = text
	}
	return out
}

// set returns the text of a bindings file for the set name, which binds the key k.
func set(name string) string {
	return "{bindings_version: 1, name: '" + name + "', bind: [[k, 1]]}"
}

const (
	entryForm  = "; write all three, such as [osfamily, '${osfamily}', 'data/osfamily/${osfamily}']"
	unclosed   = "; close it with }, or write \\${ for the text ${"
	addEntry   = "add an entry with its path to the hierarchy in hiera.yaml, or rename the file"
	passedOver = "to compile its data, write it as version 5 or 2; if another Hiera reads it, exclude " +
		"'confdir-hiera:/' from the layer that includes it"
	ofHiera3 = "to compile its data, build with '--global-hiera FILE', or write it as version 5; if only another Hiera " +
		"reads it, exclude 'confdir-hiera:/' from the layer that includes it"
	includeHiera5 = "include 'hiera:/' in a separate layer; if only Puppet should read its data, exclude " +
		"'confdir-hiera:/' and 'hiera:/'"
	includeModule = "include 'module-hiera5:/m' in a separate layer, or add it to another layer's 'exclude' to ignore it"

	addHiera = "write one; with only 'version: 2', it reads data/osfamily/${osfamily} and data/common"
)

func include(uri string) string {
	return "include '" + uri + "' in a layer of the site, or add it to the layer's 'exclude' to ignore it"
}

func hiera5(module string) string {
	return "include 'module-hiera5:/" + module + "' in a separate layer, or add it to another layer's 'exclude' to ignore it"
}

// Sites, given by their files and links, with the expected diagnostics and contents.
var sites = []struct {
	name     string
	files    map[string]string
	reported []string
	contents []string
}{
	{"empty directory", nil, []string{". error site"}, nil},
	{"file that is not part of a site", map[string]string{"x.yaml": "a: 1"}, []string{". error site"}, nil},
	{"hiera.yaml that is a link to itself", map[string]string{"hiera.yaml": "-> hiera.yaml"},
		[]string{"hiera.yaml error read"}, nil},
	{"default hierarchy of Hiera 2", map[string]string{"hiera.yaml": "version: 2", "data/common.yaml": "{a: 1, b: 2}",
		"data/osfamily/Debian.json": `{"a": 3}`, "data/other.yaml": "a: 1"},
		[]string{"data/other.yaml warning data_unreached; " + addEntry},
		[]string{"site confdir-hiera:/: data/osfamily/Debian.json [osfamily debian] 1 data/common.yaml 2"}},
	{"default hierarchy without the category osfamily",
		map[string]string{"binder_config.yaml": "{version: 1, categories: []}",
			"hiera.yaml": "version: 2", "data/common.yaml": "a: 1", "data/osfamily/Debian.json": `{"a": 3}`},
		[]string{"data/osfamily/Debian.json warning data_unreached; " + addEntry},
		[]string{"site confdir-hiera:/: data/common.yaml 1"}},
	{"empty data file", map[string]string{"hiera.yaml": "version: 2", "data/common.yaml": "{}"}, nil,
		[]string{"site confdir-hiera:/:"}},
	{"YAML in a JSON file", map[string]string{"hiera.yaml": "version: 2", "data/common.json": "a: 1"},
		[]string{"data/common.json:1:1 error json_syntax"}, []string{"site confdir-hiera:/:"}},
	{"data in .yml files is not read", map[string]string{"hiera.yaml": "version: 2", "data/common.yml": "a: 1",
		"data/other.yml": "a: 1", "data/osfamily/Debian.yml/x": ""},
		[]string{"data/common.yml warning yml; rename it to common.yaml",
			"data/other.yml warning data_unreached; " + addEntry}, []string{"site confdir-hiera:/:"}},
	{"data file that is a dangling link", map[string]string{
		"hiera.yaml": "version: 2", "data/common.yaml": "-> nowhere", "data/x": ""},
		[]string{"data/common.yaml error read"}, []string{"site confdir-hiera:/:"}},
	{"data file outside its directory",
		map[string]string{"modules/m/hiera.yaml": "version: 2", "data/common.yaml": "a: 1",
			"modules/m/data/common.yaml": "-> ../../../data/common.yaml", "modules/m/data/x": ""},
		[]string{"data warning data_unreached; " + addHiera, "modules/m/data/common.yaml error data_path"},
		[]string{"modules module-hiera:/m:"}},
	{"data files that differ only in case", map[string]string{"hiera.yaml": "version: 2",
		"data/osfamily/Debian.yaml": "a: 1", "data/osfamily/debian.json": `{"a": 1}`},
		[]string{"data/osfamily/debian.json error data_path (data/osfamily/Debian.yaml); merge them into one"},
		[]string{"site confdir-hiera:/: data/osfamily/Debian.yaml [osfamily debian] 1"}},
	{"YAML and JSON for one path", map[string]string{"hiera.yaml": "version: 2",
		"data/common.yaml": "{a: 1, b: 2}", "data/common.json": `{"a": 1, "c": 1}`}, nil,
		[]string{"site confdir-hiera:/: data/common.yaml 2 data/common.json 1 data/common.json 1 hidden"}},
	{"files that match a path in several ways", map[string]string{
		"hiera.yaml": "version: 2\nhierarchy: [[common, 'true', 'd/${a}-${b}']]\n",
		"d/p-q.yaml": "a: 1", "d/x-y-z.yaml": "a: 1"}, nil,
		[]string{`site confdir-hiera:/: d/p-q.yaml ["d/${a}-${b}" d/p-q] 1 d/x-y-z.yaml ["d/${a}-${b}" d/x-y-z] 1`}},
	{"directory that matches a path does not count", map[string]string{
		"hiera.yaml": "version: 2\nhierarchy: [[common, 'true', 'd/${osfamily}-${domain}']]\n",
		"d/p-q.yaml": "a: 1", "d/x-y-z/f": ""}, nil,
		[]string{`site confdir-hiera:/: d/p-q.yaml ["${osfamily}" p] ["${domain}" q] 1`}},

	{"bindings file that is a list", map[string]string{"bindings/default.yaml": "[[k, 1]]"},
		[]string{"bindings/default.yaml:1:1 error bindings"}, []string{"site confdir:/default:"}},
	{"bindings file without a version", map[string]string{"bindings/default.yaml": "{name: default, bind: [[k, 1]]}"},
		[]string{"bindings/default.yaml:1:1 error version"}, []string{"site confdir:/default:"}},
	{"bindings file of another version", map[string]string{
		"bindings/default.yaml": "{bindings_version: 2, name: default, bind: [[k, 1]]}"},
		[]string{"bindings/default.yaml:1:20 error version"}, []string{"site confdir:/default:"}},
	{"bindings file without a name",
		map[string]string{"bindings/default.yaml": "{bindings_version: 1, bind: [[k, 1]]}"},
		[]string{"bindings/default.yaml:1:1 error bindings"}, []string{"site confdir:/default: k"}},
	{"bindings file with a null name", map[string]string{
		"bindings/default.yaml": "{bindings_version: 1, name: ~, bind: [[k, 1]]}"},
		[]string{"bindings/default.yaml:1:29 error bindings"}, []string{"site confdir:/default: k"}},
	{"bindings in Puppet syntax with an invalid name", map[string]string{
		"bindings/default.pp": "bindings 1 { bind 'k' to 1 }"},
		[]string{"bindings/default.pp:1:10 error syntax"}, []string{"site confdir:/default: k"}},
	{"bindings with a name that differs from the path", map[string]string{"bindings/default.yaml": set("other")},
		[]string{"bindings/default.yaml:1:29 error bindings"}, []string{"site confdir:/default: k"}},

	{"wildcards include sites, modules and links",
		configured("'confdir:/**', 'confdir:/a', 'module:/*::default', 'module-hiera:/*/h'",
			map[string]string{
				"bindings/b.yaml": set("b"), "bindings/a.yaml": set("a"), "bindings/a/b.yaml": set("a::b"),
				"bindings/a.txt": "", "modules/m/bindings/default.yaml": set("m::default"),
				"modules/m/bindings/other.yaml": set("m::other"), "modules/Capital/bindings/default.yaml": "",
				"modules/a_file": "", "modules/linked": "-> ../elsewhere",
				"elsewhere/bindings/default.yaml": set("linked::default"), "modules/m/h/hiera.yaml": "version: 2",
				"modules/m/hiera.yaml": "version: 2", "modules/m/h/data/x": ""}),
		[]string{"modules/m/hiera.yaml warning not_included; " + include("module-hiera:/m")},
		[]string{"l confdir:/a: k", "l confdir:/a::b: k", "l confdir:/b: k", "l module:/linked::default: k",
			"l module:/m::default: k", "l module-hiera:/m/h:"}},
	{"excluded URIs are not read", map[string]string{
		"binder_config.yaml": "{version: 1, layers: [{include: 'confdir:/*', exclude: ['confdir:/a', 'confdir:/c']}]}",
		"bindings/a.yaml":    "", "bindings/b.yaml": set("b"), "bindings/c.yaml": "", "bindings/d.yaml": set("d")}, nil,
		[]string{"confdir:/b: k", "confdir:/d: k"}},
	{"missing URIs are errors", configured("'confdir:/x',\n'module:/mm::x', 'module:/m::x', 'module-hiera:/mm',\n"+
		"'module-hiera:/m', 'confdir-hiera:/d'", map[string]string{"modules/m/x": ""}),
		[]string{"binder_config.yaml:3:23 error missing",
			"binder_config.yaml:4:1 error missing; did you mean 'm'?", "binder_config.yaml:4:18 error missing",
			"binder_config.yaml:4:34 error missing; did you mean 'm'?",
			"binder_config.yaml:5:1 error missing", "binder_config.yaml:5:20 error missing"}, nil},
	{"optional URIs may be missing",
		configured("'confdir:/x?optional', 'module:/mm::x?optional', 'module:/m::x?optional',"+
			"'module-hiera:/mm?optional', 'module-hiera:/m?optional', 'confdir-hiera:/d?optional'",
			map[string]string{"modules/m/x": ""}), nil, nil},
	{"required URI wins over an optional one", configured("'confdir:/x?optional', 'confdir:/x', 'confdir:/y', "+
		"'confdir:/y?optional', 'module-hiera:/*', 'module-hiera:/m', 'module-hiera5:/*', 'module-hiera5:/m', "+
		"'confdir-hiera:/d?optional', 'confdir-hiera:/d/', 'enc:?optional', 'enc:/classes'",
		map[string]string{"modules/m/x": ""}),
		[]string{"binder_config.yaml:3:46 error missing", "binder_config.yaml:3:60 error missing",
			"binder_config.yaml:3:116 error missing", "binder_config.yaml:3:155 error missing",
			"binder_config.yaml:3:204 error missing", "binder_config.yaml:3:242 error missing"}, nil},
	{"hiera.yaml of version 3 in a wildcard and by name", configured("'module-hiera:/*', 'module-hiera:/m?optional'",
		map[string]string{"modules/m/hiera.yaml": "version: 3"}),
		[]string{"modules/m/hiera.yaml:1:10 error version"}, nil},
	{"exclusion wins over a missing required URI",
		map[string]string{"binder_config.yaml": "{version: 1, layers: [{name: l, " +
			"include: ['confdir:/nope?optional', 'confdir:/nope', 'confdir:/x'], exclude: 'confdir:/nope'}]}",
			"bindings/x.yaml": set("x")}, nil, []string{"l confdir:/x: k"}},
	{"hiera.yaml of version 3 that Puppet uses", configured("'confdir-hiera:/', 'module-hiera:/*'", map[string]string{
		"hiera.yaml": "version: 3", "modules/m/hiera.yaml": ":backends: [yaml]"}),
		[]string{"hiera.yaml:1:1 warning hiera_version; " + ofHiera3,
			"modules/m/hiera.yaml:1:1 note hiera_version"}, nil},
	{"hiera.yaml of another version that a layer names",
		configured("'confdir-hiera:/d', 'module-hiera:/m'", map[string]string{
			"d/hiera.yaml": "version: 5", "modules/m/hiera.yaml": "version: 3"}),
		[]string{"d/hiera.yaml:1:10 error version", "modules/m/hiera.yaml:1:10 error version"}, nil},
	{"bindings in Ruby that a layer names", configured("'module:/m::default', 'confdir:/r'", map[string]string{
		"modules/m/lib/puppet/bindings/m/default.rb": "", "lib/puppet/bindings/r.rb": ""}),
		[]string{"binder_config.yaml:3:23 error ruby", "binder_config.yaml:3:45 error ruby"}, nil},
	{"bindings in Ruby that a wildcard names", configured("'module:/*::default'", map[string]string{
		"modules/m/lib/puppet/bindings/m/default.rb": "", "modules/m/lib/puppet/bindings/n/default.rb": "",
		"modules/m/lib/puppet/bindings/m/other.rb": ""}),
		[]string{"modules/m/lib/puppet/bindings/m/default.rb warning ruby"}, nil},
	{"named bindings in both YAML and Ruby", configured("'module:/m::default'", map[string]string{
		"modules/m/lib/puppet/bindings/m/default.rb": "", "modules/m/bindings/default.yaml": set("m::default")}),
		[]string{"modules/m/bindings/default.yaml error ruby (modules/m/lib/puppet/bindings/m/default.rb); " +
			"remove the Ruby file: it is not supported"}, nil},

	{"invalid categories", map[string]string{"bindings/default.yaml": set("default"),
		"binder_config.yaml": "version: 1\ncategories:\n- [A, b]\n- [a, '${nope(1)}']\n- [b, \"${lookup('x')}\"]\n" +
			"- [c, \"${downcase('x')}\"]\n- [c, x]\n- [d, 'x$facts[os][\"family\"]y']\n- [e, '\\$facts[os]']\n" +
			"- [common, 'true']\n- [f, x]\n- g\n- [common, 'no']\n"},
		[]string{"binder_config.yaml:3:4 error category; write 'a'", "binder_config.yaml:4:10 error interpolation",
			"binder_config.yaml:5:10 error interpolation",
			"binder_config.yaml:7:4 error category (binder_config.yaml:6:4)",
			"binder_config.yaml:8:9 warning braces; write ${facts['os']['family']}",
			"binder_config.yaml:9:7 warning category; write \"${facts[os]}\"; '\\$' stands for a dollar sign",
			"binder_config.yaml:10:4 error category", "binder_config.yaml:12:3 error category; write [g, '${g}']",
			"binder_config.yaml:13:4 error category"},
		[]string{"site confdir:/default: k"}},
	{"invalid layers", map[string]string{"bindings/a.yaml": set("a"),
		"binder_config.yaml": "version: 1\nlayers:\n- x\n- {name: 1, include: 'confdir:/a'}\n" +
			"- {name: n, include: [1, 'confdir:/a']}\n- {name: n, includes: x}\n"},
		[]string{"binder_config.yaml:3:3 error layer", "binder_config.yaml:4:10 error layer",
			"binder_config.yaml:5:23 error uri", "binder_config.yaml:6:10 error layer (binder_config.yaml:5:10)",
			"binder_config.yaml:6:13 error layer; did you mean 'include'?"},
		[]string{"confdir:/a: k", "n confdir:/a: k"}},
	{"layers as a hash", map[string]string{"binder_config.yaml": "version: 1\nlayers: {name: a}"},
		[]string{"binder_config.yaml:2:9 error layer; write - {name: site, include: [URI, …]}"}, nil},
	{"invalid extensions", map[string]string{"binder_config.yaml": "version: 1\nlayers: []\nextensions:\n" +
		"  hiera_backend: {}\n  hiera_backends: [x]\n  scheme_handlers:\n    module: {command: [x]}\n" +
		"    1: {command: [x]}\n    a: {}\n    b: {command: x}\n    c: {command: []}\n    d: {command: [1]}\n" +
		"    e: {command: [x], y: z}\n" +
		"    f: {command: [x]}\n"},
		[]string{"binder_config.yaml:4:3 error extension; did you mean 'hiera_backends'?",
			"binder_config.yaml:5:19 error extension", "binder_config.yaml:7:5 error extension",
			"binder_config.yaml:8:5 error extension", "binder_config.yaml:9:8 error extension",
			"binder_config.yaml:10:8 error extension", "binder_config.yaml:11:8 error extension",
			"binder_config.yaml:12:8 error extension", "binder_config.yaml:13:8 error extension"}, nil},
	{"extensions as a list", map[string]string{"binder_config.yaml": "{version: 1, layers: [], extensions: [x]}"},
		[]string{"binder_config.yaml:1:38 error extension"}, nil},

	{"invalid entries of a hierarchy", map[string]string{"d/n.yaml": "a: 1", "c.yaml": "b: 1",
		"hiera.yaml": "version: 2\nhierarchy:\n- [nod, '${fqdn}', 'd/${fqdn}']\n- [node, '${fqdn']\n" +
			"- [node, '${', 'd/${fqdn}']\n- [node, '${fqdn}', '${']\n- [node, '${fqdn}', 'd/']\n" +
			"- [node, '${fqdn}', 'd/.']\n- [node, '${fqdn}', '../${fqdn}']\n- [node, '${fqdn}', 'd/${fqdn}']\n" +
			"- [node, '${fqdn}', 'd/${fqdn}']\n- [common, 'true', 'c']\n" +
			"- [osfamily, '${osfamily}', 'd/${osfamily}']\n"},
		[]string{"hiera.yaml:3:4 error category; did you mean 'node'?", "hiera.yaml:4:3 error hierarchy" + entryForm,
			"hiera.yaml:5:11 error interpolation" + unclosed, "hiera.yaml:6:22 error interpolation" + unclosed,
			"hiera.yaml:7:21 error data_path", "hiera.yaml:8:21 error data_path", "hiera.yaml:9:21 error data_path",
			"hiera.yaml:11:4 error hierarchy (hiera.yaml:10:4)", "hiera.yaml:13:4 error hierarchy (hiera.yaml:12:4)"},
		[]string{"site confdir-hiera:/: d/n.yaml [node n] 1 c.yaml 1"}},
	{"hiera.yaml with a word as version", map[string]string{"hiera.yaml": "version: two", "data/common.yaml": "a: 1"},
		[]string{"hiera.yaml:1:10 error version"}, nil},
	{"misspelt scheme", configured("'enx:/a'", nil),
		[]string{"binder_config.yaml:3:23 error uri; did you mean 'enc'?"}, nil},
	{"unreadable files of required URIs", configured("'module-hiera:/m', 'confdir:/x', 'confdir:/y'", map[string]string{
		"modules/m/hiera.yaml": "-> hiera.yaml", "modules/m/x": "", "bindings/x.yaml": "-> x.yaml",
		"bindings/z.yaml": "",
		"bindings/y.yaml": set("y"), "lib/puppet/bindings/y.rb": "-> y.rb", "lib/puppet/bindings/z": ""}),
		[]string{"bindings/x.yaml error read", "bindings/z.yaml warning not_included; " + include("confdir:/z"),
			"lib/puppet/bindings/y.rb error read",
			"modules/m/hiera.yaml error read"},
		nil},
	{"bindings in YAML and Ruby that a wildcard names", configured("'module:/*::default'", map[string]string{
		"modules/m/lib/puppet/bindings/m/default.rb": "", "modules/m/bindings/default.yaml": set("m::default")}),
		[]string{"modules/m/bindings/default.yaml error ruby (modules/m/lib/puppet/bindings/m/default.rb); " +
			"remove the Ruby file: it is not supported"}, nil},
	{"data in .yml files without the YAML backend", map[string]string{
		"hiera.yaml": "{version: 2, backends: [json]}", "data/common.yml": ""},
		[]string{"data/common.yml warning data_unreached; " + addEntry}, []string{"site confdir-hiera:/:"}},
	{"unknown backend", map[string]string{
		"hiera.yaml": "version: 2\nbackends: [yml, json]\n", "data/common.json": `{"a": 1}`},
		[]string{"hiera.yaml:2:12 error backend; did you mean 'yaml'?"},
		[]string{"site confdir-hiera:/: data/common.json 1"}},
	{"metadata files are not data", map[string]string{
		"hiera.yaml": "{version: 2, hierarchy: [[common, 'true', '${role}']]}", "metadata.json": `{"a": 1}`,
		"modules/m/metadata.json": `{"a": 1}`, "modules/m/x.yaml": "a: 1", "modules/linked": "-> ../n",
		"n/checksums.json": `{"a": 1}`}, nil,
		[]string{`site confdir-hiera:/: modules/m/x.yaml ["${role}" modules/m/x] 1`}},
	{"data directory that is a link out of the module", map[string]string{
		"modules/m/hiera.yaml": "{version: 2, hierarchy: [[common, 'true', 'd/${role}']]}",
		"modules/m/d/x":        "", "modules/m/d/out": "-> ../../../far", "far/a.yaml": "a: 1",
		"far/b.yaml": "-> ../modules/m/d/x",
		"far/more":   "-> ../further", "further/c.yaml": "a: 1", "far/d/e.yaml": "a: 1"},
		[]string{"modules/m/d/out/a.yaml error data_path", "modules/m/d/out/b.yaml error data_path",
			"modules/m/d/out/d/e.yaml error data_path", "modules/m/d/out/more/c.yaml error data_path"},
		[]string{"modules module-hiera:/m:"}},
	{"bindings that no layer includes", map[string]string{"bindings/default.yaml": set("default"),
		"bindings/a/b.yaml": "", "bindings/c.yml": "", "modules/m/bindings/offer.yaml": "", "modules/n/bindings/defaults.yaml": "",
		"modules/m/bindings/default.yml": "", "modules/m/bindings/offer.yml": ""},
		[]string{"bindings/a/b.yaml warning not_included; " + include("confdir:/a::b"),
			"bindings/c.yml warning yml; rename it to c.yaml",
			"modules/m/bindings/default.yml warning yml; rename it to default.yaml",
			"modules/n/bindings/defaults.yaml warning not_included; rename it to default.yaml; layers " +
				"include only 'default' from modules"},
		[]string{"site confdir:/default: k"}},
	{"hierarchies and bindings that no layer includes",
		configured("'confdir:/a'", map[string]string{"bindings/a.yaml": set("a"),
			"hiera.yaml": "version: 2", "modules/m/hiera.yaml": "version: 2", "modules/n/hiera.yaml": "version: 5",
			"modules/m/bindings/default.yaml": set("m::default"), "modules/n/bindings/other.yaml": "",
			"modules/o/hiera.yaml": "[", "modules/p/hiera.yaml": "version: 2\xff"}),
		[]string{"hiera.yaml warning not_included; " + include("confdir-hiera:/"),
			"modules/m/bindings/default.yaml warning not_included; " + include("module:/m::default"),
			"modules/m/hiera.yaml warning not_included; " + include("module-hiera:/m"),
			"modules/n/hiera.yaml warning not_included; " + hiera5("n")},
		[]string{"l confdir:/a: k"}},
	{"Hiera 5 modules that no layer includes",
		map[string]string{"bindings/a.yaml": set("a"), "binder_config.yaml": "version: 1\n" +
			"layers:\n- {name: l, include: 'confdir:/a', exclude: 'module-hiera5:/o'}\n- {name: h, include: 'hiera:/'}\n",
			"hiera.yaml": "version: 5", "modules/m/hiera5.yaml": "version: 5", "modules/n/hiera.yaml": "version: 5",
			"modules/o/hiera.yaml": "version: 5", "modules/p/hiera.yaml": "version: 5\nhierarchy:\n" +
				"- {name: all, lookup_key: 'bindc::lookup_key'}\n", "modules/q/hiera.yaml": "version: 3"},
		[]string{"modules/m/hiera5.yaml warning not_included; " + hiera5("m"),
			"modules/n/hiera.yaml warning not_included; " + hiera5("n")},
		[]string{"l confdir:/a: k"}},
	{"excluded files are not reported as unused",
		map[string]string{"binder_config.yaml": "{version: 1, layers: [{exclude: " +
			"['confdir-hiera:/', 'confdir:/a', 'confdir:/b', 'module-hiera:/*', 'module:/m::default']}]}",
			"data/common.yaml": "a: 1", "bindings/a.yaml": set("a"), "bindings/b.yml": "", "hiera.yml": "",
			"modules/m/hiera.yaml": "version: 2", "modules/m/bindings/default.yaml": set("m::default")},
		nil, nil},
	{"unused files are not reported next to invalid URIs and entries",
		map[string]string{"binder_config.yaml": "version: 1\nlayers:\n" +
			"- {include: ['confdr:/a', 'confdir-hiera:/']}\n", "bindings/a.yaml": set("a"),
			"hiera.yaml":       "version: 2\nhierarchy:\n- [comon, 'true', data/common]\n- [common, 'true', data/all]\n",
			"data/common.yaml": "a: 1", "data/all.yaml": "a: 1"},
		[]string{"binder_config.yaml:3:14 error uri; did you mean 'confdir'?",
			"hiera.yaml:3:4 error category; did you mean 'common'?"},
		[]string{"confdir-hiera:/: data/all.yaml 1"}},
	{"configuration files ending in .yml", map[string]string{"binder_config.yml": "", "hiera.yml": "",
		"modules/m/hiera.yml": "", "bindings/default.yaml": set("default")},
		[]string{"binder_config.yml warning yml; rename it to binder_config.yaml",
			"hiera.yml warning yml; rename it to hiera.yaml",
			"modules/m/hiera.yml warning yml; rename it to hiera.yaml"},
		[]string{"site confdir:/default: k"}},
	{"path with a redundant extension", map[string]string{"hiera.yaml": "version: 2\nhierarchy:\n" +
		"- [node, '${fqdn}', 'data/nodes/${fqdn}.yaml']\n- [osfamily, '${osfamily}', 'data/os/${osfamily}.json']\n" +
		"- [common, 'true', data/common.d]\n",
		"data/nodes/n.yaml": "a: 1", "data/os/b.json.yaml": "a: 1", "data/common.d.yaml": "a: 1"},
		[]string{"hiera.yaml:3:21 warning path_extension; leave '.yaml' out: each backend has its own"},
		[]string{"site confdir-hiera:/: data/os/b.json.yaml [osfamily b] 1 data/common.d.yaml 1"}},
	{"data in a subdirectory with its own hiera.yaml", map[string]string{
		"binder_config.yaml": "{version: 1, layers: [{include: 'confdir-hiera:/h'}]}", "data/common.yaml": "a: 1",
		"h/hiera.yaml":  "version: 2\nhierarchy:\n- [node, '${fqdn}', 'nodes/${fqdn}']\n- [common, 'true', common]\n",
		"h/common.yaml": "a: 1", "h/comon.yaml": "a: 1", "h/nodes/deep/n.yaml": "a: 1", "h/README.md": "",
		"h/.hidden.yaml": "", "h/out.yaml": "-> ../data/common.yaml"},
		[]string{"data warning data_unreached; " + addHiera, "h/comon.yaml warning data_unreached (h/hiera.yaml:4:20); " + addEntry,
			"h/nodes/deep/n.yaml warning data_unreached; " + addEntry},
		[]string{"confdir-hiera:/h: h/common.yaml 1"}},
	{"data for an extension is not reported as unused",
		map[string]string{"binder_config.yaml": "{version: 1, extensions: {hiera_backends: " +
			"{x: {command: [x]}}}}", "hiera.yaml": "{version: 2, hierarchy: [], backends: [yaml, x]}",
			"data/y.yaml": "a: 1"},
		nil, []string{"site confdir-hiera:/:"}},
	{"unused link to itself is ignored", map[string]string{"hiera.yaml": "version: 2",
		"data/common.yaml": "a: 1", "data/other.yaml": "-> other.yaml"}, nil,
		[]string{"site confdir-hiera:/: data/common.yaml 1"}},
	{"unused file that nearly matches an entry", map[string]string{"hiera.yaml": "version: 2\nhierarchy:\n" +
		"- [node, '${fqdn}', 'data/node/of-${fqdn}']\n", "data/nodes/of-a.yaml": "a: 1", "data/node/of-b.yaml": "b: 1"},
		[]string{"data/nodes/of-a.yaml warning data_unreached (hiera.yaml:3:21); " + addEntry},
		[]string{"site confdir-hiera:/: data/node/of-b.yaml [node b] 1"}},
	{"data without a hiera.yaml", map[string]string{"data/nodes/a.yaml": "a: 1"},
		[]string{"data warning data_unreached; " + addHiera}, nil},
	{"hierarchy entries without quotes", map[string]string{"hiera.yaml": "version: 2\nhierarchy:\n" +
		"- [common, true, c]\n- {common: true}\n- [common, 1, c]\n- true\n"},
		[]string{"hiera.yaml:3:3 error hierarchy; put strings in quotes: 'true'",
			"hiera.yaml:4:3 error hierarchy; hashes are entries of Hiera 5: write 'version: 5', or write lists",
			"hiera.yaml:5:3 error hierarchy", "hiera.yaml:6:3 error hierarchy"},
		[]string{"site confdir-hiera:/:"}},
	{"backends as a string", map[string]string{"hiera.yaml": "{version: 2, backends: json}",
		"modules/m/hiera.yaml": "{version: 2, backends: eyaml}", "modules/n/hiera.yaml": "{version: 2, backends: 1}"},
		[]string{"hiera.yaml:1:24 error backend; write backends: [json]", "modules/m/hiera.yaml:1:24 error backend; " +
			"write [yaml]: lookups decrypt encrypted values in any data file if bindq gets the key " +
			"with --eyaml-key",
			"modules/n/hiera.yaml:1:24 error backend"},
		[]string{"site confdir-hiera:/:", "modules module-hiera:/m:", "modules module-hiera:/n:"}},
	{"hiera2.yaml next to each kind of hiera.yaml",
		map[string]string{"hiera2.yaml": "version: 2", "hiera.yaml": "version: 3",
			"data/common.yaml": "a: 1", "modules/m/hiera2.yaml": "version: 2", "modules/m/hiera.yaml": "version: 2",
			"modules/m/data/x": "", "modules/n/hiera2.yaml": "version: 2", "modules/n/hiera.yaml": "version: two",
			"modules/n/data/x": "", "modules/o/hiera2.yaml": "version: 2", "modules/o/hiera.yaml": ":backends: yaml",
			"modules/o/data/x": "", "modules/p/hiera2.yaml": "version: 2", "modules/p/hiera.yaml": "[version, 2]",
			"modules/p/data/x": "", "modules/q/hiera2.yaml": "version: 2", "modules/q/hiera.yaml": "",
			"modules/q/data/x": ""},
		[]string{"modules/m/hiera.yaml:1:10 error hiera (modules/m/hiera2.yaml); remove this one: next to hiera2.yaml, " +
			"a hiera.yaml is only for Puppet"},
		[]string{"site confdir-hiera:/: data/common.yaml 1", "modules module-hiera:/m:", "modules module-hiera:/n:",
			"modules module-hiera:/o:", "modules module-hiera:/p:", "modules module-hiera:/q:"}},
	{"hiera2.yaml next to a hiera.yaml with a syntax error",
		map[string]string{"hiera2.yaml": "version: 2", "hiera.yaml": "[",
			"data/common.yaml": "a: 1"}, []string{"hiera.yaml:1:2 error yaml_syntax"},
		[]string{"site confdir-hiera:/: data/common.yaml 1"}},
	{"bindings in both YAML and Puppet syntax", configured("'confdir:/a', 'module:/m::default'",
		map[string]string{"bindings/a.yaml": set("a"), "bindings/a.pp": "bindings a { }",
			"modules/m/bindings/default.pp": "bindings default { bind 'k' to 1 }"}),
		[]string{"bindings/a.yaml error twice (bindings/a.pp); remove one of the two"},
		[]string{"l module:/m::default: k"}},
	{"unreadable bindings in Puppet syntax", configured("'confdir:/a'",
		map[string]string{"bindings/a.pp": "-> a.pp", "bindings/x": ""}), []string{"bindings/a.pp error read"}, nil},
	{"names of bindings in Puppet syntax", configured("'confdir:/a::b', 'module:/m::b', 'module:/m::c'",
		map[string]string{"bindings/a/b.pp": "bindings b { }", "modules/m/bindings/b.pp": "bindings m::b { }",
			"modules/m/bindings/c.yaml": set("c")}),
		[]string{"bindings/a/b.pp:1:10 error bindings", "modules/m/bindings/c.yaml:1:29 error bindings"},
		[]string{"l confdir:/a::b:", "l module:/m::b:", "l module:/m::c: k"}},
	{"unused sets of a module are optional",
		configured("'module:/m::offer'", map[string]string{"modules/m/bindings/offer.yaml": set("m::offer"),
			"modules/m/bindings/default.yaml": "", "modules/m/bindings/more.yaml": "", "modules/n/bindings/more.yaml": ""}),
		nil, []string{"l module:/m::offer: k"}},
	{".yml files next to .yaml files are ignored", map[string]string{"binder_config.yaml": "{version: 1, layers: []}",
		"binder_config.yml": "", "bindings/a.yaml": "", "bindings/a.yml": ""},
		[]string{"bindings/a.yaml warning not_included; " + include("confdir:/a")}, nil},
	{"module that is a file or has an invalid name", configured("'module:/ntpp::x', 'module:/bad-name::x'",
		map[string]string{"modules/ntp": "", "modules/bad-name/bindings/x.yaml": set("x")}),
		[]string{"binder_config.yaml:3:23 error missing", "binder_config.yaml:3:42 error missing"}, nil},
	{"Hiera 2 with a module of Hiera 5", map[string]string{"hiera.yaml": "version: 2", "data/common.yaml": "a: 1",
		"modules/m/hiera.yaml": "version: 5", "modules/m/data/common.yaml": "m::a: 1"},
		[]string{"modules/m/hiera.yaml:1:1 warning hiera_version; " + includeModule},
		[]string{"site confdir-hiera:/: data/common.yaml 1"}},
	{"hiera.yaml with invalid UTF-8", map[string]string{"hiera.yaml": "version: 5\xff"},
		[]string{"hiera.yaml:1:11 error yaml_utf8; save the file as UTF-8"}, nil},
	{"Hiera 5 that a layer reads as Hiera 2", configured("'confdir-hiera:/'", map[string]string{
		"hiera.yaml": "version: 5", "data/common.yaml": "a: 1"}),
		[]string{"hiera.yaml:1:1 error hiera_version; " + includeHiera5}, nil},
	{"Hiera 5 that an optional URI reads as Hiera 2", configured("'confdir-hiera:/?optional'", map[string]string{
		"hiera.yaml": "{version: 5, hierarchy: [{name: A, path: a.yaml}]}"}),
		[]string{"hiera.yaml:1:1 error hiera_version; " + includeHiera5}, nil},
	{"hiera.yaml of version 4 that a layer reads as Hiera 2", configured("'confdir-hiera:/'", map[string]string{
		"hiera.yaml": "version: 4"}), []string{"hiera.yaml:1:1 error hiera_version; " + includeHiera5}, nil},
	{"hiera.yaml without a version in a site with layers", configured("'confdir-hiera:/'", map[string]string{
		"hiera.yaml": "hierarchy: [{name: A, path: a.yaml}]"}),
		[]string{"hiera.yaml:1:1 error hiera_version; begin it with 'version: 5', and include 'hiera:/' in a separate layer"},
		nil},
	{"Hiera 5 that a layer excludes", map[string]string{"binder_config.yaml": "{version: 1, layers: [{name: l, " +
		"include: ['confdir-hiera:/', 'confdir:/x'], exclude: 'confdir-hiera:/'}]}", "hiera.yaml": "version: 5",
		"bindings/x.yaml": set("x")}, []string{"hiera.yaml warning not_included; include 'hiera:/' in a separate layer, " +
		"or add it to another layer's 'exclude' to ignore it"}, []string{"l confdir:/x: k"}},
	{"Hiera 5 that a layer excludes as Hiera 5 and as Hiera 2",
		map[string]string{"binder_config.yaml": "{version: 1, layers: " +
			"[{name: l, include: 'confdir:/x', exclude: ['confdir-hiera:/', 'hiera:/']}]}", "hiera.yaml": "version: 5",
			"bindings/x.yaml": set("x")}, nil, []string{"l confdir:/x: k"}},
	{"Hiera 5 module that a layer excludes", map[string]string{"binder_config.yaml": "{version: 1, layers: " +
		"[{name: l, include: 'module-hiera:/*'}, {name: m, include: 'confdir:/x', exclude: 'module-hiera5:/m'}]}",
		"modules/m/hiera.yaml": "version: 5", "bindings/x.yaml": set("x")}, nil, []string{"m confdir:/x: k"}},
	{"Hiera 5 that another layer reads", map[string]string{"binder_config.yaml": "{version: 1, layers: [{name: l, " +
		"include: 'confdir-hiera:/'}, {name: h, include: 'hiera:/'}]}", "hiera.yaml": "version: 5",
		"data/common.yaml": "a: 1"}, nil, []string{"environment: Common hiera:/: data/common.yaml 1"}},
	{"hiera.yaml with only bindc::lookup_key is left to Puppet", configured("'confdir-hiera:/?optional', 'confdir:/x'",
		map[string]string{"bindings/x.yaml": set("x"), "hiera.yaml": "{version: 5, hierarchy: [" +
			"{name: A, lookup_key: 'bindc::lookup_key'}, {name: B, lookup_key: 'bindc::lookup_key'}]}"}),
		nil, []string{"l confdir:/x: k"}},
	{"hiera.yaml with only bindc::lookup_key that a layer requires", configured("'confdir-hiera:/', 'confdir:/x'",
		map[string]string{"bindings/x.yaml": set("x"), "hiera.yaml": "{version: 5, " +
			"defaults: {lookup_key: 'bindc::lookup_key'}, hierarchy: [{name: A}]}"}),
		[]string{"hiera.yaml:1:1 warning hiera_version; " +
			"add '?optional' to 'confdir-hiera:/', or write the hierarchy of the snapshot to hiera2.yaml"},
		[]string{"l confdir:/x: k"}},
	{"hiera.yaml with bindc::lookup_key and data", configured("'confdir-hiera:/?optional'", map[string]string{
		"hiera.yaml": "{version: 5, defaults: {lookup_key: 'bindc::lookup_key'}, " +
			"hierarchy: [{name: A}, {name: B, data_hash: yaml_data, path: a.yaml}]}"}),
		[]string{"hiera.yaml:1:1 error hiera_version; " + includeHiera5}, nil},
	{"Hiera 2 hierarchy without a version", map[string]string{"hiera.yaml": "hierarchy: [[common, 'true', c]]",
		"modules/m/hiera.yaml": "hierarchy: [common]"},
		[]string{"hiera.yaml:1:1 error version", "modules/m/hiera.yaml:1:1 note hiera_version"}, nil},
	{"modules with Hiera 5 and with Hiera 2", map[string]string{"modules/m/hiera.yaml": "version: 5",
		"modules/m/data/common.yaml": "m::a: 1", "modules/n/hiera.yaml": "version: 2", "modules/n/data/common.yaml": "n: 1"},
		[]string{"modules/m/hiera.yaml:1:1 warning hiera_version; " + includeModule},
		[]string{"modules module-hiera:/n: modules/n/data/common.yaml 1"}},
	{"data directory that is a link to itself", map[string]string{"hiera.yaml": "version: 2", "data": "-> data"},
		[]string{"data error read", "data/osfamily error read"}, []string{"site confdir-hiera:/:"}},
	{"included set with a name close to 'default'", configured("'module:/m::defaults'", map[string]string{
		"modules/m/bindings/defaults.yaml": set("m::defaults")}), nil, []string{"l module:/m::defaults: k"}},
	{"Hiera 5 without a version", map[string]string{"hiera.yaml": "hierarchy: [{name: A, path: a.yaml}]"},
		[]string{"hiera.yaml:1:1 warning hiera_version; begin it with 'version: 5'"}, nil},
	{"Hiera 5 with defaults and without a version", map[string]string{"hiera.yaml": "defaults: {datadir: d}"},
		[]string{"hiera.yaml:1:1 warning hiera_version; begin it with 'version: 5'"}, nil},
	{"hiera.yaml without a version or hierarchy", map[string]string{"hiera.yaml": "datadir: d"},
		[]string{"hiera.yaml:1:1 warning hiera_version; " + passedOver}, nil},
	{"hierarchy of strings without a version", map[string]string{"hiera.yaml": "hierarchy: [common]"},
		[]string{"hiera.yaml:1:1 warning hiera_version; " + passedOver}, nil},
	{"version 3 with entries of Hiera 5", map[string]string{
		"hiera.yaml": "{version: 3, defaults: {datadir: d}, hierarchy: [{name: A, path: a.yaml}]}"},
		[]string{"hiera.yaml:1:1 warning hiera_version; " + ofHiera3}, nil},
	{"Hiera 3 without a version", map[string]string{"hiera.yaml": "{':backends': [yaml], ':hierarchy': [common]}"},
		[]string{"hiera.yaml:1:1 warning hiera_version; " + ofHiera3}, nil},
	{"Hiera 5 without a version, in a subdirectory and in a module", configured("'confdir-hiera:/d', 'module-hiera:/*'",
		map[string]string{"d/hiera.yaml": "defaults: {datadir: d}", "modules/m/hiera.yaml": "defaults: {datadir: d}"}),
		[]string{"d/hiera.yaml:1:1 error version", "modules/m/hiera.yaml:1:1 note hiera_version"}, nil},
	{"hiera2.yaml without a hiera.yaml",
		map[string]string{"hiera2.yaml": "version: 2", "data/common.yaml": "a: 1"}, nil,
		[]string{"site confdir-hiera:/: data/common.yaml 1"}},
	{"path that contains the value of common", map[string]string{
		"hiera.yaml": "version: 2\nhierarchy: [[common, 'true', 'd/true']]", "d/true.yaml": "a: 1"}, nil,
		[]string{"site confdir-hiera:/: d/true.yaml 1"}},
	{"hiera.yaml that is a list", map[string]string{"hiera.yaml": "[version, 2]", "data/common.yaml": "a: 1"},
		[]string{"hiera.yaml:1:1 error hiera"}, nil},
	{"** does not follow links and finds both syntaxes", configured("'confdir:/**'", map[string]string{
		"bindings/b.yaml": set("b"), "bindings/a.pp": "bindings a { bind 'k' to 1 }", "bindings/linked": "-> ../other",
		"other/x.yaml": set("linked::x")}), nil, []string{"l confdir:/a: k", "l confdir:/b: k"}},
	{"module bindings in Puppet syntax with another name", configured("'module:/m::b'",
		map[string]string{"modules/m/bindings/b.pp": "bindings other { bind 'k' to 1 }"}),
		[]string{"modules/m/bindings/b.pp:1:10 error bindings"}, []string{"l module:/m::b: k"}},
	{"hiera.yml that one layer includes and another excludes", map[string]string{"hiera.yml": "version: 2",
		"binder_config.yaml": "version: 1\nlayers:\n- include: 'confdir-hiera:/?optional'\n" +
			"- exclude: 'confdir-hiera:/'"},
		[]string{"hiera.yml warning yml; rename it to hiera.yaml"}, nil},
	{"Hiera 5 included as Hiera 2 and as Hiera 5", map[string]string{"hiera.yaml": "version: 5",
		"binder_config.yaml": "version: 1\nlayers:\n- {include: 'confdir-hiera:/'}\n- {include: 'hiera:/'}",
		"data/common.yaml":   "a: 1"}, nil, []string{"environment: Common hiera:/: data/common.yaml 1"}},
	{"bindings_config.yml is not read", map[string]string{"bindings_config.yml": "",
		"bindings/default.yaml": set("default")},
		[]string{"bindings_config.yml warning yml; rename it to bindings_config.yaml"},
		[]string{"site confdir:/default: k"}},
	{"unused file with fewer directories than the entry", map[string]string{"hiera.yaml": "version: 2\n" +
		"hierarchy: [[node, '${fqdn}', 'a/b/c/${fqdn}']]", "a/x.yaml": "a: 1"},
		[]string{"a/x.yaml warning data_unreached; " + addEntry}, []string{"site confdir-hiera:/:"}},
	{"data files in the site's own directory", map[string]string{"hiera.yaml": "version: 2\n" +
		"hierarchy: [[common, 'true', common]]", "common.yaml": "a: 1", "other.yaml": "a: 1",
		"spec/fixtures.yaml": "a: 1", "data/b.yaml": "a: 1", "data/.hidden.yaml": "a: 1"},
		[]string{"data/b.yaml warning data_unreached; " + addEntry},
		[]string{"site confdir-hiera:/: common.yaml 1"}},
	{"unused files only in data directories", configured("'confdir-hiera:/h'", map[string]string{
		"h/hiera.yaml": "version: 2\nhierarchy: [[common, 'true', d/common]]", "h/d/common.yaml": "a: 1",
		"h/d/x.yaml": "a: 1", "h/spec/x.yaml": "a: 1", "h/data/x.yaml": "a: 1"}),
		[]string{"h/d/x.yaml warning data_unreached; " + addEntry, "h/data/x.yaml warning data_unreached; " + addEntry},
		[]string{"l confdir-hiera:/h: h/d/common.yaml 1"}},
	{"missing directory of several entries is reported once",
		map[string]string{"hiera.yaml": "version: 2\nhierarchy:\n" +
			"- [node, '${fqdn}', 'd/${fqdn}']\n- [common, 'true', d/common]"},
		[]string{"hiera.yaml:3:21 warning data_directory"}, []string{"site confdir-hiera:/:"}},
	{"invalid hiera.yaml that no layer includes is ignored", configured("'confdir:/a'", map[string]string{
		"bindings/a.yaml": set("a"), "hiera.yaml": "[version, 2]", "modules/m/hiera.yaml": "~",
		"modules/n/hiera.yaml": ""}), nil,
		[]string{"l confdir:/a: k"}},
	{"README and hidden files are not data", map[string]string{"data/README.md": "",
		"data/.hidden.yaml": "a: 1", "bindings/default.yaml": set("default")}, nil,
		[]string{"site confdir:/default: k"}},
	{"unused set of the site with a name close to 'default'",
		map[string]string{"bindings/defaults.yaml": set("defaults")},
		[]string{"bindings/defaults.yaml warning not_included; " + include("confdir:/defaults")}, nil},
	{"unused default set of a module", configured("'confdir:/a'", map[string]string{
		"bindings/a.yaml": set("a"), "modules/m/bindings/default.yaml": set("m::default")}),
		[]string{"modules/m/bindings/default.yaml warning not_included; " + include("module:/m::default")},
		[]string{"l confdir:/a: k"}},
}

func TestSitesGiveExpectedDiagnosticsAndContents(t *testing.T) {
	for _, c := range sites {
		t.Run(c.name, func(t *testing.T) {
			dir := writeSite(t, c.files)
			var diags diag.List
			site := loader.Load(dir, loader.Options{}, &diags)
			expect(t, reportsOf(dir, &diags), c.reported...)
			expect(t, contentsOf(dir, site), c.contents...)
		})
	}
}

// If the configuration of a site cannot be used, nothing else is read, and a single error says why.
func TestUnusableConfigurationGivesOneErrorAndNoSite(t *testing.T) {
	data := map[string]string{"hiera.yaml": "version: 5", "bindings/default.yaml": "[]"}
	for _, c := range []struct{ name, file, text, want string }{
		{"a list", "binder_config.yaml", "[version, 1]", "binder_config.yaml error config"},
		{"empty", "binder_config.yaml", "", "binder_config.yaml error config"},
		{"version 2", "binder_config.yaml", "{version: 2}", "binder_config.yaml:1:11 error version"},
		{"no version", "binder_config.yaml", "{layers: []}", "binder_config.yaml:1:1 error version"},
		{"bindings_config.yaml of version 2",
			"bindings_config.yaml", "{version: 2}", "bindings_config.yaml:1:11 error version"},
		{"link to itself", "binder_config.yaml", "-> binder_config.yaml", "binder_config.yaml error read"},
	} {
		files := map[string]string{c.file: c.text}
		for name, text := range data {
			files[name] = text
		}
		unusable(t, c.name, writeSite(t, files), loader.Options{}, c.want)
	}
	both := writeSite(t, map[string]string{"binder_config.yaml": "version: 1", "bindings_config.yaml": "version: 1"})
	unusable(t, "two names", both, loader.Options{},
		"binder_config.yaml error config (bindings_config.yaml); remove one of them")
	all := writeSite(t, map[string]string{"binder_config.yaml": "version: 1", "bindings_config.yaml": "version: 1",
		"binder_config.pp": "site { }"})
	unusable(t, "two names and two syntaxes", all, loader.Options{},
		"binder_config.yaml error twice (binder_config.pp); remove one of the two")
	unusable(t, "no directory", filepath.Join(both, "none"), loader.Options{}, ". error read")
	loop := writeSite(t, map[string]string{"loop": "-> loop", "x.json": "version: 1"})
	unusable(t, "directory that is a link to itself", filepath.Join(loop, "loop"), loader.Options{}, ". error read")
	unusable(t, "file that is a link to itself", loop, loader.Options{BinderConfig: filepath.Join(loop, "loop")},
		"loop error read")
	unusable(t, "YAML in a JSON file", loop, loader.Options{BinderConfig: filepath.Join(loop, "x.json")},
		"x.json:1:1 error json_syntax")
}

func unusable(t *testing.T, name, dir string, opts loader.Options, want string) {
	t.Helper()
	var diags diag.List
	site := loader.Load(dir, opts, &diags)
	if got := strings.Join(reportsOf(dir, &diags), "\n"); got != want || !reflect.DeepEqual(site, &loader.Site{}) {
		t.Errorf("%s: reported is %q, expected %q; the site is %+v", name, got, want, site)
	}
}

// If several directories of the module path have a module of the same name, the first one wins. Modules are sorted by
// name.
func TestFirstModuleOnModulePathWins(t *testing.T) {
	dir := writeSite(t, map[string]string{"x/b/bindings/default.yaml": set("b::default"), "loop": "-> loop",
		"y/b/bindings/default.yaml": "", "y/a/bindings/default.yaml": set("a::default")})
	for want, path := range map[string][]string{
		"":                      {"x", "y"},
		"none error modulepath": {"x", "none", "y"},
		"loop error read":       {"x", "loop", "y"},
	} {
		for i := range path {
			path[i] = filepath.Join(dir, path[i])
		}
		var diags diag.List
		site := loader.Load(dir, loader.Options{ModulePath: path}, &diags)
		contents := strings.Join(contentsOf(dir, site), ", ")
		if contents != "modules module:/a::default: k, modules module:/b::default: k" {
			t.Errorf("%q: found %s", path, contents)
		}
		if got := strings.Join(reportsOf(dir, &diags), "\n"); got != want {
			t.Errorf("%q: reported is %q, expected %q", path, got, want)
		}
	}
}

// If a site is inside a module, a path of the module's hierarchy matches files of the site, too.
func TestModuleReadsFilesOfSiteInsideIt(t *testing.T) {
	dir := writeSite(t, map[string]string{"m/hiera.yaml": "{version: 2, hierarchy: [[common, 'true', '${role}']]}",
		"m/x.yaml": "a: 1", "m/site/binder_config.yaml": "version: 1", "m/site/y.yaml": "a: 2"})
	var diags diag.List
	site := loader.Load(filepath.Join(dir, "m/site"), loader.Options{ModulePath: []string{dir}}, &diags)
	expect(t, contentsOf(dir, site),
		`modules module-hiera:/m: m/site/y.yaml ["${role}" site/y] 1 m/x.yaml ["${role}" x] 1`)
	expect(t, reportsOf(dir, &diags))
}

// Each input is listed once, under a name that does not depend on the directories of the site and its modules.
func TestNamesOfInputsDoNotDependOnDirectories(t *testing.T) {
	dir := writeSite(t, map[string]string{"site/binder_config.yaml": "{version: 1, layers: [{include: ['confdir:/a', " +
		"'module:/*::default', 'module-hiera:/*']}, {include: 'confdir:/a'}]}", "site/bindings/a.yaml": set("a"),
		"mods/m/bindings/default.yaml": set("m::default"), "mods/m/hiera.yaml": "version: 2",
		"mods/m/data/common.yaml": "a: 1", "config.yaml": "{version: 1, layers: [{include: " +
			"['module:/*::default', 'module-hiera:/*'], exclude: 'confdir:/a'}]}"})
	opts := loader.Options{ModulePath: []string{filepath.Join(dir, "mods")}}
	var diags diag.List
	site := loader.Load(filepath.Join(dir, "site"), opts, &diags)
	want := []string{"site/binder_config.yaml", "site/bindings/a.yaml", "mods/m/bindings/default.yaml",
		"mods/m/data/common.yaml", "mods/m/hiera.yaml"}
	labels := []string{"binder_config.yaml", "bindings/a.yaml", "modules/m/bindings/default.yaml",
		"modules/m/data/common.yaml", "modules/m/hiera.yaml"}
	sizes := map[string]int64{"bindings/a.yaml": int64(len(set("a"))), "modules/m/data/common.yaml": 4}
	if len(site.Inputs) != len(labels) || len(site.InputOf) != len(labels) {
		t.Fatalf("the inputs are %v, expected %q", site.Inputs, labels)
	}
	for i, in := range site.Inputs {
		if at, ok := site.InputOf[filepath.Join(dir, want[i])]; in.Path != labels[i] || at != i || !ok || in.Hash == 0 {
			t.Errorf("input %d is %v, found as %d; expected %s", i, in, at, labels[i])
		}
		if size, ok := sizes[in.Path]; ok && in.Size != size {
			t.Errorf("%s has size %d, expected %d", in.Path, in.Size, size)
		}
	}
	opts.BinderConfig = filepath.Join(dir, "config.yaml")
	t.Chdir(dir)
	site = loader.Load("site", opts, &diags)
	if len(site.Inputs) == 0 || site.Inputs[0].Path != "config.yaml" {
		t.Errorf("a configuration from elsewhere is named as in %v", site.Inputs)
	}
	if found := reportsOf(dir, &diags); len(found) > 0 {
		t.Errorf("reported is %q", found)
	}
}

// A file that is read both as data and as bindings is one input.
func TestFileReadAsDataAndBindingsIsOneInput(t *testing.T) {
	dir := writeSite(t, map[string]string{"bindings/default.yaml": set("default"),
		"hiera.yaml": "{version: 2, hierarchy: [[common, 'true', bindings/default]]}"})
	var diags diag.List
	site := loader.Load(dir, loader.Options{}, &diags)
	var names []string
	for _, in := range site.Inputs {
		names = append(names, in.Path)
	}
	expect(t, names, "bindings/default.yaml", "hiera.yaml")
	expect(t, contentsOf(dir, site), "site confdir-hiera:/: bindings/default.yaml 3", "site confdir:/default: k")
}

// A site without a hiera.yaml has Hiera 5 layers only if one of its modules has Hiera 5 data.
func TestSiteWithoutHierarchyHasHiera5ModuleLayers(t *testing.T) {
	for modules, want := range map[string][]string{
		"":                     {"site", "modules"},
		"modules/n/hiera.yaml": {"site", "module: Common", "modules"},
	} {
		files := map[string]string{"modules/m/bindings/default.yaml": set("m::default")}
		if modules != "" {
			files[modules], files["modules/n/data/common.yaml"] = "version: 5", "n::a: 1"
		}
		var diags diag.List
		site := loader.Load(writeSite(t, files), loader.Options{}, &diags)
		var names []string
		for _, l := range site.Layers {
			names = append(names, l.Name)
		}
		expect(t, names, want...)
	}
}

// A directory without any file of a site is accepted if a configuration is given, or if it need not bind anything.
func TestAcceptsDirectoryWithoutParts(t *testing.T) {
	dir := writeSite(t, map[string]string{"site/x": "", "config.yaml": "version: 1"})
	for _, opts := range []loader.Options{{MayBeEmpty: true}, {BinderConfig: filepath.Join(dir, "config.yaml")}} {
		var diags diag.List
		loader.Load(filepath.Join(dir, "site"), opts, &diags)
		expect(t, reportsOf(dir, &diags))
	}
}

// A build records each file that it reads, so that a later change can be detected.
func TestRecordsFilesRead(t *testing.T) {
	dir := writeSite(t, map[string]string{"hiera.yaml": "version: 2", "data/common.yaml": "a: 1"})
	var seen fsx.Seen
	var diags diag.List
	loader.Load(dir, loader.Options{Seen: &seen}, &diags)
	looks := seen.Looks()
	if !fsx.Unchanged(looks) {
		t.Error("something has changed")
	}
	if err := os.WriteFile(filepath.Join(dir, "data/common.yaml"), []byte("a: 1\nb: 2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if fsx.Unchanged(looks) {
		t.Errorf("nothing has changed of %v", looks)
	}
}

// A scheme handler must return bindings: no output is an error.
func TestRejectsEmptyResultOfSchemeHandler(t *testing.T) {
	dir := writeSite(t, map[string]string{"binder_config.yaml": "version: 1\nlayers: [{include: 'none:/a'}]\n"})
	var diags diag.List
	none := func(string) ([]byte, error) { return nil, nil }
	loader.Load(dir, loader.Options{SchemeHandlers: map[string]loader.SchemeHandler{"none": none}}, &diags)
	expect(t, reportsOf(dir, &diags), "binder_config.yaml:2:20 error extension")
}

// A condition with n alternatives over k bindings counts (n-1)(k+1) against the limit: once for each binding and once
// for the list.
func TestAlternativesAreLimited(t *testing.T) {
	const text = "bindings_version: 1\nname: default\nbind:\n- {when: {node: [a, b, c]}, bind: [[x, 1], [y, 2]]}\n" +
		"- {when: {node: a}, bind: [[z, 1]]}\n- {when: {node: [d, e]}, bind: [[u, 1]]}\n- [v, 1]\n"
	dir := writeSite(t, map[string]string{"bindings/default.yaml": text})
	const x, y, z = "x [node a] [node b] [node c]", "y [node a] [node b] [node c]", "z [node a]"
	for _, c := range []struct {
		most            int
		reported, bound string
	}{
		{0, "", x + " " + y + " " + z + " u [node d] [node e] v"}, // the default limit
		{8, "", x + " " + y + " " + z + " u [node d] [node e] v"},
		{7, "bindings/default.yaml:6:10 error when", x + " " + y + " " + z + " v"},
		{6, "bindings/default.yaml:6:10 error when", x + " " + y + " " + z + " v"},
		{1, "bindings/default.yaml:4:10 error when", ""},
	} {
		var diags diag.List
		site := loader.Load(dir, loader.Options{Alternatives: c.most}, &diags)
		got := strings.Split(strings.Join(reportsOf(dir, &diags), "\n"), "\n")
		if got[0] != c.reported {
			t.Errorf("%d: reported is %q, expected %q", c.most, got, c.reported)
		}
		bound := strings.TrimPrefix(strings.Join(contentsOf(dir, site), ", "), "site confdir:/default: ")
		if c.bound != "" && bound != c.bound {
			t.Errorf("%d: bound is %q, expected %q", c.most, bound, c.bound)
		}
	}
}

// A set counts once, even if several layers include it.
func TestAlternativesOfSetInTwoLayersCountOnce(t *testing.T) {
	dir := writeSite(t, map[string]string{
		"binder_config.yaml": "{version: 1, layers: [{include: 'confdir:/default'}, {include: 'confdir:/default'}]}",
		"bindings/default.yaml": "{bindings_version: 1, name: default,\n" +
			" bind: [{when: {node: [a, b]}, bind: [[k, v]]}]}"})
	_, got := load(t, dir, loader.Options{Alternatives: 2})
	expect(t, got, " k = v [node a] [node b]", " k = v [node a] [node b]")
}

// One condition has at most 65,536 alternatives, whether they are values or hashes.
func TestAlternativesOfOneConditionAreLimited(t *testing.T) {
	values := func(n int) string {
		var out []string
		for i := range n {
			out = append(out, fmt.Sprint("v", i))
		}
		return "[" + strings.Join(out, ", ") + "]"
	}
	square := "{node: " + values(256) + ", osfamily: " + values(256) + "}"
	for _, c := range []struct {
		name, when string
		bound      int
		at         string // the text at the position of the error
	}{
		{"exactly 65,536", square, 1 << 16, ""},
		{"duplicates in upper case do not count", "{node: " + strings.Replace(values(256), "[", "[V255, ", 1) +
			", osfamily: " + strings.Replace(values(256), "[", "[V0, ", 1) + "}", 1 << 16, ""},
		{"one value too many", "{node: " + values(257) + ", osfamily: " + values(256) + "}", 0, values(256)},
		{"one hash too many", "[" + square + ", {environment: e}]", 0, "[{node"},
	} {
		var diags diag.List
		_, bound := only(t, "{when: "+c.when+", bind: [[x, 1]]}", &diags)
		n := 0
		for _, b := range bound {
			n += len(b.When)
		}
		found := diags.Sorted()
		if n > 0 && len(found) > 0 || n == 0 && (len(bound) > 0 || len(found) != 1 || found[0].Code != "when") ||
			n != c.bound {
			t.Errorf("%s: %d alternatives, expected %d; %v", c.name, n, c.bound, found)
		}
		for _, d := range found {
			if line := "- {when: " + c.when; !strings.HasPrefix(line[d.Pos.Col-1:], c.at) {
				t.Errorf("%s: reported at column %d", c.name, d.Pos.Col)
			}
		}
	}
}

// Diagnostics hide the lines of sensitive bindings and show all others.
func TestHidesOnlyLinesOfSensitiveBindings(t *testing.T) {
	const text = "bindings_version: 1\nname: default\nbind:\n- {name: a, sensitive: false, to: '${nope(1)}'}\n" +
		"- {name: b, sensitive: true, to: '${nope(1)}'}\n- {name: c, to: '${nope(1)}'}\n" +
		"- {name: d, sensitive: 'x', to: '${nope(1)}'}\n- name: e\n  sensitive: true\n  to: '${nope(1)}'\n" +
		"- {name: f, to: '${nope(1)}'}\n"
	dir := writeSite(t, map[string]string{"bindings/default.yaml": text})
	var diags diag.List
	loader.Load(dir, loader.Options{}, &diags)
	for _, d := range diags.Sorted() {
		if want := d.Pos.Line == 5 || d.Pos.Line >= 7 && d.Pos.Line < 11; d.Secret != want {
			t.Errorf("%d: hidden is %v, expected %v", d.Pos.Line, d.Secret, want)
		}
	}
}

// If a file with a syntax error may contribute to a sensitive multibinding, all its lines are hidden. Lines of other
// files are shown.
func TestHidesFilesWithSyntaxErrorsAndSensitiveIds(t *testing.T) {
	files := configured("'confdir:/*'", map[string]string{
		"bindings/default.yaml": "{bindings_version: 1, name: default, bind: [{name: k, multibind_id: words, " +
			"sensitive: true}]}",
		"bindings/a.yaml": "name: a\nbind:\n- {in: words, to: x}\n- [",
		"bindings/b.yaml": "name: b\nbind:\n- {in: other, to: x}\n- [",
		"bindings/c.pp":   "bindings c {\n bind 'a' to nope(1)\n bind 'b' to 1\n bind to 'x' in 'words'\n}",
		"bindings/d.pp":   "bindings d {\n bind to 'x' in 'words'\n bind 'a' to )\n}",
		"bindings/e.pp":   "bindings e {\n bind 'a' to )\n}",
		"bindings/f.pp":   "bindings f {\n bind to 'x' in 'words'\n}\xff"})
	dir := writeSite(t, files)
	var diags diag.List
	loader.Load(dir, loader.Options{}, &diags)
	got := map[string]bool{}
	for _, d := range diags.Sorted() {
		got[filepath.Base(d.Pos.File)] = got[filepath.Base(d.Pos.File)] || d.Secret
	}
	want := map[string]bool{"a.yaml": true, "b.yaml": false, "c.pp": false, "d.pp": true, "e.pp": false,
		"f.pp": true}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("hidden are %v, expected %v; %v", got, want, diags.Sorted())
	}
}

// A sensitive multibinding without a valid id does not hide lines of other files.
func TestSensitiveBindingWithoutIdHidesNoOtherFile(t *testing.T) {
	dir := writeSite(t, configured("'confdir:/*'", map[string]string{"bindings/b.yaml": "name: b\nbind:\n- [",
		"bindings/default.yaml": "{bindings_version: 1, name: default,\n" +
			" bind: [{name: k, multibind_id: '', sensitive: true}]}"}))
	var diags diag.List
	loader.Load(dir, loader.Options{}, &diags)
	for _, d := range diags.Sorted() {
		if name := filepath.Base(d.Pos.File); d.Secret == (name == "b.yaml") {
			t.Errorf("%s: hidden is %v", name, d.Secret)
		}
	}
}

// A scheme handler is called once for a URI, even if several layers include it. In its URIs, '*' is not a wildcard.
func TestSchemeHandlerIsCalledOncePerURI(t *testing.T) {
	dir := writeSite(t, map[string]string{"binder_config.yaml": "version: 1\nlayers:\n" +
		"- {name: a, include: ['count:/*', 'count:/b']}\n- {name: b, include: 'count:/*'}\n"})
	asked := map[string]int{}
	count := func(uri string) ([]byte, error) {
		asked[uri]++
		return []byte(`{"bindings_version": 1, "bind": [["k", "v"]]}`), nil
	}
	_, got := load(t, dir, loader.Options{Jobs: 1, SchemeHandlers: map[string]loader.SchemeHandler{"count": count}})
	expect(t, got, "a k = v", "a k = v", "b k = v")
	if want := map[string]int{"count:/*": 1, "count:/b": 1}; !reflect.DeepEqual(asked, want) {
		t.Errorf("asked is %v, expected %v", asked, want)
	}
}

// The option Bindings changes the directory of the site's own sets, not of those in modules.
func TestBindingsOptionDoesNotAffectModules(t *testing.T) {
	dir := writeSite(t, map[string]string{"bindings/default.yaml": "[]", "sets/default.yaml": set("default"),
		"sets/more.yaml": set("more"), "modules/m/sets/x.yaml": "",
		"modules/m/bindings/default.yaml": "{bindings_version: 1, name: 'm::default', bind: [[of_m, 1]]}"})
	var diags diag.List
	site := loader.Load(dir, loader.Options{Bindings: filepath.Join(dir, "sets")}, &diags)
	expect(t, contentsOf(dir, site), "site confdir:/default: k", "modules module:/m::default: of_m")
	expect(t, reportsOf(dir, &diags), "sets/more.yaml warning not_included; "+include("confdir:/more"))
}

// Load calls Parsed for each file that it parses in the background.
func TestParsedCallbackRunsForEachFile(t *testing.T) {
	dir := writeSite(t, map[string]string{"hiera.yaml": "version: 2", "data/common.yaml": "a: 1",
		"data/common.json": "{}", "bindings/default.pp": "bindings default { }"})
	var parsed atomic.Int32
	var diags diag.List
	site := loader.Load(dir, loader.Options{Parsed: func() { parsed.Add(1) }}, &diags)
	if n := parsed.Load(); n != 3 {
		t.Errorf("%d files are parsed, expected 3", n)
	}
	if len(site.Inputs) != 4 || slices.ContainsFunc(site.Inputs, func(in loader.Input) bool { return in.Made }) {
		t.Errorf("the inputs are %v, expected hiera.yaml and three more, all of them files", site.Inputs)
	}
}

// The output of an extension is listed as an input, but has no file.
func TestOutputOfExtensionIsAnInputWithoutFile(t *testing.T) {
	files := map[string]string{"binder_config.yaml": "{version: 1, layers: [{include: ['echo:/a', 'confdir-hiera:/']}]}",
		"hiera.yaml": "{version: 2, hierarchy: [[common, 'true', c]], backends: [back]}"}
	var diags diag.List
	back := func(string, string) ([]byte, error) { return []byte(`{"a": 1}`), nil }
	site := loader.Load(writeSite(t, files), loader.Options{Backends: map[string]loader.Backend{"back": back},
		SchemeHandlers: map[string]loader.SchemeHandler{"echo": echoScheme}}, &diags)
	var made []string
	for _, in := range site.Inputs {
		if in.Made {
			made = append(made, in.Path)
		}
	}
	if len(site.Inputs) != 4 || len(made) != 2 || diags.Failed() {
		t.Errorf("the inputs are %v; %v", site.Inputs, diags.Sorted())
	}
}
