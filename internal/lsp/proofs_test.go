package lsp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// portPolicy is a file of policies.
const portPolicy = `policy_version: 1
policies:
  - {name: port, key: 'app::port', type: Integer}
`

// Data that a class refuses is an error while the file is typed, and so is a change of the class that is not saved.
func TestDataIsCheckedAgainstClasses(t *testing.T) {
	const manifest, data = "modules/app/manifests/init.pp", "data/os/Debian.yaml"
	e := start(t, site(t, control+"-- manifests/site.pp --\ninclude app\n"), withLints())
	e.open(data, "app::port: 'http'\n")
	e.settle()
	wantDiagnostics(t, e, data, "0:11-0:17 parameter_type: 'app::port': expected Integer, found String, for nodes with "+
		"os/%{facts.os.family}.yaml = os/Debian.yaml (such as os.family=Debian)")
	e.open(manifest, strings.Replace(e.read(manifest), "Integer $port", "Scalar $port", 1))
	e.settle()
	wantDiagnostics(t, e, data)
	e.change(data, "app::hots: web\n")
	e.settle()
	wantDiagnostics(t, e, data, "0:0-0:9 unknown_parameter: 'app::hots': the class app has no parameter $hots, and "+
		"nothing else looks this key up")
	if got, titles := e.act(data, 0, "Replace by 'app::host'"); got != "app::host: web\n" {
		t.Errorf("the fix makes %q; the actions are %q", got, titles)
	}
	e.change(manifest, e.read(manifest)+"$x = lookup('app::hots')\n")
	e.settle()
	wantDiagnostics(t, e, data)
}

// A required parameter without a value is a lint in the manifest.
func TestParameterWithoutValueIsLint(t *testing.T) {
	const manifest = "modules/app/manifests/init.pp"
	e := start(t, site(t, control+"-- manifests/site.pp --\ninclude app\n"), withLints())
	e.open(manifest, strings.Replace(e.read(manifest), "Integer $port", "$zone", 1))
	e.settle()
	wantDiagnostics(t, e, manifest,
		"1:2-1:7 missing_parameter: the class app requires $zone, but 'app::zone' is not bound")
}

// A binding that breaks a policy of the site is an error, and so is a mistake in the file of policies.
func TestPoliciesAreProven(t *testing.T) {
	const policies, data = "policies/port.yaml", "data/os/Debian.yaml"
	e := start(t, site(t, control+"-- "+policies+" --\n"+portPolicy), withLints())
	e.open(data, "app::port: [1]\n")
	e.settle()
	if got := e.found(data); len(got) != 2 || !strings.Contains(got[0], "policy: 'app::port' breaks the policy") {
		t.Errorf("the diagnostics are %q, expected one about the policy", got)
	}
	e.open(policies, strings.Replace(portPolicy, "Integer", "Array", 1))
	e.settle()
	if got := e.found("data/common.yaml"); !strings.Contains(strings.Join(got, "\n"), "'port'") {
		t.Errorf("with a policy that is not saved, the diagnostics are %q", got)
	}
	e.change(policies, strings.Replace(portPolicy, "type:", "tpye:", 1))
	e.settle()
	if got := e.found(policies); len(got) != 1 || !strings.Contains(got[0], "policy: unknown attribute") {
		t.Errorf("the file of policies has the diagnostics %q", got)
	}
	e.change(policies, portPolicy+"  - {name: 'x\n")
	e.settle()
	if got := e.found(policies); len(got) == 0 || !strings.Contains(got[0], "yaml_syntax") {
		t.Errorf("the broken file of policies has the diagnostics %q", got)
	}
}

// While an entry of a file is broken, other values may win without it, so nothing is proven.
func TestNothingIsProvenWhileEntriesAreBroken(t *testing.T) {
	e := start(t, site(t, control+"-- manifests/site.pp --\ninclude app\n"), withLints())
	e.open("data/common.yaml", "app::port: '80'\nlookup_options:\n  app::port: {convert_to: [Integer\n")
	e.settle()
	for _, d := range e.found("data/common.yaml") {
		if strings.Contains(d, "parameter_type") {
			t.Errorf("the lookup_options are broken, so a lookup may convert the value: %s", d)
		}
	}
}

// A note about the type of a parameter goes away with the data for the parameter.
func TestParameterOfUnknownTypeIsReportedOnlyWithData(t *testing.T) {
	const manifest = "modules/app/manifests/init.pp"
	e := start(t, site(t, strings.Replace(control, "String $token", "Own::Token $token", 1)), withLints())
	e.open("data/common.yaml", "")
	e.settle()
	wantDiagnostics(t, e, manifest, "4:13-4:19 parameter_unchecked: data for 1 parameter is only checked in part, "+
		"because these types are unknown: 'Own::Token'")
	e.change("data/common.yaml", "app::port: 80\n")
	e.settle()
	wantDiagnostics(t, e, manifest)
}

