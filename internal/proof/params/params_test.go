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
	"bindc/internal/manifest"
	"bindc/internal/proof/params"
	"bindc/loader"
)

// reports returns what is reported about the parameters of a site, one line for each diagnostic.
func reports(t *testing.T, site string, opts params.Options) string {
	t.Helper()
	var out []string
	for _, d := range diagnosed(t, site, opts) {
		out = append(out, fmt.Sprintf("%s:%d %s %s", d.Pos.File, d.Pos.Line, d.Severity, d.Message))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// diagnosed writes the files of a site, in the form of txtar, and returns what is reported about its parameters. Sites
// without a manifests/site.pp declare the class ntp.
func diagnosed(t *testing.T, site string, opts params.Options) []diag.Diagnostic {
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
	out := found.Sorted()
	for i := range out {
		file, _ := filepath.Rel(dir, out[i].Pos.File)
		out[i].Pos.File = filepath.ToSlash(file)
	}
	return out
}

const intClass = "-- modules/ntp/manifests/init.pp --\nclass ntp (Integer $p, Array[String] $list = []) { }\n"

// structClass declares a class whose parameter takes a hash inside a hash.
const structClass = "-- modules/ntp/manifests/init.pp --\nclass ntp (Struct[{Optional[b] => Struct[{Optional[a] => String}]}] " +
	"$p) { }\n"

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
			"data/common.yaml:1 error 'ntp::p': expected Integer, found String, for nodes where no higher level sets the key"},
		{"null without a default", intClass + "-- data/common.yaml --\nntp::p: ~\n",
			"data/common.yaml:1 error 'ntp::p': expected Integer, found Undef"},
		{"null without a default for a class of some nodes", intClass + "-- data/common.yaml --\nntp::p: ~\n" +
			"-- data/role/web.yaml --\nntp::p: 1\n-- manifests/site.pp --\nnode 'web' { include ntp }\n",
			"data/common.yaml:1 warning 'ntp::p': expected Integer, found Undef, for nodes where no higher level sets the key"},
		{"null of some nodes", intClass + "-- data/role/web.yaml --\nntp::p: ~\n-- manifests/site.pp --\nnode 'web' { include ntp }\n",
			"data/role/web.yaml:1 error 'ntp::p': expected Integer, found Undef, for nodes with role/%{facts.role}.yaml = " +
				"role/web.yaml (such as role=web)"},
		{"value that fits another parameter", "-- modules/ntp/manifests/init.pp --\nclass ntp (String $o, Integer $p) { }\n" +
			"-- data/common.yaml --\nntp::o: x\nntp::p: x\n",
			"data/common.yaml:2 error 'ntp::p': expected Integer, found String"},
		{"null that fits another parameter with a default", "-- modules/ntp/manifests/init.pp --\n" +
			"class ntp (Integer $o = 1, Integer $p) { }\n-- data/common.yaml --\nntp::o: ~\nntp::p: ~\n",
			"data/common.yaml:2 error 'ntp::p': expected Integer, found Undef"},
		{"value that fits another parameter and is merged", "-- modules/ntp/manifests/init.pp --\nclass ntp (Hash $o, Hash $p) { }\n" +
			"-- data/common.yaml --\nntp::o: {a: 1}\nntp::p: {a: 1}\nlookup_options:\n  ntp::p: {merge: unique}\n",
			"data/common.yaml:3 error 'ntp::p': expected Hash, found Array[Hash[String, Integer]]"},
		{"aliases of the same name", "-- modules/ntp/manifests/init.pp --\ntype Port = String\nclass ntp (Port $p) { include ntp::a }\n" +
			"-- modules/ntp/manifests/a.pp --\ntype Port = Integer\nclass ntp::a (Port $q) { }\n" +
			"-- data/common.yaml --\nntp::p: x\nntp::a::q: x\n",
			"data/common.yaml:2 error 'ntp::a::q': expected Port, found String"},
		// Puppet 7.23 accepts the first one, and refuses the other two.
		{"wrong hash without string keys inside a struct", structClass + "-- data/common.yaml --\nntp::p: {b: {-5: 1}}\n", ""},
		{"wrong hash without string keys", structClass + "-- data/common.yaml --\nntp::p: {-5: 1}\n",
			"data/common.yaml:1 error 'ntp::p': expected Struct[{Optional['b'] => Struct[{Optional['a'] => String}]}], " +
				"found an unknown key at [-5]"},
		{"wrong hash with string keys inside a struct", structClass + "-- data/common.yaml --\nntp::p: {b: {c: 1}}\n",
			"data/common.yaml:1 error 'ntp::p': expected Struct[{Optional['a'] => String}], found an unknown key at ['b']['c']"},
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
			"data/role/web.yaml:1 error 'ntp::p': expected Hash, found Array[Array[Scalar]], for nodes with " +
				"role/%{facts.role}.yaml = role/web.yaml (such as role=web)"},
		{"merged for some nodes", intClass + "-- data/common.yaml --\nntp::list: [1]\n" +
			"-- data/role/web.yaml --\nntp::list: [a]\nlookup_options:\n  ntp::list: {merge: unique}\n" +
			"-- data/role/db.yaml --\nntp::list: [b]\n",
			"data/common.yaml:1 error 'ntp::list': expected String, found Integer at [0], for nodes where no higher level " +
				"sets the key"},
		{"wrong in one of three merged hashes", "-- modules/ntp/manifests/init.pp --\nclass ntp (Hash[String, Hash[String, String]] $p) { }\n" +
			"-- hiera.yaml --\nversion: 5\nhierarchy: [{name: all, paths: ['node/%{facts.n}.yaml', 'role/%{facts.role}.yaml', common.yaml]}]\n" +
			"-- data/common.yaml --\nntp::p: {a: {x: y}}\nlookup_options:\n  ntp::p: {merge: deep}\n" +
			"-- data/node/n.yaml --\nntp::p: {b: {x: y}}\n-- data/role/web.yaml --\nntp::p: {a: {v: 1.5}}\n",
			"data/role/web.yaml:1 error 'ntp::p': expected String, found Float at ['a']['v'], for nodes with " +
				"role/%{facts.role}.yaml = role/web.yaml (such as role=web)"},
		{"wrong only after merging", "-- modules/ntp/manifests/init.pp --\nclass ntp (Hash $p) { }\n" +
			"-- data/common.yaml --\nlookup_options:\n  ntp::p: {merge: unique}\nntp::p: {a: 1}\n" +
			"-- data/role/web.yaml --\nntp::p: {a: 2}\n-- data/role/db.yaml --\nntp::p: {a: 3}\n",
			"data/common.yaml:1 error 'ntp::p': expected Hash, found Array[Hash[String, Integer]], for nodes where no " +
				"higher level sets the key"},
		{"conversion that always fails", intClass + "-- data/common.yaml --\nntp::p: x\nlookup_options:\n  ntp::p: {convert_to: Integer}\n",
			"data/common.yaml:1 error 'ntp::p': convert_to of 'ntp::p' to Integer: Integer(): the String is not an Integer"},
		{"conversion that fails for some nodes", intClass + "-- data/common.yaml --\nntp::p: x\nlookup_options:\n  ntp::p: {convert_to: Integer}\n" +
			"-- data/role/web.yaml --\nntp::p: '1'\n", ""},
		{"conversion that only Puppet has", "-- modules/ntp/manifests/init.pp --\nclass ntp (Integer $p) { }\n" +
			"-- data/common.yaml --\nntp::p: x\nlookup_options:\n  ntp::p: {convert_to: SemVer}\n", ""},
		{"unknown merge strategy", intClass + "-- data/common.yaml --\nntp::list: [a]\nlookup_options:\n  ntp::list: {merge: depth}\n",
			"data/common.yaml:2 error 'ntp::list': unknown merge strategy 'depth', expected first, unique, hash or deep"},
		{"level below one with more variables", intClass + "-- hiera.yaml --\nversion: 5\nhierarchy: [{name: all, " +
			"paths: ['os/%{facts.os.name}-%{facts.os.release.major}.yaml', 'os/%{facts.os.name}.yaml']}]\n" +
			"-- data/os/windows-2016.yaml --\nntp::p: x\n",
			"data/os/windows-2016.yaml:1 error 'ntp::p': expected Integer, found String, for nodes with " +
				"os/%{facts.os.name}-%{facts.os.release.major}.yaml = os/windows-2016.yaml (such as os.name=windows, " +
				"os.release.major=2016)"},
		{"right only after merging", "-- modules/ntp/manifests/init.pp --\nclass ntp (Struct[{a => Integer, b => Integer}] $p) { }\n" +
			"-- data/common.yaml --\nntp::p: {a: 1, b: 2}\nlookup_options:\n  ntp::p: {merge: hash}\n" +
			"-- data/role/web.yaml --\nntp::p: {a: 3}\n", ""},
		{"class without a declaration", intClass + "-- data/common.yaml --\nntp::p: x\n-- manifests/site.pp --\n",
			"data/common.yaml:1 warning 'ntp::p': expected Integer, found String"},
		{"class that data lists", intClass + "-- data/common.yaml --\nntp::p: x\nsite::all: [ntp, ntp::b]\n" +
			"-- modules/ntp/manifests/b.pp --\nclass ntp::b { }\n-- manifests/site.pp --\n",
			"data/common.yaml:1 error 'ntp::p': expected Integer, found String"},
		{"package with the name of a class", intClass + "-- data/common.yaml --\nntp::p: x\npackages: [ntp]\n-- manifests/site.pp --\n",
			"data/common.yaml:1 warning 'ntp::p': expected Integer, found String"},
		{"set by the only declaration", intClass + "-- data/common.yaml --\nntp::p: x\n" +
			"-- manifests/site.pp --\nclass { 'ntp': p => 1 }\n",
			"data/common.yaml:1 warning 'ntp::p': expected Integer, found String"},
		{"sensitive without convert_to", "-- modules/ntp/manifests/init.pp --\nclass ntp (Sensitive[String] $p) { }\n" +
			"-- data/common.yaml --\nntp::p: x\n",
			"data/common.yaml:1 error 'ntp::p': expected Sensitive[String], found String"},
		{"sensitive with convert_to", "-- modules/ntp/manifests/init.pp --\nclass ntp (Sensitive[String] $p) { }\n" +
			"-- data/common.yaml --\nntp::p: x\nlookup_options:\n  ntp::p: {convert_to: Sensitive}\n", ""},
		{"sensitive for a parameter that is not", "-- modules/ntp/manifests/init.pp --\nclass ntp (String $p) { }\n" +
			"-- data/common.yaml --\nntp::p: x\nlookup_options:\n  ntp::p: {convert_to: Sensitive}\n",
			"data/common.yaml:2 error 'ntp::p': expected String, found a sensitive value of a different type"},
		{"alias next to the class", "-- modules/ntp/manifests/init.pp --\ntype Port = Ntp::Number\n" +
			"class ntp (Array[Port] $p) { }\n-- modules/ntp/types/number.pp --\ntype Ntp::Number = Integer\n" +
			"-- data/common.yaml --\nntp::p: [x]\n",
			"data/common.yaml:1 error 'ntp::p': expected Port, found String at [0]"},
		{"alias in the manifest of another class", "-- modules/ntp/manifests/init.pp --\nclass ntp (Port $p) { }\n" +
			"-- modules/ntp/manifests/a.pp --\ntype Port = Integer\nclass ntp::a (Port $q) { }\n" +
			"-- data/common.yaml --\nntp::p: x\nntp::a::q: 1\n",
			"modules/ntp/manifests/init.pp:1 note data for 1 parameter is only checked in part, because these types " +
				"are unknown: 'Port'"},
		{"glob that missing facts reach", intClass + "-- hiera.yaml --\nversion: 5\nhierarchy:\n" +
			"  - {name: host, globs: ['host/%{facts.host}/*.yaml', 'host/%{facts.host}.yaml']}\n" +
			"  - {name: common, path: common.yaml}\n" +
			"-- data/host/a1.yaml --\nntp::p: x\n-- data/common.yaml --\nntp::p: y\n",
			"data/common.yaml:1 error 'ntp::p': expected Integer, found String, for nodes where no higher level sets the key\n" +
				"data/host/a1.yaml:1 error 'ntp::p': expected Integer, found String, for nodes with " +
				"host/%{facts.host}.yaml = host/a1.yaml (such as host=a1)"},
		{"recursive alias", "-- modules/ntp/manifests/init.pp --\nclass ntp (Ntp::Tree $p) { }\n" +
			"-- modules/ntp/types/tree.pp --\ntype Ntp::Tree = Hash[String, Variant[Integer, Ntp::Tree]]\n" +
			"-- data/common.yaml --\nntp::p: {a: {b: {c: x}}}\n",
			"data/common.yaml:1 error 'ntp::p': expected Variant[Integer, Ntp::Tree], found Hash[String, Hash[String, String]] at ['a']"},
		{"unknown type", "-- modules/ntp/manifests/init.pp --\nclass ntp (Array[Stdlib::Host] $p) { }\n" +
			"-- data/common.yaml --\nntp::p: x\n",
			"data/common.yaml:1 error 'ntp::p': expected Array[Stdlib::Host], found String\n" +
				"modules/ntp/manifests/init.pp:1 note data for 1 parameter is only checked in part, because these types " +
				"are unknown: 'Stdlib::Host'"},
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

