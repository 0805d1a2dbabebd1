package runtime_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"bindc/compile"
	"bindc/diag"
	"bindc/internal/lookup"
	"bindc/loader"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// hieraContent compiles a site of Hiera 5. The directory global has the global layer.
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

// hieraSnapshot compiles and opens a site of Hiera 5.
func hieraSnapshot(t *testing.T, files string, opts bindings.Options) *bindings.Snapshot {
	t.Helper()
	s := openFile(t, hieraContent(t, files), opts, nil)
	if err := s.Verify(); err != nil {
		t.Fatal(err)
	}
	return s
}

// requestN1 makes a request for the node n1, with facts in JSON.
func requestN1(t *testing.T, s *bindings.Snapshot, facts string) *bindings.Request {
	t.Helper()
	f, err := parseFacts([]byte(facts), bindings.FactsOptions{Node: "n1"})
	if err != nil {
		t.Fatal(err)
	}
	req, err := s.Request(f)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// strategyOf parses a merge strategy in JSON; "" means the one in lookup_options.
func strategyOf(t *testing.T, text string) bindings.Value {
	t.Helper()
	if text == "" {
		return bindings.Value{}
	}
	v, err := parseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// resultText formats a result: JSON, with the prefix 'sensitive' if it is, or the reason why there is
// none.
func resultText(v bindings.Value, found bool, err error) string {
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

// everyPart is a site with every part of Hiera 5, and structured bindings above it.
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

// hieraLookups lists keys, merge strategies and results. The results are those of Puppet.
var hieraLookups = []struct{ key, merge, want string }{
	{"top", "", `"global"`},
	{"plain", "", `"of node"`},
	{"everywhere", "", `["global","node","both","web","all","common"]`},
	{"everywhere", `"first"`, `["global"]`},
	{"everywhere", `"hash"`, "evaluation: 'everywhere': the merge strategy 'hash' needs Hashes of Data with " +
		"Strings as " +
		"keys, and this is of the kind Array"},
	{"everywhere", `"uniq"`, "usage: 'everywhere': unknown merge strategy 'uniq', expected first, unique, " +
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
	{"hash.a.z", "", "evaluation: 'hash.a.z': 'hash.a.z' needs a Hash with the key 'z', found Integer"},
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
	{"wrong", "", "evaluation: 'wrong': convert_to of 'wrong' to Integer: Integer(): the String is not an Integer"},
	{"wrong", `"first"`, "evaluation: 'wrong': convert_to of 'wrong' to Integer: Integer(): the String is not an Integer"},
	{"nested", "", `sensitive {"a":{"password":"s3cr3t","user":"me"}}`},
	{"nested.a.user", "", "evaluation: 'nested.a.user': 'nested.a.user' needs a Hash with the key 'user', found " +
		"something sensitive"},
	{"veiled", "", "loop: 'loop' depends on itself: loop -> loop2 -> loop"},
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
	{"a..b", "", "evaluation: 'a..b' is not a valid key: there is nothing between two dots, before the " +
		"first dot or after the last one"},
	{"1.b", "", "evaluation: '1.b' is not a valid key: it must not begin with a number; put the number in quotes"},
	{"text", "", `"of node and 1,  ."`},
	{"copy", "", `{"a":1,"in":{"z":3,"y":2,"x":1},"b":2}`},
	{"loop", "", "loop: 'loop' depends on itself: loop -> loop2 -> loop"},
	{"derived", "", `", Debianwebn1"`},
	{"structured", "", `{"a":{"b":1}}`},
	{"structured.a.b", "", "1"},
	{"structured.c", "", "not found"},
	{"structured", `"unique"`, `[{"a":{"b":1}}]`},
	{"structured", `"hash"`, `{"a":{"b":1}}`},
	{"structured", `"deep"`, `{"a":{"b":1}}`},
	{"structured", `"first"`, `{"a":{"b":1}}`},
	{"structured.0.a.b", `"unique"`, "1"},
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

func TestHieraLookupsReturnMergedValues(t *testing.T) {
	req := requestN1(t, hieraSnapshot(t, everyPart, bindings.Options{}), `{"os": {"family": "Debian"}, "role": "web"}`)
	for _, c := range hieraLookups {
		strategy := strategyOf(t, c.merge)
		if got := resultText(lookupMerged(req, c.key, strategy)); got != c.want {
			t.Errorf("%s %s is %s, expected %s", c.key, c.merge, got, c.want)
		}
		if c.merge != "" {
			continue
		}
		if got := resultText(req.Lookup(c.key)); got != c.want {
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

// Explanations of Hiera 5 keys show the state of each binding, and the sources of the lookup_options.
func TestExplainShowsStateOfHieraBindings(t *testing.T) {
	req := requestN1(t, hieraSnapshot(t, everyPart, bindings.Options{}), `{"os": {"family": "Debian"}, "role": "web"}`)
	other := requestN1(t, hieraSnapshot(t, everyPart, bindings.Options{}), `{"os": {"family": "Suse"}}`)
	between := requestFor(t, hieraSnapshot(t, betweenBindings, bindings.Options{}), "{}")
	const node, os, web, all, common = "data/nodes/n1.yaml", "data/os/Debian.yaml", "data/role/web.yaml",
		"data/role/all.yaml", "data/common.yaml"
	const module, d1, d2 = "modules/m/data/common.yaml", "modules/m/data/d1.yaml", "modules/m/data/d2.yaml"
	const defaults = "default_hierarchy is used only if nothing else is found"
	// The explanation of a dotted key shows the whole value of its root.
	if e, err := engine(req).Explain("structured.a.b"); err != nil || len(e.Candidates) != 1 ||
		resultText(public(e.Candidates[0].Outcome.Value), true, nil) != `{"a":{"b":1}}` {
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
		{req, "m::limits.procs", "in m::limits\nhidden " + module + ":3:1 'm::limits.procs' finds nothing in the " +
			"data of the hierarchies\nwins " + d1 + ":4:1\nhidden " + d2 + ":2:1 hidden by " + d1 + ":4:1\noptions of m::limits " + d1 +
			`:6:1 {"merge":"first"}`},
		{req, "m::hidden", "wins " + d1 + ":5:1\noptions of m::hidden " + d1 + `:6:1 {"convert_to":"Sensitive"}`},
		{req, "m::late", "wins " + d1 + ":11:1\nhidden " + d2 + ":4:1 hidden by " + d1 + ":11:1\noptions of m::late " +
			common + `:11:1 {"merge":"unique"}`}, // from data in the hierarchies
		{req, "now", "wins bindings/default.yaml:11:12 its value is that of 'renamed' below this"},
		{req, "absent", ""},
		{between, "opt", "declined bindings/above.yaml:8:10 it is optional, and its value is undef"},
		{between, "merged", "merged data/a.yaml:3:1\nmerged data/b.yaml:2:1\nhidden bindings/below.yaml:3:45 a " +
			"structured binding is not merged with those above it\noptions of merged data/a.yaml:4:1 {\"merge\":\"unique\"}"},
		{between, "a", "wins bindings/above.yaml:4:4\nhidden data/a.yaml:1:1 hidden by bindings/above.yaml:4:4\n" +
			"hidden bindings/below.yaml:3:9 hidden by bindings/above.yaml:4:4"},
		{req, "misfit", "merged " + node + ":7:1\nmerged " + common + ":6:1\noptions of misfit " + common +
			`:11:1 {"merge":"hash"}`},
		{req, "'lookup_options'", ""},
		{req, "lookup_options.a", ""},
		{req, "'dotted.key'", "wins " + common + ":22:1"},
		{req, "a..b", ""},
	} {
		e, err := engine(c.req).Explain(c.key)
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
			got = append(got, "options of "+o.Name+" "+o.At+" "+resultText(public(o.Outcome.Value), o.Outcome.Found,
				o.Outcome.Err))
		}
		if got := strings.Join(got, "\n"); got != c.want {
			t.Errorf("%s of %s is explained by\n%s\nexpected\n%s", c.key, e.Root, got, c.want)
		}
		if got, want := resultText(public(e.Outcome.Value), e.Outcome.Found, e.Outcome.Err),
			resultText(c.req.Lookup(c.key)); got != want {
			t.Errorf("%s is %s when explained, and otherwise %s", c.key, got, want)
		}
	}
}

// A lookup decrypts a string that eyaml encrypted. The result is sensitive. Without a key, only lookups of such
// strings fail.
func TestEncryptedTextIsDecrypted(t *testing.T) {
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
gpg: ENC[GPG,secret]
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
	first, err := parseJSON([]byte(`"first"`))
	if err != nil {
		t.Fatal(err)
	}
	unique, err := parseJSON([]byte(`"unique"`))
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
	closed := requestFor(t, hieraSnapshot(t, site, bindings.Options{}), `{"role": "web"}`)
	able := requestFor(t, hieraSnapshot(t, site, bindings.Options{Decrypt: decrypt}), `{"role": "web"}`)
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
		{closed, "password", "encrypted: the value is encrypted for hiera-eyaml, but no key was given; " +
			"give bindq the private key with --eyaml-key FILE"},
		{closed, "gpg", "encrypted: the value is encrypted with the method GPG: expected PKCS7"},
		{closed, "open", "1"},
	} {
		if got := resultText(c.req.Lookup(c.key)); got != c.want {
			t.Errorf("%s is %s, expected %s", c.key, got, c.want)
		}
		if got := resultText(lookupMerged(c.req, c.key, first)); got != c.want {
			t.Errorf("the first value of %s is %s, expected %s", c.key, got, c.want)
		}
	}
	for key, want := range map[string]string{"password": `"web!"`, "again": `"web!?"`, "both": `"web! 1 2"`,
		"marked": `sensitive "with s3"`, "behind": `sensitive "with s3, s4"`, "deeper": `sensitive "s4"`,
		"structured": `sensitive "s3"`, "first": `sensitive "s3 web!"`} {
		if got := resultText(lookupEntries(able, key, 0, -1, bindings.Value{})); got != want {
			t.Errorf("to Puppet, which hides nothing, %s is %s", key, got)
		}
	}
	if _, _, err := able.Lookup("wrong"); !errors.Is(err, noKey) {
		t.Errorf("an undecryptable value fails with %v, not with the error of decryption", err)
	}
	if got := resultText(able.Lookup("again")); got != `sensitive "web!?"` {
		t.Errorf("again is %s", got)
	}
	// Puppet gets decrypted values as plain ones, but error messages, which may be logged, hide them.
	for key, want := range map[string]string{
		"failing": "evaluation: 'failing': the value is sensitive, so the error is not shown",
		"misfit":  "type_mismatch: 'misfit': expected Enum['one', 'two'], found a sensitive value of a different type",
	} {
		for _, merge := range []bindings.Value{{}, unique} {
			if got := resultText(lookupEntries(able, key, 0, -1, merge)); got != want {
				t.Errorf("to Puppet %s is %s", key, got)
			}
		}
		if got := resultText(able.Lookup(key)); got != want {
			t.Errorf("%s is %s", key, got)
		}
	}
}

// A hierarchy may have a single entry.
func TestHierarchyWithOneEntryAnswers(t *testing.T) {
	s := hieraSnapshot(t, "-- binder_config.yaml --\nversion: 1\nlayers: [{name: hiera, include: 'hiera:/'}]\n"+
		"-- hiera.yaml --\nversion: 5\nhierarchy: [{name: C, path: common.yaml}]\n"+
		"-- data/common.yaml --\na: {b: 1}\n", bindings.Options{})
	if got := resultText(requestFor(t, s, "{}").Lookup("a.b")); got != "1" || !(*lookup.Snapshot)(s).Hiera() {
		t.Errorf("a.b is %s, of Hiera 5 %t", got, (*lookup.Snapshot)(s).Hiera())
	}
}

// A key on which the lookup_options depend is itself looked up with them, so it is a loop. Loops through structured
// bindings are found too.
func TestReportsLoopsThroughHiera(t *testing.T) {
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
	const options = "loop: 'lookup_options' depends on itself: lookup_options -> b -> lookup_options"
	const b = "loop: 'b' depends on itself: b -> lookup_options -> b"
	req := requestFor(t, hieraSnapshot(t, site, bindings.Options{}), `{}`)
	for key, want := range map[string]string{"a": options, "b": b, "a.x": options, "structured": "1"} {
		if got := resultText(req.Lookup(key)); got != want {
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
	for facts, want := range map[string]string{`{}`: "null", `{"word": 1}`: "loop: 'h.k' depends on itself: h.k -> s -> h.k"} {
		if got := resultText(requestFor(t, s, facts).Lookup("h.k")); got != want {
			t.Errorf("of %s h.k is %s, expected %s", facts, got, want)
		}
	}
}
