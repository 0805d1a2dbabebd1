package runtime_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"bindc/compile"
	"bindc/internal/diag"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/loader"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// hieraContent is a site of Hiera 5, compiled. A hierarchy in global is the global one.
func hieraContent(t *testing.T, files string) *snapshot.Content {
	t.Helper()
	dir := t.TempDir()
	var of loader.Options
	for _, f := range txtar.Parse([]byte(files)).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if f.Name == "global/hiera.yaml" {
			of.GlobalHiera = path
		}
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		if err = errors.Join(err, os.WriteFile(path, f.Data, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	var diags diag.List
	content := compile.Compile(loader.Load(dir, of, &diags), compile.Options{}, &diags)
	if diags.Failed() {
		t.Fatal(diags.Sorted())
	}
	return content
}

// hieraSnapshot is hieraContent, opened.
func hieraSnapshot(t *testing.T, files string, opts bindings.Options) *bindings.Snapshot {
	t.Helper()
	s := opened(t, hieraContent(t, files), opts, nil)
	if err := s.Verify(); err != nil {
		t.Fatal(err)
	}
	return s
}

// askedOf is a request of the node n1, with facts in JSON.
func askedOf(t *testing.T, s *bindings.Snapshot, facts string) *bindings.Request {
	t.Helper()
	f, err := bindings.ParseFacts([]byte(facts), bindings.FactsOptions{Node: "n1"})
	if err != nil {
		t.Fatal(err)
	}
	req, err := s.Request(f)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// answered is an answer in words: JSON, with 'sensitive' in front of what is, or why there is none.
func answered(v bindings.Value, found bool, err error) string {
	var e *bindings.Error
	switch {
	case err != nil && found:
		return "found, and " + err.Error()
	case errors.As(err, &e):
		return string(e.Code) + ": " + e.Message
	case err != nil:
		return err.Error()
	case !found:
		return "not found"
	}
	out, err := v.Reveal().MarshalJSON()
	if err != nil {
		return err.Error()
	}
	if v.Sensitive() {
		return "sensitive " + string(out)
	}
	return string(out)
}

// everyPart is a site of every part of Hiera 5, and structured bindings above it.
const everyPart = `
-- global/hiera.yaml --
version: 5
hierarchy: [{name: Global, path: global.yaml}]
-- global/data/global.yaml --
everywhere: [global]
top: global
-- hiera.yaml --
version: 5
hierarchy:
- {name: Nodes, path: "nodes/%{trusted.certname}.yaml"}
- {name: OS, path: "os/%{facts.os.family}.yaml"}
- {name: Roles, paths: ["role/%{role}.yaml", "role/all.yaml"]}
- {name: Common, path: common.yaml}
-- data/nodes/n1.yaml --
everywhere: [node, both]
hash: {a: 1, in: {x: 1}}
plain: of node
m::own: [node]
secret: {user: me}
depends: [node]
misfit: text
lookup_options: {depends: {merge: unique}}
-- data/os/Debian.yaml --
hash: {b: 2, in: {y: 2}}
plain: of os
-- data/role/web.yaml --
everywhere: [web]
roles: web
-- data/role/all.yaml --
everywhere: [all]
roles: [all, web]
-- data/common.yaml --
everywhere: [common, both]
hash: {a: 9, in: {z: 3}}
top: common
plain: common
depends: [common]
misfit: {a: 1}
secret: {password: s3cr3t}
number: "12"
letters: abc
wrong: abc
lookup_options:
  everywhere: {merge: unique}
  hash: {merge: deep}
  misfit: {merge: hash}
  secret: {merge: hash, convert_to: Sensitive}
  number: {convert_to: Integer}
  wrong: {convert_to: Integer}
  m::site: {merge: unique}
  defaulted: {merge: unique}
  roles: {merge: unique}
  m::late: {merge: unique}
'dotted.key': dotted
text: "%{lookup('plain')} and %{lookup('hash.in.x')}, %{alias} %{nobody}."
copy: "%{alias('hash')}"
shout: "%{alias('secret')}"
shown: "x%{lookup('secret.password')}"
nested: {a: "%{alias('secret')}"}
below: "%{alias('secret')}"
renamed: "%{alias('secret')}"
veiled: {a: "%{alias('secret')}", b: "%{lookup('loop')}"}
loop: "%{lookup('loop2')}"
loop2: "%{lookup('loop')}"
derived: "%{osfamily}%{::osfamily}%{kernel}%{hostname}, %{os.family}%{::role}%{fqdn}"
m::site: [site]
-- modules/m/hiera.yaml --
version: 5
hierarchy: [{name: Common, path: common.yaml}]
default_hierarchy: [{name: D1, path: d1.yaml}, {name: D2, path: d2.yaml}]
-- modules/m/data/common.yaml --
m::own: [module]
m::site: [module]
m::limits: {files: 1024}
m::plain: module
lookup_options:
  m::own: {merge: unique}
  m::limits: {merge: hash}
-- modules/m/data/d1.yaml --
m::plain: default
m::only: default
m::list: [d1]
m::limits: {files: 1, procs: 64}
m::hidden: {a: 1}
lookup_options:
  m::list: {merge: unique}
  m::misfit: {merge: hash}
  m::limits: {merge: first}
  m::hidden: {convert_to: Sensitive}
m::late: [late]
m::misfit: {a: 1}
-- modules/m/data/d2.yaml --
m::list: [d2]
m::limits: {users: 3}
m::misfit: text
m::late: [later]
-- bindings/default.yaml --
bindings_version: 1
name: default
bind:
  - {name: structured, to: {a: {b: 1}}}
  - {name: everywhere2, to: [structured]}
  - {name: from, to: "${lookup('hash.in.z')}"}
  - {name: computed.key, to: "${lookup('plain')}"}
  - {name: peek, to_expression: "lookup('nested')['a']['user']"}
  - {name: told, to: "${lookup('secret.user')}"}
  - {rebind: below, transformer: '|$x| { $x[user] }'}
  - {name: now, to_renamed: renamed, transformer: '|$x| { $x[user] }'}
  - {name: first, to_first_found: [absent.a, plain]}
`

// What a key comes to, as it is, or merged as the question says. The answers are those that the documents of Hiera 5
// give; Puppet gives them too.
var hieraLookups = []struct{ key, merge, want string }{
	{"top", "", `"global"`},
	{"plain", "", `"of node"`},
	{"everywhere", "", `["global","node","both","web","all","common"]`},
	{"everywhere", `"first"`, `["global"]`},
	{"everywhere", `"hash"`, "evaluation: 'everywhere': the merge strategy 'hash' needs Hashes of Data with " +
		"Strings as " +
		"keys, and this is of the kind Array"},
	{"everywhere", `"uniq"`, "usage: 'everywhere': there is no merge strategy 'uniq', expected first, unique, " +
		"hash or deep"},
	{"everywhere.1", "", `"node"`},
	{"everywhere.9", "", "not found"},
	{"roles", "", `["web","all"]`},
	{"hash", "", `{"a":1,"in":{"z":3,"y":2,"x":1},"b":2}`},
	{"hash", `"hash"`, `{"a":1,"in":{"x":1},"b":2}`},
	{"hash", `"first"`, `{"a":1,"in":{"x":1}}`},
	{"hash.in.z", "", "3"},
	{"hash.in.z", `"first"`, "not found"},
	{"hash.none.z", "", "not found"},
	{"hash.a.z", "", "evaluation: 'hash.a.z': 'hash.a.z' asks for the key 'z' in a Hash, and there is a value " +
		"of the kind Integer"},
	{"plain", `"unique"`, `["of node","of os","common"]`},
	{"plain", `{"strategy": "deep"}`, `"of node"`},
	{"depends", "", `["node","common"]`},
	{"misfit", "", "evaluation: 'misfit': the merge strategy 'hash' needs Hashes of Data with Strings as keys, " +
		"and this " +
		"is of the kind String"},
	{"secret", "", `sensitive {"password":"s3cr3t","user":"me"}`},
	{"secret.user", "", `sensitive "me"`},
	{"secret", `"first"`, `sensitive {"user":"me"}`},
	{"shout", "", `sensitive {"password":"s3cr3t","user":"me"}`},
	{"shown", "", `"xSensitive [value redacted]"`},
	{"number", "", "12"},
	{"number", `"first"`, "12"},
	{"letters", "", `"abc"`},
	{"wrong", "", "evaluation: 'wrong': convert_to of 'wrong' to Integer: Integer(): the String is no Integer"},
	{"wrong", `"first"`, "evaluation: 'wrong': convert_to of 'wrong' to Integer: Integer(): the String is no Integer"},
	{"nested", "", `sensitive {"a":{"password":"s3cr3t","user":"me"}}`},
	{"nested.a.user", "", "evaluation: 'nested.a.user': 'nested.a.user' asks for the key 'user' in a Hash, and " +
		"there is something sensitive"},
	{"veiled", "", "loop: 'loop' needs itself: loop -> loop2 -> loop"},
	{"peek", "", `sensitive "me"`},
	{"told", "", `sensitive "me"`},
	{"below", "", `sensitive "me"`},
	{"below", `"first"`, `sensitive "me"`},
	{"now", "", `sensitive "me"`},
	{"first", "", `"of node"`},
	{"computed.key", "", `"of node"`},
	{"'dotted.key'", "", `"dotted"`},
	{"dotted.key", "", "not found"},
	{`'do"tted'`, "", "not found"},
	{"absent", "", "not found"},
	{"absent", `"unique"`, "not found"},
	{"absent.a", "", "not found"},
	{"defaulted", "", "not found"},
	{"lookup_options", "", "not found"},
	{"lookup_options.a", "", "not found"},
	{"lookup_options", `"hash"`, "not found"},
	{"'lookup_options'", "", `{"depends":{"merge":"unique"}}`},
	{"a..b", "", "evaluation: 'a..b' is no key: there is nothing between two dots, or before the first or " +
		"behind the last"},
	{"1.b", "", "evaluation: '1.b' is no key: it must not begin with a number; put that in quotes"},
	{"text", "", `"of node and 1,  ."`},
	{"copy", "", `{"a":1,"in":{"z":3,"y":2,"x":1},"b":2}`},
	{"loop", "", "loop: 'loop' needs itself: loop -> loop2 -> loop"},
	{"derived", "", `", Debianwebn1"`},
	{"structured", "", `{"a":{"b":1}}`},
	{"structured.a.b", "", "1"},
	{"structured.c", "", "not found"},
	{"structured", `"unique"`, `{"a":{"b":1}}`},
	{"from", "", `"3"`},
	{"m::own", "", `["node","module"]`},
	{"m::own", `"first"`, `["node"]`},
	{"m::site", "", `["site","module"]`},
	{"m::plain", "", `"module"`},
	{"m::only", "", `"default"`},
	{"m::list", "", `["d1","d2"]`},
	{"m::list", `"first"`, `["d1","d2"]`},
	{"m::list.1", "", `"d2"`},
	{"m::limits", "", `{"files":1024}`},
	{"m::limits.files", "", "1024"},
	{"m::limits.procs", "", "64"},
	{"m::limits.users", "", "not found"},
	{"m::hidden", "", `{"a":1}`},
	{"m::late", "", `["late"]`},
	{"m::late.0", "", `"late"`},
	{"m::misfit", "", "evaluation: 'm::misfit': the merge strategy 'hash' needs Hashes of Data with Strings as keys, " +
		"and this is of the kind String"},
	{"m::misfit.a", "", "evaluation: 'm::misfit.a': the merge strategy 'hash' needs Hashes of Data with Strings as " +
		"keys, and this is of the kind String"},
}

func TestLookupsOfHiera5(t *testing.T) {
	req := askedOf(t, hieraSnapshot(t, everyPart, bindings.Options{}), `{"os": {"family": "Debian"}, "role": "web"}`)
	for _, c := range hieraLookups {
		strategy := bindings.Value{}
		if c.merge != "" {
			var err error
			if strategy, err = bindings.ParseJSON([]byte(c.merge)); err != nil {
				t.Fatal(err)
			}
		}
		if got := answered(req.LookupMerged(c.key, strategy)); got != c.want {
			t.Errorf("%s %s is %s, expected %s", c.key, c.merge, got, c.want)
		}
		if c.merge != "" {
			continue
		}
		if got := answered(req.Lookup(c.key)); got != c.want {
			t.Errorf("%s is %s, expected %s", c.key, got, c.want)
		}
	}
}

// betweenBindings is a site whose hierarchy has structured bindings above and below.
const betweenBindings = `
-- binder_config.yaml --
version: 1
layers:
- {name: above, include: 'confdir:/above'}
- {name: hiera, include: 'hiera:/'}
- {name: below, include: 'confdir:/below'}
-- bindings/above.yaml --
bindings_version: 1
name: above
bind:
- [a, above]
- {name: s, to: above, sensitive: true}
- {name: n, to_lookup_of: a}
- {name: over, to_lookup_of: a}
- {name: opt, to_expression: '$nothing', optional: true}
- [loops, above]
-- bindings/below.yaml --
bindings_version: 1
name: below
bind: [[a, below], [b, below], [c, below], [merged, [below]]]
-- hiera.yaml --
version: 5
hierarchy: [{name: A, path: a.yaml}, {name: B, path: b.yaml}]
-- data/a.yaml --
a: hiera
b: hiera
merged: [a]
lookup_options: {merged: {merge: unique}}
late: {a: 1}
-- data/b.yaml --
b: again
merged: [b]
over: again
late: text
loops: "%{lookup('loops')}"
`

// Why a key of Hiera 5 comes to what it does: what becomes of each of its bindings,
// and where its options are written.
func TestExplanationsOfHiera5(t *testing.T) {
	req := askedOf(t, hieraSnapshot(t, everyPart, bindings.Options{}), `{"os": {"family": "Debian"}, "role": "web"}`)
	other := askedOf(t, hieraSnapshot(t, everyPart, bindings.Options{}), `{"os": {"family": "Suse"}}`)
	between := asked(t, hieraSnapshot(t, betweenBindings, bindings.Options{}), "{}")
	const node, os, web, all, common = "data/nodes/n1.yaml", "data/os/Debian.yaml", "data/role/web.yaml",
		"data/role/all.yaml", "data/common.yaml"
	const module, d1, d2 = "modules/m/data/common.yaml", "modules/m/data/d1.yaml", "modules/m/data/d2.yaml"
	const defaults = "default_hierarchy counts where nothing else is found"
	// What wins is told whole, also where the key leads into it.
	if e, err := req.Explain("structured.a.b"); err != nil || len(e.Candidates) != 1 ||
		answered(e.Candidates[0].Outcome.Value, true, nil) != `{"a":{"b":1}}` {
		t.Errorf("what structured.a.b leads into is explained by %+v, %v", e, err)
	}
	for _, c := range []struct {
		req       *bindings.Request
		key, want string
	}{
		{req, "plain", "wins " + node + ":3:1\nhidden " + os + ":2:1 hidden by " + node + ":3:1\nhidden " + common +
			":4:1 hidden by " + node + ":3:1"},
		{other, "plain", "wins " + node + ":3:1\nnot effective " + os + ":2:1 condition does not hold: " +
			"os/%{facts.os.family}.yaml is os/Suse.yaml\nhidden " + common +
			":4:1 hidden by " + node + ":3:1"},
		{req, "everywhere", "merged global/data/global.yaml:1:1\nmerged " + node + ":1:1\nnot effective " + all +
			":1:1 condition does not hold: role/%{role}.yaml is role/web.yaml\nmerged " + web + ":1:1\nmerged " +
			all +
			":1:1\nmerged " + common + ":1:1\noptions of everywhere " + common + `:11:1 {"merge":"unique"}`},
		{req, "roles", "not effective " + all + ":2:1 condition does not hold: role/%{role}.yaml is " +
			"role/web.yaml\nmerged " +
			web + ":2:1\nmerged " + all + ":2:1\noptions of roles " + common + `:11:1 {"merge":"unique"}`},
		{req, "hash.in.x", "in hash\nmerged " + node + ":2:1\nmerged " + os + ":1:1\nmerged " + common +
			":2:1\noptions of hash " + common + `:11:1 {"merge":"deep"}`},
		{req, "depends", "merged " + node + ":6:1\nmerged " + common + ":5:1\noptions of depends " + node +
			`:8:1 {"merge":"unique"}`},
		{req, "secret", "merged " + node + ":5:1\nmerged " + common + ":7:1\noptions of secret " + common +
			`:11:1 {"merge":"hash","convert_to":"Sensitive"}`},
		{req, "structured.a.b", "in structured\nwins bindings/default.yaml:4:12"},
		{req, "m::plain", "wins " + module + ":4:1\nhidden " + d1 + ":1:1 " + defaults},
		{req, "m::only", "wins " + d1 + ":2:1"},
		{req, "m::list", "merged " + d1 + ":3:1\nmerged " + d2 + ":1:1\noptions of m::list " + d1 +
			`:6:1 {"merge":"unique"}`},
		{req, "m::limits", "merged " + module + ":3:1\nhidden " + d1 + ":4:1 " + defaults + "\nhidden " + d2 +
			":2:1 " +
			defaults + "\noptions of m::limits " + module + `:5:1 {"merge":"hash"}`},
		{req, "m::limits.procs", "in m::limits\nhidden " + module + ":3:1 'm::limits.procs' leads to nothing in what " +
			"the " +
			"hierarchies " +
			"have\nwins " + d1 + ":4:1\nhidden " + d2 + ":2:1 hidden by " + d1 + ":4:1\noptions of m::limits " + d1 +
			`:6:1 {"merge":"first"}`},
		{req, "m::hidden", "wins " + d1 + ":5:1\noptions of m::hidden " + d1 + `:6:1 {"convert_to":"Sensitive"}`},
		{req, "m::late", "wins " + d1 + ":11:1\nhidden " + d2 + ":4:1 hidden by " + d1 + ":11:1\noptions of m::late " +
			common + `:11:1 {"merge":"unique"}`}, // in the hierarchies
		{req, "now", "wins bindings/default.yaml:11:12 it is what 'renamed' is below this"},
		{req, "absent", ""},
		{between, "opt", "declined bindings/above.yaml:8:10 it is optional, and yields undef"},
		{between, "merged", "merged data/a.yaml:3:1\nmerged data/b.yaml:2:1\nhidden bindings/below.yaml:3:45 what is " +
			"structured is not merged with what is above it\noptions of merged data/a.yaml:4:1 {\"merge\":\"unique\"}"},
		{between, "a", "wins bindings/above.yaml:4:4\nhidden data/a.yaml:1:1 hidden by bindings/above.yaml:4:4\n" +
			"hidden bindings/below.yaml:3:9 hidden by bindings/above.yaml:4:4"},
		{req, "misfit", "merged " + node + ":7:1\nmerged " + common + ":6:1\noptions of misfit " + common +
			`:11:1 {"merge":"hash"}`},
		{req, "'lookup_options'", ""},
		{req, "lookup_options.a", ""},
		{req, "'dotted.key'", "wins " + common + ":22:1"},
		{req, "a..b", ""},
	} {
		e, err := c.req.Explain(c.key)
		if err != nil {
			t.Fatal(c.key, err)
		}
		var got []string
		if e.Root != "" {
			got = append(got, "in "+e.Root)
		}
		for _, b := range e.Candidates {
			got = append(got, strings.TrimSpace(b.State+" "+b.At+" "+b.Why))
		}
		if o := e.Options; o != nil {
			got = append(got, "options of "+o.Name+" "+o.At+" "+answered(o.Outcome.Value, o.Outcome.Found,
				o.Outcome.Err))
		}
		if got := strings.Join(got, "\n"); got != c.want {
			t.Errorf("%s of %s is explained by\n%s\nexpected\n%s", c.key, e.Root, got, c.want)
		}
		if got, want := answered(e.Outcome.Value, e.Outcome.Found, e.Outcome.Err),
			answered(c.req.Lookup(c.key)); got != want {
			t.Errorf("%s comes to %s where it is explained, and else to %s", c.key, got, want)
		}
	}
}

// What some entries of the hierarchy have, as Puppet asks for it that looks through the others by itself: what is
// structured above them is the first's, what is below, and the data of modules, the last's.
func TestLookupsInSomeEntries(t *testing.T) {
	req := askedOf(t, hieraSnapshot(t, everyPart, bindings.Options{}), `{"os": {"family": "Debian"}, "role": "web"}`)
	below := asked(t, hieraSnapshot(t, betweenBindings, bindings.Options{}), `{}`)
	const first, unique, hash = `"first"`, `"unique"`, `"hash"`
	for _, c := range []struct {
		req      *bindings.Request
		key      string
		from, to int
		merge    string
		want     string
	}{
		{req, "plain", 0, 0, first, `"of node"`},
		{req, "plain", 0, -1, first, `"of node"`},
		{req, "plain", 1, 1, first, `"of os"`},
		{req, "plain", 1, -1, first, `"of os"`},
		{req, "plain", 2, 2, first, "not found"},
		{req, "plain", 2, -1, first, `"common"`},
		{req, "top", 0, 0, first, "not found"},
		{req, "m::plain", 0, 0, first, "not found"},
		{below, "c", 0, 0, first, "not found"},
		{req, "plain", 0, 3, unique, `["of node","of os","common"]`},
		{req, "top", 0, 3, first, `"common"`}, // the global layer is Puppet's
		{req, "everywhere", 0, 2, unique, `["node","both","web","all"]`},
		{req, "everywhere", 2, 3, unique, `["web","all","common","both"]`},
		{req, "everywhere", 2, 2, first, `["web"]`},
		{req, "everywhere", 0, -1, "", `["node","both"]`},
		{req, "everywhere", 0, -1, `"uniq"`, "usage: 'everywhere': there is no merge strategy 'uniq', expected " +
			"first, " +
			"unique, hash or deep"},
		{req, "everywhere", 0, -1, hash, "evaluation: 'everywhere': the merge strategy 'hash' needs Hashes of " +
			"Data with " +
			"Strings as keys, and this is of the kind Array"},
		{req, "hash", 0, 3, hash, `{"a":1,"in":{"x":1},"b":2}`},
		{req, "secret", 0, 0, first, `{"user":"me"}`},
		{req, "shown", 3, 3, first, `"xSensitive [value redacted]"`},
		{req, "shout", 3, 3, first, `sensitive {"password":"s3cr3t","user":"me"}`},
		{req, "nested", 0, -1, hash, `sensitive {"a":{"password":"s3cr3t","user":"me"}}`},
		{req, "number", 0, -1, first, `"12"`},
		{req, "dotted.key", 0, -1, first, `"dotted"`},
		{req, `'do"tted'`, 0, -1, first, "not found"},
		{req, "absent", 0, -1, first, "not found"},
		{req, "absent", 0, -1, unique, "not found"},
		{req, "structured", 0, 0, first, `{"a":{"b":1}}`},
		{req, "structured", 0, -1, hash, `{"a":{"b":1}}`},
		{req, "structured", 1, -1, first, "not found"},
		{req, "from", 0, 1, first, `"3"`},
		{req, "loop", 0, -1, unique, "loop: 'loop' needs itself: loop -> loop2 -> loop"},
		{req, "m::plain", 0, 2, first, "not found"},
		{req, "m::plain", 0, -1, first, `"module"`},
		{req, "m::plain", 3, -1, first, `"module"`},
		{req, "m::own", 0, -1, unique, `["node"]`},
		{req, "m::own", 1, -1, first, `["module"]`},
		{req, "m::only", 0, -1, first, `"default"`}, // as Puppet would find it in the module
		{req, "m::only", 0, -1, unique, "not found"},
		{req, "lookup_options", 0, 0, first, `{"depends":{"merge":"unique"}}`},
		{req, "lookup_options", 1, 2, first, "not found"},
		{below, "a", 0, 0, first, `"above"`},
		{below, "a", 1, -1, first, `"below"`},
		{below, "a", 0, -1, unique, `"above"`},
		{below, "s", 0, -1, first, `sensitive "above"`},
		{below, "s", 0, 0, unique, `sensitive "above"`},
		{below, "n", 0, 0, unique, `"above"`},
		{below, "over", 0, -1, first, `"above"`},
		{below, "over", 1, 1, first, `"again"`},
		{below, "b", 0, 0, first, `"hiera"`},
		{below, "b", 0, -1, unique, `["hiera","again"]`},
		{below, "b", 1, 1, first, `"again"`},
		{below, "late", 0, -1, hash, "evaluation: 'late': the merge strategy 'hash' needs Hashes of Data with " +
			"Strings as keys, and this is of the kind String"},
		{below, "loops", 0, -1, first, `"above"`},
		{below, "loops", 1, -1, first, "loop: 'loops' needs itself: loops -> loops"}, // whoever else has it
		{below, "c", 0, 1, first, "not found"},
		{below, "c", 1, -1, first, `"below"`},
		{below, "c", 0, -1, first, `"below"`},
	} {
		strategy := bindings.Value{}
		if c.merge != "" {
			var err error
			if strategy, err = bindings.ParseJSON([]byte(c.merge)); err != nil {
				t.Fatal(err)
			}
		}
		if got := answered(c.req.LookupEntries(c.key, c.from, c.to, strategy)); got != c.want {
			t.Errorf("%s of %d to %d by %s is %s, expected %s", c.key, c.from, c.to, c.merge, got, c.want)
		}
	}
}

// A path that cannot be told, as it digs into a text, fails the lookups that come to it. These are all, as each needs
// the lookup_options, but for what is structured, and keys of other modules.
func TestPathsThatCannotBeTold(t *testing.T) {
	const site = `
-- global/hiera.yaml --
version: 5
hierarchy: [{name: Global, path: global.yaml}]
-- global/data/global.yaml --
high: {x: 1}
-- hiera.yaml --
version: 5
hierarchy:
- {name: OS, path: "os/%{facts.os.family}.yaml"}
- {name: Role, path: "role/%{role}.yaml"}
- {name: Common, path: common.yaml}
-- data/os/Debian.yaml --
os: 1
-- data/role/web.yaml --
os: 2
-- data/common.yaml --
low: 1
maybe: 1
nothing: ~
zero: 0
two: 2
moved: 1
merged: [1]
lookup_options: {merged: {merge: unique}}
-- modules/m/hiera.yaml --
version: 5
hierarchy: [{name: Kernel, path: "%{facts.kernel.name}.yaml"}, {name: Common, path: common.yaml}]
-- modules/m/data/Linux.yaml --
m::linux: 1
-- modules/m/data/common.yaml --
m::all: 1
-- bindings/default.yaml --
bindings_version: 1
name: default
bind:
- [structured, 1]
- {name: secret, to: 2, sensitive: true}
- {name: needs, to: "${lookup('low')}"}
- {name: maybe, to_expression: '$given', optional: true}
- {name: broken, to_expression: '1 / $zero', optional: true}
- {name: new, to_renamed: moved}
- [with.dot, 4]
- {when: {node: n1}, bind: [[local, 3]]}
`
	s := hieraSnapshot(t, site, bindings.Options{})
	const dug = "evaluation: the path 'os/%{facts.os.family}.yaml' cannot be told, and so nothing that comes to it: " +
		"'facts' asks for the key 'family' in a Hash, and there is a value of the kind String"
	const dugInModule = "evaluation: the path '%{facts.kernel.name}.yaml' cannot be told, and so nothing that comes to " +
		"it: 'facts' asks for the key 'name' in a Hash, and there is a value of the kind String"
	for _, c := range []struct{ facts, key, merge, want string }{
		{`{"os": {"family": "Debian"}}`, "os", "", "1"},
		{`{"os": {"family": "Suse"}}`, "os", "", "not found"},
		{`{}`, "os", "", "not found"},
		{`{"os": "Debian"}`, "os", "", dug},
		{`{"os": "Debian"}`, "low", "", dug},
		{`{"os": "Debian"}`, "merged", "", dug},
		{`{"os": "Debian"}`, "absent", "", dug},
		{`{"os": "Debian"}`, "absent.x", "", dug},
		{`{"os": "Debian"}`, "m::all", "", dug},
		{`{"os": "Debian"}`, "high", "", dug},
		{`{"os": "Debian"}`, "high.x", "", dug},
		{`{"os": "Debian"}`, "high", `"unique"`, dug},
		{`{"os": "Debian"}`, "structured", "", "1"},
		{`{"os": "Debian"}`, "secret", "", "sensitive 2"},
		{`{"os": "Debian"}`, "needs", "", dug},
		{`{"os": "Debian", "fqdn": "n1"}`, "local", "", "3"},
		{`{"os": "Debian", "fqdn": "n2"}`, "local", "", dug},
		{`{"os": "Debian"}`, "maybe", "", dug},
		{`{"os": "Debian"}`, "nothing", "", dug},
		{`{"os": "Debian"}`, "moved", "", "not found"}, // the name is another from what is structured on down
		{`{"os": "Debian"}`, "with.dot", "", "4"},
		{`{"os": "Debian"}`, "with.dot", `"unique"`, "4"},
		{`{"os": "Debian"}`, "with.none", "", dug},
		{`{"os": "Debian"}`, "zero", "", dug},
		{`{"os": "Debian"}`, "two", "", dug},
		{`{"os": "Debian", "zero": 0}`, "broken", "", "evaluation: 'broken': division by zero"}, // is structured
		{`{"os": "Debian"}`, "a..b", "", "evaluation: 'a..b' is no key: there is nothing between two dots, or before " +
			"the first or behind the last"},
		{`{"os": "Debian", "given": 5}`, "maybe", "", "5"},
		{`{"os": "Debian"}`, "lookup_options", "", "not found"},
		{`{"os": "Debian"}`, "lookup_options", `"unique"`, "not found"},
		{`{"os": "Debian", "kernel": "Linux"}`, "low", "", dug},
		{`{"os": "Debian", "kernel": "Linux"}`, "m::all", "", dug},
		{`{"kernel": "Linux"}`, "m::linux", "", dugInModule},
		{`{"kernel": "Linux"}`, "m::all", "", dugInModule},
		{`{"kernel": "Linux"}`, "low", "", "1"},
		{`{"kernel": {"name": "Linux"}}`, "m::linux", "", "1"},
	} {
		strategy := bindings.Value{}
		if c.merge != "" {
			var err error
			if strategy, err = bindings.ParseJSON([]byte(c.merge)); err != nil {
				t.Fatal(err)
			}
		}
		if got := answered(asked(t, s, c.facts).LookupMerged(c.key, strategy)); got != c.want {
			t.Errorf("%s of %s %s is %s, expected %s", c.key, c.facts, c.merge, got, c.want)
		}
	}
	mended := asked(t, s, `{"os": "Debian"}`) // for facts that tell the paths
	facts, err := bindings.ParseFacts([]byte(`{"os": {"family": "Debian"}}`), bindings.FactsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := mended.Reset(facts); err != nil {
		t.Fatal(err)
	}
	if got := answered(mended.Lookup("low")); got != "1" {
		t.Errorf("low of other facts is %s", got)
	}
	broken := asked(t, s, `{"os": "Debian"}`)
	for _, c := range []struct {
		key   string
		to    int
		merge string
		want  string
	}{{"structured", 0, `"first"`, dug}, {"low", -1, `"first"`, dug},
		{"structured", 0, `"unique"`, dug}} {
		strategy, err := bindings.ParseJSON([]byte(c.merge))
		if err != nil {
			t.Fatal(err)
		}
		if got := answered(broken.LookupEntries(c.key, 0, c.to, strategy)); got != c.want {
			t.Errorf("%s of 0 to %d by %s is %s, expected %s", c.key, c.to, c.merge, got, c.want)
		}
	}
}

// A path that cannot be told is none of the others', wherever it stands, nor of other facts.
func TestAPathThatCannotBeToldBesideOthers(t *testing.T) {
	site := ""
	for _, module := range []string{"a", "b", "c"} {
		site += fmt.Sprintf(`
-- modules/%[1]s/hiera.yaml --
version: 5
hierarchy: [{name: Kernel, path: "%%{facts.%[1]s.kernel}.yaml"}]
-- modules/%[1]s/data/Linux.yaml --
%[1]s::key: 1
`, module)
	}
	s := hieraSnapshot(t, site, bindings.Options{})
	modules := []string{"a", "b", "c"}
	for _, untold := range modules {
		for kernel, there := range map[string]bool{"Linux": true, "BSD": false} {
			facts := map[string]any{}
			for _, module := range modules {
				facts[module] = map[string]string{"kernel": kernel}
			}
			facts[untold] = kernel
			text, err := json.Marshal(facts)
			if err != nil {
				t.Fatal(err)
			}
			r := asked(t, s, string(text))
			for _, module := range modules {
				_, found, err := r.Lookup(module + "::key")
				if fails := module == untold; (err != nil) != fails || found != (there && !fails) {
					t.Errorf("with %s the key of %s is found: %t, %v", text, module, found, err)
				}
			}
		}
	}
}

// What eyaml has encrypted is decrypted by the lookup, and sensitive; without a key that is an error of it alone.
func TestEncryptedData(t *testing.T) {
	const site = `
-- hiera.yaml --
version: 5
hierarchy: [{name: Secrets, lookup_key: eyaml_lookup_key, path: secrets.eyaml}]
-- data/secrets.eyaml --
password: ENC[PKCS7,secret]
mixed: {a: "x ENC[PKCS7,secret] y", b: open}
other: "with %{lookup('password')}"
wrong: ENC[PKCS7,wrong]
open: 1
again: ENC[PKCS7,secret]
marked: "with %{lookup('structured')}"
behind: "%{lookup('marked')}, %{lookup('deep.x')}"
deeper: "%{lookup('deep.x')}"
both: "%{lookup('password')} %{lookup('open')} %{lookup('plain')}"
first: "%{lookup('structured')} %{lookup('password')}"
failing: ENC[PKCS7,secret]
misfit: ENC[PKCS7,secret]
-- bindings/default.yaml --
bindings_version: 1
name: default
bind:
- {rebind: again, transformer: '|$x| { "${x}?" }'}
- {name: structured, to: s3, sensitive: true}
- [plain, 2]
- {name: deep, to: {x: s4}, sensitive: true}
- {rebind: failing, transformer: '|$x| { Integer($x) }'}
- {rebind: misfit, type: "Enum['one', 'two']"}
`
	first, err := bindings.ParseJSON([]byte(`"first"`))
	if err != nil {
		t.Fatal(err)
	}
	unique, err := bindings.ParseJSON([]byte(`"unique"`))
	if err != nil {
		t.Fatal(err)
	}
	noKey := errors.New("no key fits")
	decrypt := func(text string) (string, error) {
		if strings.Contains(text, "wrong") {
			return "", noKey
		}
		return strings.ReplaceAll(text, "ENC[PKCS7,secret]", "%{role}!"), nil
	}
	closed := asked(t, hieraSnapshot(t, site, bindings.Options{}), `{"role": "web"}`)
	able := asked(t, hieraSnapshot(t, site, bindings.Options{Decrypt: decrypt}), `{"role": "web"}`)
	for _, c := range []struct {
		req       *bindings.Request
		key, want string
	}{
		{able, "password", `sensitive "web!"`},
		{able, "mixed", `sensitive {"a":"x web! y","b":"open"}`},
		{able, "mixed.b", `sensitive "open"`},
		{able, "other", `sensitive "with web!"`},
		{able, "both", `sensitive "web! 1 2"`},
		{able, "open", "1"},
		{able, "wrong", "encrypted: no key fits"},
		{closed, "password", "encrypted: the value is encrypted for hiera-eyaml, and no key was given"},
		{closed, "open", "1"},
	} {
		if got := answered(c.req.Lookup(c.key)); got != c.want {
			t.Errorf("%s is %s, expected %s", c.key, got, c.want)
		}
		if got := answered(c.req.LookupMerged(c.key, first)); got != c.want {
			t.Errorf("the first value of %s is %s, expected %s", c.key, got, c.want)
		}
	}
	for key, want := range map[string]string{"password": `"web!"`, "again": `"web!?"`, "both": `"web! 1 2"`,
		"marked": `sensitive "with s3"`, "behind": `sensitive "with s3, s4"`, "deeper": `sensitive "s4"`,
		"structured": `sensitive "s3"`, "first": `sensitive "s3 web!"`} {
		if got := answered(able.LookupEntries(key, 0, -1, bindings.Value{})); got != want {
			t.Errorf("to Puppet, which hides nothing, %s is %s", key, got)
		}
	}
	if _, _, err := able.Lookup("wrong"); !errors.Is(err, noKey) {
		t.Errorf("what cannot be decrypted fails with %v, not with what decryption says", err)
	}
	if got := answered(able.Lookup("again")); got != `sensitive "web!?"` {
		t.Errorf("again is %s", got)
	}
	// A message may be shown anywhere: it is hidden from Puppet as well.
	for key, want := range map[string]string{
		"failing": "evaluation: 'failing': the value is sensitive, and so is what went wrong",
		"misfit":  "type_mismatch: 'misfit': expected Enum['one', 'two'], found another value, which is sensitive",
	} {
		for _, merge := range []bindings.Value{{}, unique} {
			if got := answered(able.LookupEntries(key, 0, -1, merge)); got != want {
				t.Errorf("to Puppet %s is %s", key, got)
			}
		}
		if got := answered(able.Lookup(key)); got != want {
			t.Errorf("%s is %s", key, got)
		}
	}
}

// A site without Hiera 5 has no merges and no keys that dig; and nothing is found when the snapshot is closed.
func TestLookupsByHieraWhereThereIsNone(t *testing.T) {
	s := hieraSnapshot(t, "-- bindings/default.yaml --\n{bindings_version: 1, name: default, bind: [[a, {b: [1]}], "+
		"{name: optional.b, to_expression: $nothing, optional: true}]}",
		bindings.Options{})
	req := asked(t, s, "{}")
	unique, err := bindings.ParseJSON([]byte(`"unique"`))
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range []string{answered(req.LookupMerged("a", unique)), answered(req.LookupEntries("a", 1, 1,
		unique))} {
		if got != `{"b":[1]}` {
			t.Errorf("a is %s", got)
		}
	}
	for _, key := range []string{"a.b", "optional.b"} {
		if got := answered(req.Lookup(key)); got != "not found" || s.Hiera() {
			t.Errorf("%s is %s, of Hiera 5 %t", key, got, s.Hiera())
		}
		e, err := req.Explain(key)
		if bound := key == "optional.b"; err != nil || e.Root != "" || bound != (len(e.Candidates) == 1) {
			t.Errorf("%s is explained by %+v of '%s', %v", key, e.Candidates, e.Root, err)
		}
	}
	of5 := hieraSnapshot(t, everyPart, bindings.Options{})
	requests := []*bindings.Request{req, asked(t, of5, "{}")}
	if !of5.Hiera() {
		t.Error("a hierarchy is none of Hiera 5")
	}
	s.Close()
	of5.Close()
	for _, req := range requests {
		_, found, merged := req.LookupMerged("a", unique)
		_, there, entries := req.LookupEntries("a", 0, 1, unique)
		if found || there || !errors.Is(merged, fs.ErrClosed) || !errors.Is(entries, fs.ErrClosed) {
			t.Errorf("of a closed snapshot: %t %v, %t %v", found, merged, there, entries)
		}
	}
}

// A recipe that merges is damage in a file where nothing is of Hiera 5.
func TestMergesWhereNothingIsOfHiera5(t *testing.T) {
	merged := snapshot.Stored{Computed: true, Bytes: string(recipe.Append(nil, &recipe.Recipe{Kind: recipe.Merged}))}
	s := opened(t, &snapshot.Content{Layers: []string{"l"}, Keys: []snapshot.Key{{Name: "a", Default: 0}},
		Values: []snapshot.Stored{merged}}, bindings.Options{}, nil)
	var damage *bindings.DamageError
	if err := s.Verify(); !errors.As(err, &damage) || damage.Section != "recipes" {
		t.Errorf("Verify says %v", err)
	}
	_, found, err := asked(t, s, "{}").Lookup("a")
	if found || !errors.As(err, &damage) || damage.Section != "recipes" {
		t.Errorf("a lookup says %v", err)
	}
}

// What a file says of hierarchies without having any, or of merges in no words of lookup_options, is nothing.
func TestForgedHierarchies(t *testing.T) {
	const site = "-- hiera.yaml --\nversion: 5\nhierarchy: [{name: N, path: '%{os.family}.yaml'}]\n" +
		"-- data/x.yaml --\na: [1]\nlookup_options: {a: {merge: '%{how}'}}\n"
	content := hieraContent(t, site)
	content.Hiera = nil
	var damage *bindings.DamageError
	s := opened(t, content, bindings.Options{}, nil)
	if err := s.Verify(); !errors.As(err, &damage) {
		t.Errorf("Verify says %v", err)
	}
	for _, facts := range []string{`{"os": "x"}`, `{"os": {"family": "y"}}`} {
		if got := answered(asked(t, s, facts).Lookup("absent")); got != "not found" {
			t.Errorf("absent of %s is %s", facts, got)
		}
	}
	content = hieraContent(t, "-- hiera.yaml --\nversion: 5\n-- data/common.yaml --\na: [1]\n"+
		"lookup_options: {a: {merge: unique}}\n")
	for i, v := range content.Values {
		if r, err := recipe.Decode(v.Bytes); v.Computed && err == nil && r.Kind == recipe.Merged {
			r.Value = value.FromString("unique")
			content.Values[i].Bytes = string(recipe.Append(nil, r))
		}
	}
	if got := answered(asked(t, opened(t, content, bindings.Options{}, nil), "{}").Lookup("a")); got != "[1]" {
		t.Errorf("a, by options that are none, is %s", got)
	}
}

// One entry is a hierarchy.
func TestAHierarchyOfOneEntry(t *testing.T) {
	s := hieraSnapshot(t, "-- binder_config.yaml --\nversion: 1\nlayers: [{name: hiera, include: 'hiera:/'}]\n"+
		"-- hiera.yaml --\nversion: 5\nhierarchy: [{name: C, path: common.yaml}]\n"+
		"-- data/common.yaml --\na: {b: 1}\n", bindings.Options{})
	if got := answered(asked(t, s, "{}").Lookup("a.b")); got != "1" || !s.Hiera() {
		t.Errorf("a.b is %s, of Hiera 5 %t", got, s.Hiera())
	}
}

// Of a damaged file a lookup, an explanation and what Puppet asks are what they were, or say so.
func TestDamagedHierarchies(t *testing.T) {
	content := hieraContent(t, everyPart)
	facts := `{"os": {"family": "Debian"}, "role": "web"}`
	sound := askedOf(t, opened(t, content, bindings.Options{}, nil), facts)
	strategies := []bindings.Value{{}}
	for _, name := range []string{`"first"`, `"unique"`} {
		v, err := bindings.ParseJSON([]byte(name))
		if err != nil {
			t.Fatal(err)
		}
		strategies = append(strategies, v)
	}
	type sections func(name string) []byte
	fill := func(b []byte, with byte) {
		for i := range b {
			b[i] = with
		}
	}
	for name, damage := range map[string]func(sections){
		"recipes":                 func(of sections) { fill(of("recipes"), 0xff) },
		"where recipes are":       func(of sections) { fill(of("recipetab"), 0xff) },
		"values":                  func(of sections) { fill(of("keys")[64*len(content.Keys):], 0x0b) },
		"candidates":              func(of sections) { fill(of("origins"), 0) },
		"where candidates are":    func(of sections) { fill(of("origintab"), 0xff) },
		"the values of the paths": func(of sections) { fill(of("dicts"), 0xff) },
	} {
		s := opened(t, content, bindings.Options{}, func(of func(string) []byte) { damage(of) })
		f, err := bindings.ParseFacts([]byte(facts), bindings.FactsOptions{Node: "n1"})
		if err != nil {
			t.Fatal(err)
		}
		req, err := s.Request(f)
		if err != nil {
			if !errors.As(err, new(*bindings.DamageError)) {
				t.Errorf("%s: a request says %v", name, err)
			}
			continue
		}
		damaged := 0
		same := func(what, key, got, want string, err error) {
			switch {
			case errors.As(err, new(*bindings.DamageError)), strings.HasPrefix(got, "snapshot damaged: "):
				damaged++ // of a value it is told where it is read
			case got != want && name != "the values of the paths":
				t.Errorf("%s of %s where %s are damaged: %s, expected %s", what, key, name, got, want)
			}
		}
		for _, c := range hieraLookups {
			for i, strategy := range strategies {
				v, found, err := req.LookupMerged(c.key, strategy)
				same("lookup", c.key, answered(v, found, err), answered(sound.LookupMerged(c.key, strategy)), err)
				v, found, err = req.LookupEntries(c.key, i, -1, strategy)
				want := answered(sound.LookupEntries(c.key, i, -1, strategy))
				same("entries", c.key, answered(v, found, err), want, err)
			}
			e, err := req.Explain(c.key)
			if err == nil {
				err = e.Outcome.Err
			}
			same("explanation", c.key, "", "", err)
		}
		if damaged == 0 {
			t.Errorf("%s: nothing tells of the damage", name)
		}
	}
}

// lookup_options that cannot be merged, or are none, fail every lookup.
func TestWrongLookupOptions(t *testing.T) {
	const site = "-- hiera.yaml --\nversion: 5\nhierarchy: [{name: N, path: 'n/%{trusted.certname}.yaml'}, " +
		"{name: R, path: 'r/%{role}.yaml'}, {name: C, path: c.yaml}]\n-- data/r/web.yaml --\nrole: [2]\n" +
		"lookup_options: {role: {merge: unique}}\n-- data/c.yaml --\na: [1]\nb: 1\nrole: [1]\n" +
		"lookup_options: {a: {merge: unique}}\n"
	const none = "lookup_options must be a Hash, found the kind String"
	const pattern = "the pattern '^x(' in lookup_options does not compile: unmatched ( in /^x(/"
	const merged = "lookup_options that are merged must be Hashes of Data with Strings as keys"
	for _, c := range []struct{ node, a, b, role string }{
		{"a: [2]", "[2,1]", "1", "[2,1]"},
		{"a: [2]\nlookup_options: ~", "evaluation: 'a': " + merged, "evaluation: 'b': " + merged,
			"evaluation: 'role': " + merged},
		{"a: [2]\nlookup_options: text", "evaluation: 'a': " + none, "evaluation: 'b': " + none,
			"evaluation: 'role': " + none},
		{"a: [2]\nlookup_options: {'^x(': {merge: hash}, a: {merge: first}}", "evaluation: 'a': " + pattern,
			"evaluation: 'b': " + pattern, "evaluation: 'role': " + pattern},
		{"a: [2]\nlookup_options: {b: {convert_to: String}}", "[2,1]", `"1"`, "[2,1]"},
		{"a: [2]\nlookup_options: {a: {merge: \"%{x}first\"}}", "[2]", "1", "[2,1]"},
		{"a: [2]\nlookup_options: \"%{x}\"", "evaluation: 'a': " + none, "evaluation: 'b': " + none,
			"evaluation: 'role': " + none},
	} {
		s := hieraSnapshot(t, site+"-- data/n/n1.yaml --\n"+c.node+"\n", bindings.Options{})
		req := askedOf(t, s, `{"role": "web"}`)
		for range 2 { // once more, as what is compiled may be kept
			for key, want := range map[string]string{"a": c.a, "b": c.b, "role": c.role} {
				if got := answered(req.Lookup(key)); got != want {
					t.Errorf("%q: %s is %s, expected %s", c.node, key, got, want)
				}
				e, err := req.Explain(key)
				if err != nil {
					t.Fatalf("%q: %s is not explained: %v", c.node, key, err)
				}
				if got := answered(e.Outcome.Value, e.Outcome.Found, e.Outcome.Err); got != want {
					t.Errorf("%q: %s is explained to be %s, expected %s", c.node, key, got, want)
				}
			}
		}
	}
	// By an entry they come to who merges them, and who cannot is told of which key.
	req := askedOf(t, hieraSnapshot(t, site+"-- data/n/n1.yaml --\nlookup_options: text\n", bindings.Options{}), `{}`)
	hash, err := bindings.ParseJSON([]byte(`"hash"`))
	if err != nil {
		t.Fatal(err)
	}
	const unmerged = "evaluation: 'lookup_options': the merge strategy 'hash' needs Hashes of Data with Strings as " +
		"keys, and this is of the kind String"
	for from, want := range []string{unmerged, `{"a":{"merge":"unique"}}`, `{"a":{"merge":"unique"}}`, "not found"} {
		if got := answered(req.LookupEntries("lookup_options", from, -1, hash)); got != want {
			t.Errorf("the lookup_options from entry %d on are %s, expected %s", from, got, want)
		}
	}
}

// lookup_options of a default_hierarchy that are wrong fail the lookups that come to it, and no others.
func TestWrongLookupOptionsOfDefaults(t *testing.T) {
	const site = `
-- hiera.yaml --
version: 5
hierarchy: [{name: C, path: common.yaml}]
-- data/common.yaml --
m::high: 1
m::hash: {a: 1}
m::asks: "%{lookup('m::high')}"
m::dot.ted: 1
-- modules/m/hiera.yaml --
version: 5
hierarchy: [{name: C, path: common.yaml}]
default_hierarchy: [{name: D, path: "%{role}.yaml"}, {name: All, path: all.yaml}]
-- modules/m/data/common.yaml --
m::own: 1
-- modules/m/data/web.yaml --
lookup_options: text
-- modules/m/data/app.yaml --
m::odd: 1
lookup_options: {m::odd: {merge: "%{how}"}, m::absent: {merge: "%{how}"}}
-- modules/m/data/dig.yaml --
lookup_options: {m::absent: {merge: "%{role.x}"}}
-- modules/m/data/all.yaml --
m::low: 1
m::hash: {b: 2}
`
	s := hieraSnapshot(t, site, bindings.Options{})
	const none = "lookup_options must be a Hash, found the kind String"
	for _, c := range []struct{ key, sound, wrong string }{
		{"m::high", "1", "1"},
		{"m::own", "1", "1"},
		{"m::asks", `"1"`, `"1"`},
		{"'m::dot.ted'", "1", "1"},
		{"m::low", "1", "evaluation: 'm::low': " + none},
		{"m::absent", "not found", "evaluation: 'm::absent': " + none},
		{"m::hash.a", "1", "1"},
		{"m::hash.b", "2", "evaluation: 'm::hash.b': " + none},
		{"m::hash.c", "not found", "evaluation: 'm::hash.c': " + none},
		{"absent", "not found", "not found"},
	} {
		for role, want := range map[string]string{"db": c.sound, "web": c.wrong} {
			if got := answered(asked(t, s, `{"role": "`+role+`"}`).Lookup(c.key)); got != want {
				t.Errorf("%s of %s is %s, expected %s", c.key, role, got, want)
			}
		}
	}
	// What fails while they are read fails whatever it finds, also what they say nothing of.
	dug := asked(t, s, `{"role": "dig"}`)
	for key, want := range map[string]string{"m::low": "evaluation", "m::absent": "evaluation", "m::own": "1"} {
		if got := outcomeOf(dug.Lookup(key)); got != want {
			t.Errorf("where lookup_options dig in a text, %s is %s, expected %s", key, got, want)
		}
	}
	// Which lookup is wrong is no question of what its options would have said of the bindings.
	for role, want := range map[string]string{"db": "hidden not effective wins", "web": "wins not effective hidden"} {
		if got := states(t, asked(t, s, `{"role": "`+role+`"}`), "m::hash.b"); got != want {
			t.Errorf("the bindings that m::hash.b of %s leads into are %s, expected %s", role, got, want)
		}
	}
	// A strategy that is told counts in the hierarchies, and not in a default_hierarchy.
	first, err := bindings.ParseJSON([]byte(`"first"`))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"m::odd", "m::absent", "m::odd.x"} {
		want := "evaluation: '" + key + "': there is no merge strategy 'none', expected first, unique, hash or deep"
		if got := answered(asked(t, s, `{"role": "app", "how": "none"}`).LookupMerged(key, first)); got != want {
			t.Errorf("the first value of %s is %s, expected %s", key, got, want)
		}
	}
}

// What a lookup needs to know how it is looked up does not need that lookup; and structured bindings close loops too.
func TestLoopsThroughHiera5(t *testing.T) {
	const site = `
-- hiera.yaml --
version: 5
hierarchy: [{name: C, path: common.yaml}]
-- data/common.yaml --
lookup_options: {a: {merge: "%{lookup('b')}"}}
a: 1
b: first
-- bindings/default.yaml --
bindings_version: 1
name: default
bind: [[structured, 1]]
`
	const options = "loop: 'lookup_options' needs itself: lookup_options -> lookup_options"
	req := asked(t, hieraSnapshot(t, site, bindings.Options{}), `{}`)
	for key, want := range map[string]string{"a": options, "b": options, "a.x": options, "structured": "1"} {
		if got := answered(req.Lookup(key)); got != want {
			t.Errorf("%s is %s, expected %s", key, got, want)
		}
	}
	const loops = `
-- hiera.yaml --
version: 5
hierarchy: [{name: C, path: common.yaml}]
-- data/common.yaml --
h: {k: "%{alias('s')}"}
-- bindings/default.yaml --
bindings_version: 1
name: default
bind: [{name: s, to_expression: "if $word { lookup('h.k') }"}]
`
	s := hieraSnapshot(t, loops, bindings.Options{})
	for facts, want := range map[string]string{`{}`: "null", `{"word": 1}`: "loop: 'h.k' needs itself: h.k -> s -> h.k"} {
		if got := answered(asked(t, s, facts).Lookup("h.k")); got != want {
			t.Errorf("of %s h.k is %s, expected %s", facts, got, want)
		}
	}
}

// A strategy that is none is the outcome of its key, whose bindings are explained all the same; what options convert
// shows in the outcome, and not in what is bound.
func TestExplanationsOfWrongOptions(t *testing.T) {
	const site = `
-- hiera.yaml --
version: 5
hierarchy: [{name: N, path: "%{node}.yaml"}, {name: C, path: common.yaml}]
-- data/n1.yaml --
a: 1
number: "12"
-- data/common.yaml --
lookup_options: {a: {merge: "%{how}"}, b: {merge: "%{how}"}, number: {convert_to: Integer}}
a: 2
`
	req := asked(t, hieraSnapshot(t, site, bindings.Options{}), `{"how": "none", "node": "n1"}`)
	e, err := req.Explain("a")
	var failed *bindings.Error
	if err != nil || !errors.As(e.Outcome.Err, &failed) || failed.Code != bindings.CodeEvaluation {
		t.Fatalf("%+v, %v", e, err)
	}
	if got := states(t, req, "a"); got != "not effective wins hidden" {
		t.Errorf("the bindings of a key by no strategy are %s", got)
	}
	for _, key := range []string{"b", "b.x", "'b'"} {
		if _, found, err := req.Lookup(key); !errors.As(err, &failed) || failed.Code != bindings.CodeEvaluation {
			t.Errorf("a key of no strategy that nothing binds, as %s: %t, %v", key, found, err)
		}
	}
	first, err := bindings.ParseJSON([]byte(`"first"`))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"a": "1", "b": "not found"} {
		if got := answered(req.LookupMerged(key, first)); got != want {
			t.Errorf("the first value of %s is %s, expected %s", key, got, want)
		}
	}
	e, err = req.Explain("number")
	if err != nil || len(e.Candidates) != 1 {
		t.Fatalf("%+v, %v", e, err)
	}
	c := e.Candidates[0]
	if o := e.Options; o == nil || o.At != "data/common.yaml:1:1" || o.Name != "number" {
		t.Errorf("the options of what one entry has are %+v", o)
	}
	if c.State != bindings.Wins || c.Outcome.Value.Kind() != bindings.String || e.Outcome.Value.Kind() != bindings.Int {
		t.Errorf("%+v comes to %v", c, e.Outcome)
	}
}
