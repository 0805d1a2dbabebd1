package lint

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/fsx"
)

func TestIsTypoOfComparesWords(t *testing.T) {
	checkPairs(t, "alike", isTypoOf, []pair{
		{"websever", "webserver", true},
		{"wbeserver", "webserver", true},
		{"eu-frankfrt/prod", "eu-frankfurt/prod", true},
		{"app-a", "app-b", false},
		{"webserver", "webservers", false},
		{"gateway", "pathway", false},
		{"storage1", "storage2", false},
		{"prod", "prd", false},
		{"eu-frankfrt/prdoction", "eu-frankfurt/production", false},
		{"staging/webserver", "webserver", false},
		{"webserver", "staging/webserver", false},
		{"xebserver", "webserver", false},
		{"eu/webserver", "us/webserver", false},
		{"db1/websever", "db2/webserver", false},
		{"web-websever", "web_webserver", true},
		{"web-server", "web_server", false}, // the words are equal
		{"websever", "webserver/prod", false},
		{"eu-frankfrt/prodction", "eu-frankfurt/production", false}, // two words differ
	})
}

// pair has two names, and the expected result for them.
type pair struct {
	a, b string
	want bool
}

func checkPairs(t *testing.T, what string, holds func(a, b string) bool, pairs []pair) {
	t.Helper()
	for _, c := range pairs {
		if got := holds(c.a, c.b); got != c.want {
			t.Errorf("%s and %s: %s is %v, expected %v", c.a, c.b, what, got, c.want)
		}
	}
}

func TestClassParametersCountAsLookedUp(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		"class ntp { $x = lookup('a') }": "",
		"class ntp($a,$b = $c, ) {":      "ntp::a ntp::b",
		"class ::ntp::server (\n  # $no\n  /* $no, */ Hash $a = {'b' => [$c, $d]},\n  $e = f($g),\n)": "" +
			"ntp::server::a ntp::server::e",
		"class a ( Pattern[/^['\"(]/, /[)]/] $b = '$c', Enum['$d'] $e = \"),${f}\") {}": "a::b a::e",
		"class a inherits b {}\nclass c # why\n ($d) {}":                                "c::d",
		"define a($b) {}": "",
		"class a($b) {\n  include c, d\n  $own = 1\n}":  "a::b", // variables in the body are not parameters
		"class a($b = [1, 2] + $c, $d = f(1, $e) + $g)": "a::b a::d",
		"class a(Array[Integer, 0, $max] $b, Any $c)":   "a::b a::c",
		"class a($b,\n  $c":                             "a::b a::c", // the list of parameters is not closed
	} {
		var asked Lookups
		asked.addParameters(text)
		var got []string
		for key := range asked.keys {
			got = append(got, key)
		}
		if slices.Sort(got); strings.Join(got, " ") != want {
			t.Errorf("%s: found %v, expected %s", text, got, want)
		}
	}
}

func TestQuotedStringsCountAsLookedUp(t *testing.T) {
	var asked Lookups
	asked.addTexts("$x = lookup('a::b')\n$y = 'c::d' # it's\n" +
		"hiera_array(\"e::${f}::g\")\nnotice(\"h::${i}\")\n lookup(\"${j}\", 'k.l.m')\n")
	for key, want := range map[string]bool{"a::b": true, "c::d": true, "e::x::y::g": true, "e::x": false, "h::x": false,
		"z": false, "k": true, "k.l": true, "lookup_options": true} {
		if asked.Includes(key) != want {
			t.Errorf("%s: asked for is %v, expected %v", key, !want, want)
		}
	}
}

// site is a site for tests: the contents of its files by path.
type site map[string]string

// advice returns the places of the lints of s, by code.
func (s site) advice(t *testing.T, opts Options) map[diag.Code][]string {
	t.Helper()
	out := map[diag.Code][]string{}
	for _, d := range s.diagnostics(t, opts) {
		out[d.Code] = append(out[d.Code], d.Pos.String())
	}
	return out
}