func TestHintsNameWhatToWrite(t *testing.T) {
	const sensitive = "lookup_options convert the value to Sensitive: remove convert_to, or declare the parameter as " +
		"Sensitive[String]"
	for _, c := range []struct{ name, typ, value, want string }{
		{"text of a lookup", "Integer", `"%{lookup('n')}"`, "lookup() makes a string of the value; write %{alias('n')}"},
		{"text of a fact", "Boolean", "'%{facts.x}'",
			"text with interpolations is a string; add to lookup_options: 'ntp::p': {convert_to: Boolean}"},
		{"text of a fact in a hash", "Hash[String, Integer]", "{a: '%{facts.x}'}", ""},
		{"alias of a key without data", "Array", `"%{alias('x')}"`, "bind 'x': no data binds this key"},
		{"alias of a wrong value", "Array", `"%{alias('n')}"`, "the value is that of 'n'"},
		{"text of a number", "Integer", "'80'", "write the number without quotes"},
		{"text of a number in a list", "Array[Integer]", "[1, '80']", "write the number without quotes"},
		{"text that is no number", "Integer", "http", ""},
		{"text of a number that YAML reads as octal", "Integer", "'0644'", ""},
		{"constant for a list", "Array", "x", "write a list, even of one element"},
		{"wrong text for an alias of an Enum", "Ntp::Mode", "mssql", "write one of 'sql' and 'wid'"},
		{"text like one of an alias of an Enum", "Ntp::Mode", "wids", "did you mean 'wid'?"},
		{"text like one of two Enums", "Variant[Enum[server, client], Ntp::Mode]", "wids", "did you mean 'wid'?"},
		{"wrong text for two Enums", "Variant[Enum[server], Ntp::Mode]", "x9", "write one of 'server', 'sql' and 'wid'"},
		{"wrong text for an Enum or a Pattern", "Variant[Ntp::Mode, Pattern[/^a/]]", "x9", ""},
		{"wrong text for an alias with many texts", "Ntp::Unit", "none",
			"write one of 'a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7', 'a8' and 'a9'"},
		{"text like one of an Enum", "Enum[server, client]", "clinet", "did you mean 'client'?"},
		{"constant for a list in a hash", "Hash[String, Array]", "{a: x}", "write a list, even of one element"},
		{"conversion to another type", "String", "'5'\nlookup_options:\n  ntp::p: {convert_to: Integer}",
			"lookup_options convert the value to Integer: remove convert_to"},
		{"conversion to Sensitive", "String", "x\nlookup_options:\n  ntp::p: {convert_to: Sensitive}", sensitive},
		{"conversion to Sensitive of a wrong value", "Sensitive[Integer]",
			"x\nlookup_options:\n  ntp::p: {convert_to: Sensitive}", "add to lookup_options: 'ntp::p': {convert_to: Sensitive}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := diagnosed(t, "-- modules/ntp/manifests/init.pp --\nclass ntp ("+c.typ+" $p) { }\n"+
				"-- modules/ntp/types/mode.pp --\ntype Ntp::Mode = Enum[sql, wid]\n"+
				"-- modules/ntp/types/unit.pp --\ntype Ntp::Unit = Enum[a1, a2, a3, a4, a5, a6, a7, a8, a9]\n"+
				"-- data/common.yaml --\nn: 5\nntp::p: "+c.value+"\n", params.Options{})
			if len(list) != 1 || list[0].Hint != c.want {
				t.Errorf("reported %v\nwant one error with the hint\n%s", list, c.want)
			}
		})
	}
}