// The definitions of a key include the parameter of a class that receives it.
func TestDefinitionOfKeyHasParameterOfClass(t *testing.T) {
	e := start(t, site(t, control), withLints())
	e.open("data/common.yaml", "")
	got := e.definition("data/common.yaml", 0, 3)
	if len(got) == 0 || got[len(got)-1] != "modules/app/manifests/init.pp:1:10" {
		t.Errorf("the definitions are %q, expected that in the class as the last", got)
	}
	e.open("modules/app/manifests/init.pp", "")
	for _, place := range e.definition("modules/app/manifests/init.pp", 1, 12) {
		if strings.HasPrefix(place, "modules") {
			t.Errorf("the parameter leads to itself: %s", place)
		}
	}
}

// read returns the text of a file as it was saved.
func (e *editor) read(name string) string {
	e.t.Helper()
	text, err := os.ReadFile(filepath.Join(e.dir, name))
	if err != nil {
		e.t.Fatal(err)
	}
	return string(text)
}

// A misspelt key is corrected where it is bound, although a correct lookup in another file finds nothing.
func TestMisspeltKeyIsCorrectedWhereItIsBound(t *testing.T) {
	const data, other = "data/common.yaml", "data/os/Debian.yaml"
	e := start(t, site(t, control+"-- modules/application/manifests/web.pp --\nclass application::web ($docroot) { }\n"), withLints())
	e.open(data, "aplication::web::docroot: /srv\n")
	e.open(other, "x: \"%{lookup('application::web::docroot')}\"\n")
	e.settle()
	wantDiagnostics(t, e, data, "0:0-0:24 unknown_class: 'aplication::web::docroot': there is no class "+
		"aplication::web, and nothing else looks this key up")
	wantDiagnostics(t, e, other, "0:0-0:1 key_unbound: this looks up 'application::web::docroot', which nothing binds")
	if got, titles := e.act(other, 0, "Replace by 'aplication::web::docroot'"); strings.Contains(got, "'aplication") {
		t.Errorf("a fix spreads the typo: %q; the actions are %q", got, titles)
	}
	got, titles := e.act(data, 0, "Replace by 'application::web::docroot'")
	if got != "application::web::docroot: /srv\n" {
		t.Errorf("the fix makes %q; the actions are %q", got, titles)
	}
	e.change(data, got)
	e.settle()
	wantDiagnostics(t, e, data)
	wantDiagnostics(t, e, other)
}

// A value of the wrong type is marked itself, and corrected where the correct one is known.
func TestValueOfWrongTypeIsMarkedAndCorrected(t *testing.T) {
	const manifest, data = "modules/web/manifests/init.pp", "data/common.yaml"
	e := start(t, site(t, "-- hiera.yaml --\nversion: 5\n-- "+data+" --\nx: 1\n-- manifests/site.pp --\ninclude web\n-- "+
		manifest+" --\nclass web (Integer $port = 1, Boolean $enable = true, Enum['debug', 'verbose'] $log = 'debug',\n"+
		"  String $name = 'a', Array[Integer] $list = []) { }\n"), withLints())
	e.open(data, "x: 1\n")
	for _, c := range []struct{ wrong, at, right string }{
		{`web::port: "8080"`, "0:11-0:17", "web::port: 8080"},
		{`web::port: '80' # the port`, "0:11-0:15", "web::port: 80 # the port"},
		{"web::port: http", "0:11-0:15", ""},
		{"web::enable: yess", "0:13-0:17", "web::enable: true"},
		{"web::enable: 'false'", "0:13-0:20", "web::enable: false"},
		{"web::log: verbos", "0:10-0:16", "web::log: verbose"},
		{"web::log: quiet", "0:10-0:15", ""},
		{"web::name: 42", "0:11-0:13", "web::name: '42'"},
		{"web::name: 0x2a", "0:11-0:15", ""},   // the text for the number is not known
		{"web::list: [1, '2']", "0:0-0:9", ""}, // a part of the value
		{"web::port: >\n  80", "0:0-0:9", ""},  // a value of several lines
		{"'web::port': \"8080\"", "0:13-0:19", "'web::port': 8080"},
	} {
		e.change(data, c.wrong+"\n")
		e.settle()
		if got := strings.Join(e.found(data), "\n"); !strings.HasPrefix(got, c.at+" parameter_type: ") {
			t.Errorf("%s: reported is %q, expected a mistake at %s", c.wrong, got, c.at)
		}
		got, titles := e.act(data, 0, "Replace by")
		if strings.TrimSuffix(got, "\n") != c.right {
			t.Errorf("%s: the fix makes %q, expected %q; the actions are %q", c.wrong, got, c.right, titles)
		}
		if got == "" {
			continue
		}
		e.change(data, got)
		e.settle()
		wantDiagnostics(t, e, data)
	}
	e.change(data, "web::list: [1]\nlookup_options:\n  web::list: {merge: deep_merge}\n")
	got, titles := e.act(data, 1, "Replace by 'deep'")
	if want := "web::list: [1]\nlookup_options:\n  web::list: {merge: deep}\n"; got != want {
		t.Errorf("strategy: the fix makes %q, expected %q; the actions are %q", got, want, titles)
	}
}