// diagnostics returns the diagnostics on s, with paths relative to the site. If opts has no codes, it runs all checks.
func (s site) diagnostics(t *testing.T, opts Options) []diag.Diagnostic {
	t.Helper()
	dir := t.TempDir()
	s.write(t, dir)
	loaded, content, diags := sound(t, dir)
	if opts.Codes == nil {
		opts.Codes = Codes()
	}
	Check(loaded, content, opts, diags)
	out := diags.Sorted()
	for i := range out {
		rel, err := filepath.Rel(dir, out[i].Pos.File)
		if err != nil {
			t.Fatal(err)
		}
		out[i].Pos.File = filepath.ToSlash(rel)
	}
	return out
}

// A binding is redundant if every request gets the same value without it. Doubtful cases are not reported.
func TestReportsRedundantBindings(t *testing.T) {
	const config = "version: 1\nlayers:\n  - {name: top, include: 'confdir:/top'}\n" +
		"  - {name: low, include: 'confdir:/low'}\n" +
		"categories:\n  - [node, '${fqdn}']\n  - [osfamily, '${osfamily}']\n  - [common, 'true']\n"
	for _, c := range []struct{ name, top, low, same, never string }{
		{"hidden binding has the same value", "when: {node: a}, bind: [[k, 1]]", "when: {node: a}, bind: [[k, 1]]", "", "4"},
		{"all bindings have the same value", "when: {node: a}, bind: [[k, 1]]", "when: {common: x}, bind: [[k, 1]]", "4", ""},
		{"hidden binding has another value", "when: {node: a}, bind: [[k, 1]]", "when: {common: x}, bind: [[k, 2]]", "", ""},
		{"other families have another value", "when: {node: a}, bind: [[k, 1]]},\n {when: {osfamily: b}, bind: [[k, 2]]",
			"when: {common: x}, bind: [[k, 1]]", "", ""},
		{"all families have the same value", "when: {node: a}, bind: [[k, 1]]},\n {when: {osfamily: b}, bind: [[k, 1]]",
			"when: {common: x}, bind: [[k, 1]]", "4 5", ""},
		{"one of two families has another value", "when: {node: a}, bind: [[k, 1]]},\n {when: {osfamily: b}, bind: [[k, 1]]},\n" +
			" {when: {osfamily: c}, bind: [[k, 2]]", "when: {common: x}, bind: [[k, 1]]", "5", ""},
		{"no binding for the other nodes", "when: {node: a}, bind: [[k, 1]]", "when: {osfamily: b}, bind: [[k, 1]]", "", ""},
		{"redundant under one of two conditions", "when: {node: [a, b]}, bind: [[k, 1]]", "when: {node: a}, bind: [[k, 1]]", "", "4"},
		{"hidden under one of two conditions", "when: {node: a}, bind: [[k, 1]]",
			"when: {node: [a, b]}, bind: [[k, 2]]", "", ""},
		{"hidden by a wider condition", "when: {node: a}, bind: [[k, 1]]",
			"when: {node: a, osfamily: b}, bind: [[k, 2]]", "", "4"},
		{"another node has another value", "when: {node: a}, bind: [[k, 1]]",
			"when: {node: b}, bind: [[k, 2]]},\n {when: {common: x}, bind: [[k, 1]]", "4", ""},
		{"another node has another value, and this node another key", "when: {node: a}, bind: [[k, 1]]",
			"when: {node: a}, bind: [[o, 1]]},\n {when: {node: b}, bind: [[k, 2]]},\n {when: {common: x}, bind: [[k, 1]]",
			"4", ""},
		{"hidden under all conditions", "when: {common: x}, bind: [[k, 1]]", "when: {node: a}, bind: [[k, 2]]", "", "4"},
	} {
		s := site{"binder_config.yaml": config}
		for name, text := range map[string]string{"top": c.top, "low": c.low} {
			s["bindings/"+name+".yaml"] = "bindings_version: 1\nname: " + name + "\nbind: [\n {" + text + "}]\n"
		}
		got := s.advice(t, Options{})
		for code, want := range map[diag.Code]string{"same_value": c.same, "never_wins": c.never} {
			var lines []string
			for _, at := range got[code] {
				lines = append(lines, strings.Split(at, ":")[1])
			}
			if strings.Join(lines, " ") != want {
				t.Errorf("%s: %s at lines %v, expected %s", c.name, code, lines, want)
			}
		}
	}
}

