package serve_test

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bindc/serve"
)

// hiera5 is a control repository whose hierarchy has three entries. A client may look up keys in a range of the
// entries.
var hiera5 = []string{
	"hiera.yaml", `
version: 5
hierarchy:
  - {name: Role, path: 'role/%{role}.yaml'}
  - {name: Site, paths: ['site/%{site}.yaml', 'site.yaml']}
  - {name: Secrets, path: common.eyaml, lookup_key: eyaml_lookup_key}
`,
	"data/role/web.yaml", `
users: [web]
"a.b": dotted
lookup_options:
  users: {merge: unique}
`,
	"data/site.yaml", `
users: [site, site]
motd: 'of %{site}'
lookup_options:
  users: {convert_to: 'Array'}
  motd: {convert_to: Sensitive}
`,
	"data/common.eyaml", `
users: [root]
secret: 'ENC[PKCS7,AAAA]'
greeting: 'hello'
`,
}

func TestLooksUpKeysInHiera5Entries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.snap")
	build(t, path, "bindings_version: 1\nname: default\nbind:\n  - {name: key, to: own, sensitive: true}\n", hiera5...)
	p := connect(t, server(t, path, func(o *serve.Options) {
		o.Snapshot.Decrypt = func(string) (string, error) { return "plain", nil }
	}))
	needs := p.ask(hello())["snapshot"].(object)
	names := needs["variables"].([]any)
	if needs["hiera"] != true || !slices.Contains(names, any("role")) || !slices.Contains(names, any("site")) {
		t.Fatalf("the snapshot needs %v", needs)
	}
	vars := object{"role": "web", "site": "osl"}
	p.ask(object{"ask": "node", "session": 1, "digest": needs["digest"], "vars": vars})
	sensitive := func(v any) object { return object{"__ptype": "Sensitive", "__pvalue": v} }
	for _, c := range []struct {
		what         string
		entries      string
		key          string
		merge        any
		values, rich object
	}{
		{"merged and converted by lookup_options", "", "users", nil, object{"users": []any{"web", "site", "root"}}, nil},
		{"merged by the client's strategy", "", "users", "first", object{"users": []any{"web"}}, nil},
		{"converted to Sensitive", "", "motd", nil, object{}, object{"motd": sensitive("of osl")}},
		{"all entries, first value", "0-", "users", nil, object{"users": []any{"web"}}, nil},
		{"all entries, merged", "0-", "users", "unique", object{"users": []any{"web", "site", "root"}}, nil},
		{"one of several entries", "1-1", "users", object{"strategy": "unique"},
			object{"users": []any{"site", "site"}}, nil},
		{"the last entry", "2-", "users", "unique", object{"users": []any{"root"}}, nil},
		{"entries are not converted", "0-", "motd", nil, object{"motd": "of osl"}, nil},
		{"a key of another entry is absent", "0-0", "motd", nil, object{}, nil},
		{"lookup_options of all entries", "0-", "lookup_options", "hash", object{"lookup_options": object{
			"users": object{"merge": "unique"}, "motd": object{"convert_to": "Sensitive"}}}, nil},
		{"lookup_options of one entry", "1-1", "lookup_options", "hash", object{"lookup_options": object{
			"users": object{"convert_to": "Array"}, "motd": object{"convert_to": "Sensitive"}}}, nil},
		{"decrypted value is plain", "0-", "secret", nil, object{"secret": "plain"}, nil},
		{"a key with a dot, as in data files", "0-", "a.b", nil, object{"a.b": "dotted"}, nil},
		{"bindings file belongs to the first entry", "0-0", "key", nil, object{}, object{"key": sensitive("own")}},
		{"bindings file does not belong to other entries", "1-1", "key", nil, object{}, nil},
	} {
		q := object{"ask": "keys", "session": 1, "keys": []string{c.key}, "entries": c.entries, "merge": c.merge}
		a := p.ask(q)
		rich, _ := a["rich"].(object)
		if !reflect.DeepEqual(a["values"], any(c.values)) || !reflect.DeepEqual(rich, c.rich) {
			t.Errorf("%s: %s in entries %q by %v: %v", c.what, c.key, c.entries, c.merge, a)
		}
	}
	below := p.ask(object{"ask": "prefix", "session": 1, "prefix": "", "direct": true, "entries": "2-"})
	last := object{"users": []any{"root"}, "secret": "plain", "greeting": "hello"}
	if !reflect.DeepEqual(below["values"], any(last)) {
		t.Errorf("all keys of the last entry: %v", below)
	}
	for _, entries := range []string{"x", "1", "2-1", "-", "-1-2", "1-99999999999"} {
		q := object{"ask": "keys", "session": 1, "keys": []string{"users"}, "entries": entries}
		if code := p.code(q); code != "usage" {
			t.Errorf("the entries %s: %s", entries, code)
		}
	}
	a := p.ask(object{"ask": "keys", "session": 1, "keys": []string{"users"}, "merge": "none", "entries": "0-"})
	if e, _ := a["errors"].(object)["users"].(object); e["code"] != "usage" {
		t.Errorf("an unknown strategy: %v", a)
	}
}