// A misspelt text of an Enum has a correction, also if the Enum has another name or is one of several types.
func TestMisspeltTextOfEnumIsCorrected(t *testing.T) {
	for _, typ := range []string{"Enum[sql, wid]", "Ntp::Mode", "Optional[Ntp::Mode]", "Variant[Boolean, Ntp::Mode]"} {
		list := diagnosed(t, "-- modules/ntp/manifests/init.pp --\nclass ntp ("+typ+" $p) { }\n"+
			"-- modules/ntp/types/mode.pp --\ntype Ntp::Mode = Enum[sql, wid]\n-- data/common.yaml --\nntp::p: wids\n",
			params.Options{})
		if want := (diag.Fix{Old: "wids", New: "'wid'", Value: true}); len(list) != 1 || list[0].Fix != want {
			t.Errorf("%s: reported %+v, expected one error with the correction %v", typ, list, want)
		}
	}
}

func TestHintSaysWhereUnknownTypesAreDefined(t *testing.T) {
	for _, c := range []struct{ typ, want string }{
		{"Ntp::A::B", "define the type Ntp::A::B in types/a/b.pp of the module ntp"},
		{"Other::A", "put the modules that define these types on the module path"},
		{"Environment::A", "define the type Environment::A in types/a.pp of the environment"},
		{"Port", "Puppet finds the type Port only in the manifest of the class; elsewhere, call it MODULE::Port and " +
			"define it in types/port.pp of that module"},
	} {
		list := diagnosed(t, "-- modules/ntp/manifests/init.pp --\nclass ntp ("+c.typ+" $p) { }\n"+
			"-- data/common.yaml --\nntp::p: 1\n", params.Options{})
		if len(list) != 1 || list[0].Hint != c.want {
			t.Errorf("%s: reported %v\nwant one note with the hint\n%s", c.typ, list, c.want)
		}
	}
}