// A file may match two entries of a hierarchy. This does not make it redundant.
func TestFileThatTwoEntriesFindIsNotRedundant(t *testing.T) {
	got := site{
		"hiera.yaml": "version: 2\nhierarchy:\n  - [environment, '${environment}', 'data/${environment}']\n" +
			"  - [common, 'true', data/common]\n",
		"data/common.yaml": "a: 1\n",
	}.advice(t, Options{})
	if len(got["same_value"])+len(got["never_wins"]) > 0 {
		t.Error("advises on", got)
	}
}

func TestUnreadableFileIsAnError(t *testing.T) {
	got := site{"hiera.yaml": "version: 2\n", "data/common.yaml": "a: 1\n"}.advice(t,
		Options{Disk: fsx.Disk{Fault: func(fsx.Op, string) error { return errors.New("gone") }}})
	if len(got["read"]) != 1 {
		t.Error("reports", got)
	}
}

// A binding with 'override' is meant to hide another one.
func TestSkipsBindingsThatOverride(t *testing.T) {
	set := func(override string) site {
		return site{"binder_config.yaml": "version: 1\nlayers: [{name: top, include: 'confdir:/top'}, " +
			"{name: low, include: 'confdir:/low'}]\n",
			"bindings/top.yaml": "{bindings_version: 1, name: top, bind: [{name: k, to: 1" + override + "}]}\n",
			"bindings/low.yaml": "{bindings_version: 1, name: low, bind: [[k, 1]]}\n"}
	}
	if got := set("").advice(t, Options{}); len(got["never_wins"]) != 1 || len(got["same_value"]) != 0 {
		t.Errorf("without override: %v", got)
	}
	if got := set(", override: true").advice(t, Options{}); len(got) > 0 {
		t.Errorf("with override: %v", got)
	}
}

// Another binding is meant to hide an abstract one.
func TestSkipsAbstractBindings(t *testing.T) {
	got := site{"binder_config.yaml": "version: 1\nlayers: [{name: top, include: 'confdir:/top'}, " +
		"{name: low, include: 'confdir:/low'}]\n",
		"bindings/top.yaml": "{bindings_version: 1, name: top, bind: [{name: k, type: Integer, to: 1}]}\n",
		"bindings/low.yaml": "{bindings_version: 1, name: low, bind: [{name: k, abstract: true}]}\n"}.advice(t, Options{})
	if len(got) > 0 {
		t.Error(got)
	}
}

// A binding is reported if another one states a type that its value is not known to have.
func TestReportsBindingNotCheckedAgainstTypeOfAnother(t *testing.T) {
	for _, c := range []struct{ typed, other, want string }{
		{"name: k, type: Integer, to: 1", "name: k, to: 2", ""},
		{"name: k, type: Integer, to: 1", "name: k, to: x", "5"},
		{"name: k, type: Integer, to: 1", "name: k, type: String, to: x", ""}, // this binding has its own type
		{"name: k, type: Integer, to: 1", "name: k, to: '${n}'", "5"},
		{"name: k, type: String, to: a", "name: k, to: '${n}'", ""},
		{"name: k, type: 'String[1]', to: a", "name: k, to: '${n}'", "5"}, // the text may be empty
		{"name: k, type: Integer, to: 1", "name: k, to_expression: '$n'", "5"},
		{"name: k, type: Integer, to: 1", "name: k, to: 1, transformer: '|$x| { $x }'", "5"},
		{"name: k, type: Integer, abstract: true", "name: k, to_lookup_of: n", "5"},
		{"name: k, type: 'Array[Integer]', to: [1]", "name: k, to: [1, '${n}']", "5"},
		{"name: k, type: Integer, to: 1", "name: other, to: x", ""},
		{"name: k, type: String, to: a", "name: k, to_expression: '$n'", "5"},
	} {
		got := site{"binder_config.yaml": "version: 1\nlayers: [{name: site, include: 'confdir:/default'}]\n",
			"bindings/default.yaml": "bindings_version: 1\nname: default\nbind:\n  - {" + c.typed + "}\n" +
				"  - {when: {environment: test}, bind: [{" + c.other + "}]}\n"}.advice(t, Options{})
		var lines []string
		for _, at := range got["untyped"] {
			lines = append(lines, strings.Split(at, ":")[1])
		}
		if strings.Join(lines, " ") != c.want {
			t.Errorf("%s and %s: at lines %v, expected %s", c.typed, c.other, lines, c.want)
		}
	}
}