// In a session with strict_variables, a value that interpolates an unset variable is an error. Other sessions are not
// affected.
func TestStrictVariablesApplyPerSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.snap")
	build(t, path, "bindings_version: 1\nname: default\nbind: []\n", "hiera.yaml", "version: 5\n",
		"data/common.yaml", "a: 'x%{role}'\nb: 'x%{zone}'\n")
	p := connect(t, server(t, path))
	digest := p.ask(hello())["snapshot"].(object)["digest"]
	for session, strict := range []bool{false, true} {
		p.ask(object{"ask": "node", "session": session, "digest": digest, "vars": object{"zone": nil},
			"strict_variables": strict})
		a := p.ask(object{"ask": "keys", "session": session, "keys": []string{"a", "b"}})
		want := object{"a": "x", "b": "x"}
		if strict {
			want = object{"b": "x"}
		}
		if !reflect.DeepEqual(a["values"], want) || (a["errors"] != nil) != strict {
			t.Errorf("strict is %v: %v", strict, a)
		}
	}
}

// With values, an explanation begins with the requested entries, in the format of Puppet's own explanations.
func TestExplanationListsHiera5Entries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.snap")
	build(t, path, "bindings_version: 1\nname: default\nbind: []\n", append(slices.Clone(hiera5),
		"modules/m/hiera.yaml", "version: 5\n", "modules/m/data/common.yaml", "m::a: [1, {b: null}]\n")...)
	p := connect(t, server(t, path, func(o *serve.Options) {
		o.Snapshot.Decrypt = func(string) (string, error) { return "plain", nil }
	}))
	digest := p.ask(hello())["snapshot"].(object)["digest"]
	p.ask(object{"ask": "node", "session": 1, "digest": digest, "vars": object{"role": "web"}})
	lines := func(q object) string {
		q["ask"], q["session"] = "explain", 1
		var out []string
		for _, line := range p.ask(q)["lines"].([]any) {
			out = append(out, line.(string))
		}
		return strings.Join(out, "\n") + "\n"
	}
	if got := lines(object{"key": "motd", "entries": "0-"}); strings.Contains(got, "Hierarchy") {
		t.Errorf("without values:\n%s", got)
	}
	const site = "Hierarchy entry \"Site\"\n"
	for _, c := range []struct {
		q    object
		want string
	}{
		{object{"key": "motd", "entries": "1-"}, `Using configuration "hiera.yaml"
Hierarchy entry "Site"
  Path "data/site/.yaml"
    Original path: "site/%{site}.yaml"
    Path not found
  Path "data/site.yaml"
    Original path: "site.yaml"
    Interpolation on "of %{site}"
      Global Scope
        No such variable: "site"
    Found key: "motd" value: [value redacted] at data/site.yaml:3:1
wins: `},
		{object{"key": "users", "entries": "0-1", "merge": object{"strategy": "unique"}}, `Using configuration "hiera.yaml"
Merge strategy unique
Hierarchy entry "Role"
  Path "data/role/web.yaml"
    Original path: "role/%{role}.yaml"
    Found key: "users" value: [
      "web"
    ] at data/role/web.yaml:2:1
Hierarchy entry "Site"
  Merge strategy unique
    Path "data/site/.yaml"
      Original path: "site/%{site}.yaml"
      Path not found
    Path "data/site.yaml"
      Original path: "site.yaml"
      Found key: "users" value: [
        "site",
        "site"
      ] at data/site.yaml:2:1
    Merged result: [
      "site",
      "site"
    ]
Merged result: [
  "web",
  "site"
]
merged: `},
		{object{"key": "secret", "entries": "2-"}, `Using configuration "hiera.yaml"
Hierarchy entry "Secrets"
  Path "data/common.eyaml"
    Original path: "common.eyaml"
    Found key: "secret" value: [value redacted] at data/common.eyaml:3:1
wins: `},
		{object{"key": "m::a", "entries": "2-"}, `Using configuration "hiera.yaml"
Hierarchy entry "Secrets"
  Path "data/common.eyaml"
    Original path: "common.eyaml"
    No such key: "m::a"
Using configuration "modules/m/hiera.yaml"
Hierarchy entry "Common"
  Path "modules/m/data/common.yaml"
    Original path: "common.yaml"
    Found key: "m::a" value: [
      1,
      {
        "b" => nil
      }
    ] at modules/m/data/common.yaml:1:1
wins: `},
		{object{"key": "m::a", "entries": "0-0"}, `Using configuration "hiera.yaml"
Hierarchy entry "Role"
  Path "data/role/web.yaml"
    Original path: "role/%{role}.yaml"
    No such key: "m::a"
wins: `},
	} {
		c.q["values"] = true
		if got := lines(c.q); !strings.HasPrefix(got, c.want) {
			t.Errorf("%v:\n%s\nexpected\n%s", c.q, got, c.want)
		}
	}
	if got := lines(object{"key": "lookup_options", "entries": "1-1", "values": true}); !strings.Contains(got, site) ||
		!strings.Contains(got, " at data/site.yaml:4:1\n") || strings.Contains(got, "nothing binds") {
		t.Errorf("lookup_options:\n%s", got)
	}
}