func TestReportsLookupOptionsThatCauseTheError(t *testing.T) {
	list := diagnosed(t, "-- modules/ntp/manifests/init.pp --\nclass ntp (String $p) { }\n-- data/common.yaml --\n"+
		"ntp::p: a\nlookup_options:\n  ntp::p: {merge: unique}\n", params.Options{})
	if len(list) != 1 || len(list[0].Notes) != 2 {
		t.Fatalf("reported %v, want one error with two notes", list)
	}
	note := list[0].Notes[1]
	if note.Pos.Line != 2 || note.Message != `these lookup_options apply: {"merge":"unique"}` {
		t.Errorf("the note is %v", note)
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
		{"set by a declaration before contain", ntp + "-- manifests/site.pp --\nclass { 'ntp': a => 1, b => 2 }\ncontain ntp\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := reports(t, c.site, params.Options{Lint: true}); got != c.want {
				t.Errorf("reported:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

func TestMissingValueIsErrorIfNodesCertainlyGetTheClass(t *testing.T) {
	const ntp = "-- modules/ntp/manifests/init.pp --\nclass ntp ($a) { }\n-- data/common.yaml --\nx: 1\n"
	const role = "-- modules/role/manifests/web.pp --\nclass role::web { include ntp }\n"
	for _, c := range []struct{ name, site, want string }{
		{"included", ntp, "error"},
		{"included in a node", ntp + "-- manifests/site.pp --\nnode 'a' { include ntp }\n", "error"},
		{"included by a class that is included", ntp + role + "-- manifests/site.pp --\ninclude role::web\n", "error"},
		{"included by a class that data lists", ntp + role + "-- data/common.yaml --\nroles: [role::web]\n-- manifests/site.pp --\n",
			"error"},
		{"included by a class that data lists for some nodes", ntp + role +
			"-- data/role/a.yaml --\nroles: [role::web]\n-- manifests/site.pp --\n", "warning"},
		{"included by a class that nothing includes", ntp + role + "-- manifests/site.pp --\n", "warning"},
		{"included under a condition", ntp + "-- manifests/site.pp --\nif $x { include ntp }\n", "warning"},
		{"included by a class that is included under a condition", ntp + role +
			"-- manifests/site.pp --\nif $x { include role::web }\n", "warning"},
		{"included twice", ntp + role + "-- manifests/site.pp --\nif $x { include ntp }\ninclude role::web\n", "error"},
		{"listed for some nodes, in a list that other data repeats for all", ntp + "pkgs: [ntp]\n" +
			"-- data/role/a.yaml --\nclasses: [ntp]\n-- manifests/site.pp --\n", "warning"},
		{"set by the only certain declaration", ntp + "-- manifests/site.pp --\nif $x { include ntp }\nclass { 'ntp': a => 1 }\n",
			"warning"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := "modules/ntp/manifests/init.pp:1 " + c.want + " the class ntp requires $a, but 'ntp::a' is not bound"
			if got := reports(t, c.site, params.Options{Require: true}); got != want {
				t.Errorf("reported:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func TestReportsConversionsToOtherTypesOnlyIfStrict(t *testing.T) {
	const site = "-- modules/ntp/manifests/init.pp --\nclass ntp (Timestamp $p) { }\n-- data/common.yaml --\n" +
		"ntp::p: '2026-11-26T12:00:00'\n-- data/role/web.yaml --\nntp::p: '2026-11-27T12:00:00'\n" +
		"lookup_options:\n  ntp::p: {convert_to: Timestamp}\n"
	const wrong = "data/common.yaml:1 error 'ntp::p': expected Timestamp, found String, for nodes where no higher level " +
		"sets the key"
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

func TestDecidesEncryptedValuesWithoutDecryption(t *testing.T) {
	const secret = "ENC[PKCS7,MIIBeQYJKoZIhvcNAQcDoIIBajCCAWYCAQAxggEhMIIBHQIBADAFMAACAQEwDQYJKoZIhvcNAQEBBQAEggEA]"
	const open = "data/common.yaml:1 note 'ntp::p': whether the value is Sensitive[String[1]] depends on encrypted text, so " +
		"it is not proven"
	const convert = "\nlookup_options:\n  ntp::p: {convert_to: Sensitive}"
	for _, c := range []struct{ name, typ, more, want string }{
		{"String for Sensitive", "Sensitive[String[1]]", "",
			"data/common.yaml:1 error 'ntp::p': expected Sensitive[String[1]], found String"},
		{"String for Integer", "Integer", "",
			"data/common.yaml:1 error 'ntp::p': expected Integer, found String"},
		{"String for String", "String", "", ""},
		{"converted to Sensitive", "Sensitive[String[1]]", convert, open},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := reports(t, "-- modules/ntp/manifests/init.pp --\nclass ntp ("+c.typ+" $p) { }\n"+
				"-- hiera.yaml --\nversion: 5\nhierarchy: [{name: common, path: common.yaml, lookup_key: eyaml_lookup_key}]\n"+
				"-- data/common.yaml --\nntp::p: '"+secret+"'"+c.more+"\n", params.Options{Strict: true})
			if got != c.want {
				t.Errorf("reported:\n%s\nwant:\n%s", got, c.want)
			}
		})
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

func TestHintNamesNoParameterThatTheFileBinds(t *testing.T) {
	for _, c := range []struct{ data, want string }{
		{"ntp::lst: [a]\n", "did you mean 'ntp::list'?"},
		{"ntp::lst: [a]\nntp::list: [b]\n", ""},
		{"ntp::lst: [a]\n-- data/role/a.yaml --\nntp::list: [b]\n", "did you mean 'ntp::list'?"},
	} {
		list := diagnosed(t, intClass+"-- data/common.yaml --\n"+c.data, params.Options{})
		if len(list) != 1 || list[0].Fix.Hint() != c.want {
			t.Errorf("%s: reported %v, want one warning with the hint %q", c.data, list, c.want)
		}
	}
}

func TestReportsManifestThatIsTooLarge(t *testing.T) {
	site := "-- modules/ntp/manifests/init.pp --\nclass ntp ($a) { }\n#" + strings.Repeat("x", manifest.MaxSize) +
		"\n-- data/common.yaml --\nntp::a: 1\n"
	const want = "modules/ntp/manifests/init.pp: expected at most 4194304 bytes, found 4194325"
	if got := reports(t, site, params.Options{}); !strings.Contains(got, want) {
		t.Errorf("found '%s', expected '%s'", got, want)
	}
}

// Puppet accepts some wrong values whose inner hashes have keys that are not strings. With Strict, a note says so.
func TestReportsHashesWithoutStringKeysOnlyIfStrict(t *testing.T) {
	site := structClass + "-- data/common.yaml --\nntp::p: {b: {-5: 1}}\n"
	if got := reports(t, site, params.Options{}); got != "" {
		t.Errorf("reported: %s", got)
	}
	want := "because a hash inside it has keys that are not strings, so it is not proven"
	if got := reports(t, site, params.Options{Strict: true}); !strings.Contains(got, want) {
		t.Errorf("reported: %s", got)
	}
}