// A fact with dots gets brackets, also in single quotes.
func TestDotsOfFactAreCorrected(t *testing.T) {
	const bindings = "bindings/default.yaml"
	head := "bindings_version: 1\nname: default\nbind:\n"
	e := start(t, site(t, "-- "+bindings+" --\n"+head), withLints())
	e.open(bindings, head+"- [a, 'on ${os.release.major}']\n")
	if got, titles := e.act(bindings, 3, "Replace by"); got != head+"- [a, 'on ${os[''release''][''major'']}']\n" {
		t.Errorf("the fix makes %q; the actions are %q", got, titles)
	}
}

// A tab is replaced by spaces, and the second binding of a key is removed.
func TestTabsAndDuplicateKeysAreCorrected(t *testing.T) {
	const data = "data/common.yaml"
	e := start(t, site(t, control), withLints())
	e.open(data, "a:\n\tb: 1\n")
	if got, titles := e.act(data, 1, "Indent with spaces"); got != "a:\n  b: 1\n" {
		t.Errorf("tab: %q, actions %q", got, titles)
	}
	e.change(data, "a: 1\nb: 2\na: 3\n")
	if got, titles := e.act(data, 2, "Remove this binding"); got != "a: 1\nb: 2\n" {
		t.Errorf("duplicate: %q, actions %q", got, titles)
	}
}

// A duplicate key is removed at either place, and below a key, too.
func TestDuplicateKeyIsRemovedAtEitherPlace(t *testing.T) {
	const data = "data/common.yaml"
	e := start(t, site(t, control), withLints())
	e.open(data, "a: 1\n")
	for _, c := range []struct {
		text  string
		line  int
		title string
		want  string
	}{
		{"a: 1\nb: 2\na: 3\n", 0, "Remove this binding", "b: 2\na: 3\n"},
		{"a:\n  b: 1\n  c:\n  - 2\n  b:\n  - 3\n    # three\n\n  d: 4\n", 4, "Remove this entry",
			"a:\n  b: 1\n  c:\n  - 2\n\n  d: 4\n"},
		{"a:\n  b: 1\n  b: 2\n", 1, "Remove this entry", "a:\n  b: 2\n"},
		{"a:\n- b: 1\n  b: 2\n", 2, "Remove this entry", "a:\n- b: 1\n"},
		{"a:\n- b: 1\n  b: 2\n", 1, "Remove this entry", ""}, // the line is also the start of the list item
		{"a: {b: 1,\n  b: 2}\n", 1, "Remove this entry", ""}, // the line also closes the hash
	} {
		e.change(data, c.text)
		if got, titles := e.act(data, c.line, c.title); got != c.want {
			t.Errorf("%q, line %d: %q, expected %q; the actions are %q", c.text, c.line, got, c.want, titles)
		}
	}
}

// The correction of a misspelt version key or strategy, and the title of the action, show what is written.
func TestVersionKeysAndStrategiesAreCorrected(t *testing.T) {
	const policies, data = "policies/port.yaml", "data/common.yaml"
	e := start(t, site(t, control+"-- "+policies+" --\n"+portPolicy), withLints())
	e.open(policies, portPolicy)
	e.open(data, "x: 1\n")
	for _, c := range []struct{ file, text, title, want string }{
		{policies, strings.Replace(portPolicy, "version", "verison", 1), "Replace by 'policy_version'", portPolicy},
		{policies, strings.TrimPrefix(portPolicy, "policy_version: 1\n"), "Write 'policy_version: 1'", portPolicy},
		{data, "lookup_options: {x: {merge: deep_merge}}\nx: {}\n", "Replace by 'deep'",
			"lookup_options: {x: {merge: deep}}\nx: {}\n"},
	} {
		e.change(c.file, c.text)
		if got, titles := e.act(c.file, 0, c.title); got != c.want {
			t.Errorf("%q: %q, expected %q; the actions are %q", c.text, got, c.want, titles)
		}
		e.change(c.file, c.want)
	}
}
