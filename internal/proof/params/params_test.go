package params_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"bindc/compile"
	"bindc/diag"
	"bindc/internal/proof/params"
	"bindc/loader"
)

// reports writes the files of a site, in the form of txtar, and returns what is reported about its parameters: one
// line for each diagnostic. Files without a manifests/site.pp declare the class ntp.
func reports(t *testing.T, site string, opts params.Options) string {
	t.Helper()
	dir := t.TempDir()
	files := txtar.Parse([]byte(site)).Files
	if !strings.Contains(site, "manifests/site.pp") {
		files = append(files, txtar.File{Name: "manifests/site.pp", Data: []byte("include ntp\n")})
	}
	if !strings.Contains(site, "-- hiera.yaml --") {
		files = append(files, txtar.File{Name: "hiera.yaml", Data: []byte("version: 5\nhierarchy:\n" +
			"  - {name: role, path: 'role/%{facts.role}.yaml'}\n  - {name: common, path: common.yaml}\n")})
	}
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var diags diag.List
	loaded := loader.Load(dir, loader.Options{}, &diags)
	content := compile.Compile(loaded, compile.Options{}, &diags)
	if diags.Failed() {
		t.Fatalf("the site has errors: %v", diags.Sorted())
	}
	var found diag.List
	if _, err := params.Check(loaded, content, opts, &found); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, d := range found.Sorted() {
		file, _ := filepath.Rel(dir, d.Pos.File)
		out = append(out, fmt.Sprintf("%s:%d %s %s", filepath.ToSlash(file), d.Pos.Line, d.Severity, d.Message))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

const intClass = "-- modules/ntp/manifests/init.pp --\nclass ntp (Integer $p, Array[String] $list = []) { }\n"

func TestReportsValuesThatPuppetRefuses(t *testing.T) {
	for _, c := range []struct{ name, site, want string }{
		{"right", intClass + "-- data/common.yaml --\nntp::p: 1\nntp::list: [a]\nother::p: x\n", ""},
		{"unknown parameter", intClass + "-- data/common.yaml --\nntp::lst: [a]\n-- data/role/a.yaml --\nntp::lst: [a]\n",
			"data/common.yaml:1 warning 'ntp::lst': the class ntp has no parameter $lst, and nothing else looks this " +
				"key up; it is bound in 2 places"},
		{"looked up by a manifest", intClass + "-- data/common.yaml --\nntp::a: 1\nntp::b: 2\nntp::c: 3\nd: '%{lookup(\"ntp::c\")}'\n" +
			"-- modules/ntp/manifests/a.pp --\nclass ntp::a { $x = lookup('ntp::a') $y = lookup(\"${z}::b\") }\n", ""},
		{"wrong everywhere", intClass + "-- data/common.yaml --\nntp::p: x\n",
			"data/common.yaml:1 error 'ntp::p': expected Integer, found String"},
		{"wrong for some nodes", intClass + "-- data/common.yaml --\nntp::p: 1\n-- data/role/web.yaml --\nntp::p: x\n",
			"data/role/web.yaml:1 error 'ntp::p': expected Integer, found String, for nodes with " +
				"role/%{facts.role}.yaml = role/web.yaml (such as role=web)"},
		{"wrong value below a right one", intClass + "-- data/role/web.yaml --\nntp::p: 1\n-- data/common.yaml --\nntp::p: x\n",
			"data/common.yaml:1 error 'ntp::p': expected Integer, found String"},
		{"null without a default", intClass + "-- data/common.yaml --\nntp::p: ~\n",
			"data/common.yaml:1 error 'ntp::p': expected Integer, found Undef"},
		{"null with a default", intClass + "-- data/common.yaml --\nntp::list: ~\n", ""},
		{"text with facts that never fits", intClass + "-- data/common.yaml --\nntp::p: '%{facts.x}'\n",
			"data/common.yaml:1 error 'ntp::p': expected Integer, found String"},
		{"list with facts that never fits", intClass + "-- data/common.yaml --\nntp::list: [1, '%{facts.x}']\n",
			"data/common.yaml:1 error 'ntp::list': expected String, found Integer at [0]"},
		{"alias of a wrong value", intClass + "-- data/common.yaml --\nntp::p: \"%{alias('other')}\"\nother: x\n",
			"data/common.yaml:1 error 'ntp::p': expected Integer, found String"},
		{"alias of a right value", intClass + "-- data/common.yaml --\nntp::p: \"%{alias('other')}\"\nother: 1\n", ""},
		{"converted", intClass + "-- data/common.yaml --\nntp::p: '1'\nlookup_options:\n  ntp::p: {convert_to: Integer}\n", ""},
		{"merged", intClass + "-- data/common.yaml --\nntp::list: [a]\nlookup_options:\n  ntp::list: {merge: unique}\n" +
			"-- data/role/web.yaml --\nntp::list: [1]\n",
			"data/role/web.yaml:1 error 'ntp::list': expected String, found Integer at [0], for nodes with " +
				"role/%{facts.role}.yaml = role/web.yaml (such as role=web)"},
		{"converted for some nodes", "-- modules/ntp/manifests/init.pp --\nclass ntp (Hash $p) { }\n" +
			"-- data/common.yaml --\nntp::p: {a: 1}\n" +
			"-- data/role/web.yaml --\nlookup_options:\n  ntp::p: {convert_to: Array}\n",
			"data/common.yaml:1 error 'ntp::p': expected Hash, found Array[Array[Scalar]], for nodes with " +
				"role/%{facts.role}.yaml = role/web.yaml (such as role=web)"},
		{"merged for some nodes", intClass + "-- data/common.yaml --\nntp::list: [1]\n" +
			"-- data/role/web.yaml --\nntp::list: [a]\nlookup_options:\n  ntp::list: {merge: unique}\n" +
			"-- data/role/db.yaml --\nntp::list: [b]\n",
			"data/common.yaml:1 error 'ntp::list': expected String, found Integer at [0]\n" +
				"data/role/web.yaml:1 error 'ntp::list': expected String, found Integer at [1], for nodes with " +
				"role/%{facts.role}.yaml = role/web.yaml (such as role=web)"},
		{"right only after merging", "-- modules/ntp/manifests/init.pp --\nclass ntp (Struct[{a => Integer, b => Integer}] $p) { }\n" +
			"-- data/common.yaml --\nntp::p: {a: 1, b: 2}\nlookup_options:\n  ntp::p: {merge: hash}\n" +
			"-- data/role/web.yaml --\nntp::p: {a: 3}\n", ""},
		{"class without a declaration", intClass + "-- data/common.yaml --\nntp::p: x\n-- manifests/site.pp --\n",
			"data/common.yaml:1 warning 'ntp::p': expected Integer, found String"},
		{"set by the only declaration", intClass + "-- data/common.yaml --\nntp::p: x\n" +
			"-- manifests/site.pp --\nclass { 'ntp': p => 1 }\n",
			"data/common.yaml:1 warning 'ntp::p': expected Integer, found String"},
		{"sensitive without convert_to", "-- modules/ntp/manifests/init.pp --\nclass ntp (Sensitive[String] $p) { }\n" +
			"-- data/common.yaml --\nntp::p: x\n",
			"data/common.yaml:1 error 'ntp::p': expected Sensitive[String], found String"},
		{"sensitive with convert_to", "-- modules/ntp/manifests/init.pp --\nclass ntp (Sensitive[String] $p) { }\n" +
			"-- data/common.yaml --\nntp::p: x\nlookup_options:\n  ntp::p: {convert_to: Sensitive}\n", ""},
		{"recursive alias", "-- modules/ntp/manifests/init.pp --\nclass ntp (Ntp::Tree $p) { }\n" +
			"-- modules/ntp/types/tree.pp --\ntype Ntp::Tree = Hash[String, Variant[Integer, Ntp::Tree]]\n" +
			"-- data/common.yaml --\nntp::p: {a: {b: {c: x}}}\n",
			"data/common.yaml:1 error 'ntp::p': expected Variant[Integer, Ntp::Tree], found Hash[String, Hash[String, String]] at ['a']"},
		{"unknown type", "-- modules/ntp/manifests/init.pp --\nclass ntp (Array[Stdlib::Host] $p) { }\n" +
			"-- data/common.yaml --\nntp::p: x\n",
			"data/common.yaml:1 error 'ntp::p': expected Array[Stdlib::Host], found String\n" +
				"modules/ntp/manifests/init.pp:1 note data for 1 parameter is only checked in part, because these types " +
				"are not known: 'Stdlib::Host'"},
		{"pattern with lookahead", "-- modules/ntp/manifests/init.pp --\nclass ntp (Ntp::Digit $p, Ntp::Digit $q) { }\n" +
			"-- modules/ntp/types/digit.pp --\ntype Ntp::Digit = Pattern[/^[0-9](?!\\d)/]\n" +
			"-- data/common.yaml --\nntp::p: '12'\nntp::q: '1'\n",
			"data/common.yaml:1 error 'ntp::p': expected Ntp::Digit, found '12'"},
		{"pattern that is not supported", "-- modules/ntp/manifests/init.pp --\nclass ntp (Array[Ntp::A] $p, Ntp::A $q) { }\n" +
			"-- modules/ntp/types/a.pp --\ntype Ntp::A = Pattern[/(?~a)/]\n" +
			"-- data/common.yaml --\nntp::p: x\nntp::q: x\n",
			"data/common.yaml:1 error 'ntp::p': expected Array[Ntp::A], found String\n" +
				"modules/ntp/manifests/init.pp:1 note data for 2 parameters is only checked in part, because the type " +
				"'Ntp::A' is not supported: Pattern[]: absence operators (?~...) are not supported"},
		{"type that only Puppet has", "-- modules/ntp/manifests/init.pp --\nclass ntp (Iterable $p) { }\n" +
			"-- data/common.yaml --\nntp::p: x\n",
			"modules/ntp/manifests/init.pp:1 note data for 1 parameter is only checked in part, because the type " +
				"'Iterable' is not supported: only Puppet can decide which values have this type"},
		{"class in the file of another", "-- modules/ntp/manifests/init.pp --\nclass ntp { class inner (Integer $p) { } }\n" +
			"-- data/common.yaml --\nntp::inner::p: x\n-- manifests/site.pp --\ninclude ntp::inner\n",
			"data/common.yaml:1 error 'ntp::inner::p': expected Integer, found String"},
		{"structured bindings", intClass + "-- hiera.yaml --\nversion: 2\n-- bindings/default.yaml --\nbindings_version: 1\n" +
			"name: default\nbind:\n  - when: {environment: lab}\n    bind: [[ntp::p, x]]\n  - [ntp::p, 1]\n",
			"bindings/default.yaml:5 error 'ntp::p': expected Integer, found String, for nodes with environment = lab " +
				"(such as environment=lab)"},
		{"sensitive binding of another type", intClass + "-- hiera.yaml --\nversion: 2\n-- bindings/default.yaml --\n" +
			"bindings_version: 1\nname: default\nbind:\n  - {name: ntp::p, to: geheim, sensitive: true}\n",
			"bindings/default.yaml:4 error 'ntp::p': expected Integer, found a sensitive value of a different type"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := reports(t, c.site, params.Options{}); got != c.want {
				t.Errorf("reported:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

func TestReportsRequiredParametersWithoutValue(t *testing.T) {
	const ntp = "-- modules/ntp/manifests/init.pp --\nclass ntp ($a, $b, Integer $c = 1) { }\n"
	for _, c := range []struct{ name, site, want string }{
		{"bound", ntp + "-- data/common.yaml --\nntp::a: 1\nntp::b: 2\n", ""},
		{"not bound", ntp + "-- data/common.yaml --\nntp::a: 1\n",
			"modules/ntp/manifests/init.pp:1 lint the class ntp requires $b, but 'ntp::b' is not bound"},
		{"bound for some nodes", ntp + "-- data/common.yaml --\nntp::a: 1\n-- data/role/a.yaml --\nntp::b: 1\n",
			"modules/ntp/manifests/init.pp:1 lint the class ntp requires $b, but 'ntp::b' is only bound for nodes with " +
				"role/%{facts.role}.yaml = role/a.yaml"},
		{"class without a declaration", ntp + "-- manifests/site.pp --\n", ""},
		{"set by the declaration", ntp + "-- manifests/site.pp --\nclass { 'ntp': a => 1, b => 2 }\n", ""},
		{"perhaps set by the declaration", ntp + "-- manifests/site.pp --\nclass { 'ntp': * => $x }\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := reports(t, c.site, params.Options{Lint: true}); got != c.want {
				t.Errorf("reported:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
	want := "modules/ntp/manifests/init.pp:1 error the class ntp requires $b, but 'ntp::b' is not bound"
	got := reports(t, ntp+"-- data/common.yaml --\nntp::a: 1\n", params.Options{Require: true})
	if got != want {
		t.Errorf("reported:\n%s\nwant:\n%s", got, want)
	}
}

func TestReportsConversionsToOtherTypesOnlyIfStrict(t *testing.T) {
	const site = "-- modules/ntp/manifests/init.pp --\nclass ntp (Timestamp $p) { }\n-- data/common.yaml --\n" +
		"ntp::p: '2026-11-26T12:00:00'\n-- data/role/web.yaml --\nntp::p: '2026-11-27T12:00:00'\n" +
		"lookup_options:\n  ntp::p: {convert_to: Timestamp}\n"
	const wrong = "data/common.yaml:1 error 'ntp::p': expected Timestamp, found String"
	if got := reports(t, site, params.Options{Strict: true}); got != wrong {
		t.Errorf("%s\nwant\n%s", got, wrong)
	}
	site2 := strings.Replace(site, "-- data/role/web.yaml --\nntp::p: '2026-11-27T12:00:00'\n", "", 1)
	const open = "data/common.yaml:1 note 'ntp::p': whether the value is Timestamp is not known, because " +
		"lookup_options convert it to a type that bindings do not have, so it is not proven"
	if got := reports(t, site2, params.Options{Strict: true}); got != open {
		t.Errorf("%s\nwant\n%s", got, open)
	}
	if got := reports(t, site2, params.Options{}); got != "" {
		t.Error(got)
	}
}

func TestReportsUnprovenValuesOnlyIfStrict(t *testing.T) {
	const site = "-- modules/ntp/manifests/init.pp --\nclass ntp (Enum[a, b] $p) { }\n-- data/common.yaml --\nntp::p: '%{facts.x}'\n"
	if got := reports(t, site, params.Options{}); got != "" {
		t.Error(got)
	}
	want := "data/common.yaml:1 note 'ntp::p': whether the value is Enum[a, b] depends on facts, so it is not proven"
	if got := reports(t, site, params.Options{Strict: true}); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
