package params_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"bindc/internal/proof/params"
)

// roles has two roles: the class role::web leads to the class app, whose required parameter $p has no value.
const roles = "-- modules/role/manifests/web.pp --\nclass role::web { include app }\n" +
	"-- modules/role/manifests/db.pp --\nclass role::db { }\n" +
	"-- modules/app/manifests/init.pp --\nclass app (Integer $p) { }\n"

func TestComputedNamesDeclareClasses(t *testing.T) {
	const missing = "modules/app/manifests/init.pp:1 error the class app requires $p, but 'app::p' is not bound"
	doubtful := strings.Replace(missing, "error", "warning", 1)
	unknown := func(source, why string) string {
		return "manifests/site.pp:1 note the classes that '" + source + "' declares are unknown, because " + why +
			"; wrong or missing values of their parameters may only be warnings\n" + doubtful
	}
	for _, c := range []struct{ name, manifest, data, want string }{
		{"prefix", "include \"role::${trusted['extensions']['pp_role']}\"", "", missing},
		{"prefix in a variable", "node default {\n$c = \"role::${facts['role']}\"\nif defined($c) { include $c }\n}", "", missing},
		{"prefix of a class that is only a part of another", "include \"app${x}\"", "-- modules/app/manifests/a.pp --\nclass app::a { }\n",
			doubtful},
		{"prefix under another condition", "if $x == 1 { include \"role::${y}\" }", "", doubtful},
		{"prefix without classes", "include \"rolle::${y}\"", "", unknown(`"rolle::${y}"`, "no class has the name 'rolle::*'")},
		{"prefix in a class that is not declared", "", "-- modules/x/manifests/init.pp --\nclass x { include \"role::${y}\" }\n", doubtful},
		{"values of a key", "include lookup('roles')", "roles: [role::web]\n", missing},
		{"one value of a key", "$r = hiera('my::role', 'role::db')\ninclude $r", "my::role: role::web\n", missing},
		{"values of a key on some nodes", "lookup('roles').include", "-- data/role/a.yaml --\nroles: [role::web]\n", missing},
		{"key in each", "lookup('roles').each |$c| { contain $c }", "roles: [role::web]\n", missing},
		{"key without a value", "lookup('roles').include", "",
			unknown("lookup('roles')", "no data has the key 'roles'")},
		{"fact", "include $facts['role']", "", unknown("$facts['role']", "they depend on $facts['role']")},
		{"fact with a value for some nodes", "include \"role::${role}\"", "-- data/role/a.yaml --\napp::p: 1\n",
			"modules/app/manifests/init.pp:1 warning the class app requires $p, but 'app::p' is only bound for nodes " +
				"with role/%{facts.role}.yaml = role/a.yaml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := c.data
			if !strings.HasPrefix(data, "-- ") {
				data = "-- data/common.yaml --\n" + data
			}
			got := reports(t, roles+"-- manifests/site.pp --\n"+c.manifest+"\n"+data, params.Options{Require: true})
			if got != c.want {
				t.Errorf("reported:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

func TestOneRuleDecidesWhetherAClassIsDeclared(t *testing.T) {
	// In roles, a manifest declares the class app in any case, so a wrong value is an error.
	for _, c := range []struct{ name, manifest, wrong, missing string }{
		{"declared for all nodes", "include app", "error", "error"},
		{"declared by a computed name", "include \"role::${x}\"", "error", "error"},
		{"declared under a condition", "if $x { include app }", "error", "warning"},
		{"declared by a class that nothing declares", "", "error", "warning"},
		{"declared with a value", "class { 'app': p => 1 }", "error", "warning"},
	} {
		t.Run(c.name, func(t *testing.T) {
			site := roles + "-- manifests/site.pp --\n" + c.manifest + "\n-- data/common.yaml --\n"
			for data, severity := range map[string]string{"app::p: x\n": c.wrong, "": c.missing} {
				got := reports(t, site+data, params.Options{Require: true})
				if !strings.Contains(got, " "+severity+" ") || strings.Contains(got, "\n") {
					t.Errorf("with the data %q: %s\nwant one %s", data, got, severity)
				}
			}
		})
	}
}

func TestMissingValueNamesTheWayToTheClass(t *testing.T) {
	for _, c := range []struct {
		manifest string
		entries  []string
		want     string
	}{
		{"node default {\ninclude \"role::${x}\"\n}", nil, "site.pp:2 nodes get the class role::web here"},
		{"include role::web", nil, "site.pp:1 nodes get the class role::web here"},
		{"", []string{"role::web"}, "web.pp:1 --entry-class names the class role::web"},
		{"include app", nil, ""},
		{"", nil, ""},
	} {
		opts := params.Options{Require: true, Entries: c.entries}
		list := diagnosed(t, roles+"-- manifests/site.pp --\n"+c.manifest+"\n", opts)
		got := ""
		for _, note := range list[0].Notes[1:] {
			got += fmt.Sprintf("%s:%d %s", filepath.Base(note.Pos.File), note.Pos.Line, note.Message)
		}
		if len(list) != 1 || got != c.want {
			t.Errorf("%s: reported %v with the note %q, want %q", c.manifest, list, got, c.want)
		}
	}
}

func TestEntryClassesAreDeclared(t *testing.T) {
	site := roles + "-- manifests/site.pp --\ninclude $facts['role']\n"
	const missing = "modules/app/manifests/init.pp:1 error the class app requires $p, but 'app::p' is not bound"
	for _, c := range []struct {
		entry, want string
	}{
		{"role::*", missing},
		{"::role::web", missing},
		{"*::web", missing},
		{"role::*b", missing},
		{"app", strings.Replace(missing, "error", "warning", 1)}, // an ENC may set the parameter
		{"rolle::*", "no class has the name 'rolle::*' of --entry-class"},
	} {
		got := reports(t, site, params.Options{Require: true, Entries: []string{c.entry}})
		if !strings.Contains(got, c.want) {
			t.Errorf("--entry-class %s: %s\nwant %s", c.entry, got, c.want)
		}
	}
}

func TestFactsOfNodesNameClasses(t *testing.T) {
	site := roles + "-- manifests/site.pp --\ninclude $facts['role']\n"
	opts := params.Options{Require: true, Variable: func(name string) []string {
		return map[string][]string{"facts.role": {"role::web"}}[name]
	}}
	const want = "modules/app/manifests/init.pp:1 error the class app requires $p, but 'app::p' is not bound"
	if got := reports(t, site, opts); got != want {
		t.Errorf("reported %s, want %s", got, want)
	}
}
