package runtime_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"bindc/internal/recipe"
	bindings "bindc/runtime"
)

// mergingSite merges common data with node data, computed data and encrypted data.
var mergingSite = map[string]string{
	"hiera.yaml": `version: 5
defaults: {lookup_key: eyaml_lookup_key}
hierarchy:
  - {name: Nodes, path: 'nodes/%{node}.yaml'}
  - {name: Common, path: common.yaml}
  - {name: Base, path: base.yaml}
`,
	"data/base.yaml": `below: {pin: 'ENC[PKCS7,MII=]'}
`,
	"data/nodes/a.yaml": `users: {root: {uid: 0, shell: sh}}
`,
	"data/nodes/b.yaml": `lookup_options: {users: {merge: first}}
users: {admin: {uid: 7}}
`,
	"data/nodes/c.yaml": `above: {pin: 'ENC[PKCS7,MII=]'}
`,
	"data/common.yaml": `lookup_options:
  users: {merge: deep}
  computed: {merge: hash}
  secret: {merge: hash}
  below: {merge: hash}
  above: {merge: hash}
users: {root: {home: /root}, guest: {uid: 9}}
computed: {node: '%{node}'}
secret: {pin: 'ENC[PKCS7,MII=]'}
below: {open: 1}
above: {open: 1}
`,
}

// A request caches merged values until Reset gives it other facts. It does not cache decrypted values.
func TestMergesAreCachedPerFacts(t *testing.T) {
	snap, decrypted := openMerging(t)
	of := func(node string) *bindings.Facts {
		facts, err := parseFacts(fmt.Appendf(nil, `{"node": %q}`, node), bindings.FactsOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return facts
	}
	req, err := snap.Request(of("a"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ node, key, want string }{
		{"a", "users.root", `{"home":"/root","uid":0,"shell":"sh"}`},
		{"a", "users.guest.uid", `9`},
		{"a", "users.root.shell", `"sh"`},
		{"b", "users", `{"admin":{"uid":7}}`},
		{"b", "computed", `{"node":"b"}`},
		{"c", "users.root", `{"home":"/root"}`},
		{"c", "computed.node", `"c"`},
	} {
		if err := req.Reset(of(c.node)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := answerOf(t, req, c.key); got != c.want {
				t.Errorf("%s for %s: expected %s, found %s", c.key, c.node, c.want, got)
			}
		}
	}

	want := 0
	for _, key := range []string{"secret.pin", "below.pin", "above.pin"} {
		for range 2 {
			want++
			if got := answerOf(t, req, key); got != `"<sensitive>"` || *decrypted != want {
				t.Errorf("lookup %d of an encrypted value, %s: %s, decrypted %d times", want, key, got, *decrypted)
			}
		}
	}
}

// A merged value with an encrypted part is sensitive, but the explanation shows the options of the merge.
func TestExplainShowsOptionsOfEncryptedValue(t *testing.T) {
	snap, _ := openMerging(t)
	e, err := engine(requestFor(t, snap, `{}`)).Explain("secret")
	if err != nil {
		t.Fatal(err)
	}
	if o := e.Options; o == nil || resultText(public(o.Outcome.Value), true, nil) != `{"merge":"hash"}` ||
		!e.Outcome.Value.Sensitive() {
		t.Errorf("%+v of %v", o, e.Outcome)
	}
}

// lookup_options with an interpolation are computed once per request, until Reset gives it other facts.
func TestComputedOptionsAreCachedPerFacts(t *testing.T) {
	var options strings.Builder
	for i := range 300 {
		fmt.Fprintf(&options, "  key%d: {merge: '%%{how}'}\n", i)
	}
	content := hieraContent(t, "-- hiera.yaml --\nversion: 5\nhierarchy:\n  - {name: Top, path: top.yaml}\n"+
		"  - {name: Common, path: common.yaml}\n-- data/top.yaml --\nkey7: [1]\n"+
		"-- data/common.yaml --\nlookup_options:\n"+options.String()+"key7: [2]\n")
	req := requestFor(t, openFile(t, content, bindings.Options{}, nil), `{"how": "unique"}`)
	reset := func(facts string) {
		of, err := parseFacts([]byte(facts), bindings.FactsOptions{})
		if err == nil {
			err = req.Reset(of)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	first := testing.AllocsPerRun(1, func() { // it calls the function twice, and counts the second call
		reset(`{"how": "unique"}`)
		if got := answerOf(t, req, "key7"); got != "[1,2]" {
			t.Errorf("found %s, expected both values", got)
		}
	})
	again := testing.AllocsPerRun(20, func() { answerOf(t, req, "key7") })
	if again*5 > first {
		t.Errorf("the first lookup of a request allocates %v times, and the others %v times", first, again)
	}
	reset(`{"how": "first"}`)
	if got := answerOf(t, req, "key7"); got != "[1]" {
		t.Errorf("after Reset, found %s, expected the first value", got)
	}
}

// Encrypted lookup_options make each value that they merge sensitive, not only the first.
func TestEncryptedOptionsAreNotCached(t *testing.T) {
	content := hieraContent(t, "-- hiera.yaml --\nversion: 5\ndefaults: {lookup_key: eyaml_lookup_key}\nhierarchy:\n"+
		"  - {name: Top, path: top.yaml}\n  - {name: Common, path: common.yaml}\n-- data/top.yaml --\nkey7: [1]\n"+
		"-- data/common.yaml --\nlookup_options: {key7: {merge: 'ENC[PKCS7,MII=]'}}\nkey7: [2]\n")
	decrypt := func(string) (string, error) { return "unique", nil }
	req := requestFor(t, openFile(t, content, bindings.Options{Decrypt: decrypt}, nil), `{}`)
	for range 3 {
		if got := answerOf(t, req, "key7"); got != `"<sensitive>"` {
			t.Errorf("found %s, expected a sensitive value", got)
		}
	}
}

// Two modules have equal lookup_options with an interpolation. They are right in the one whose name their keys begin
// with, and an error in the other, whichever is looked up first.
func TestEqualOptionsOfModulesAreCheckedForEach(t *testing.T) {
	for _, how := range []string{"%{how}", "unique"} {
		files := "-- hiera.yaml --\nversion: 5\n"
		for _, m := range []string{"a", "b"} {
			files += fmt.Sprintf("-- modules/%s/hiera.yaml --\nversion: 5\nhierarchy: [{name: C, paths: [t.yaml, c.yaml]}]\n"+
				"-- modules/%[1]s/data/t.yaml --\n%[1]s::k: [1]\n-- modules/%[1]s/data/c.yaml --\n"+
				"lookup_options: {'a::k': {merge: '%[2]s'}}\n%[1]s::k: [2]\n", m, how)
		}
		content := hieraContent(t, files)
		for _, keys := range [][]string{{"a::k", "b::k"}, {"b::k", "a::k"}} {
			req := requestFor(t, openFile(t, content, bindings.Options{}, nil), `{"how": "unique"}`)
			for _, key := range keys {
				if key == "a::k" {
					if got := answerOf(t, req, key); got != "[1,2]" {
						t.Errorf("in the order %v, merged by %s, a::k is %s", keys, how, got)
					}
				} else if _, _, err := req.Lookup(key); err == nil {
					t.Errorf("in the order %v, merged by %s, b::k has a value", keys, how)
				}
			}
		}
	}
}

// Several goroutines look up the same merged keys in one request, before any result is cached.
func TestConcurrentMergesAgree(t *testing.T) {
	snap, _ := openMerging(t)
	facts, err := parseFacts([]byte(`{"node": "a"}`), bindings.FactsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		req, err := snap.Request(facts)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				v, _, err := req.Lookup("users.root.home")
				if err != nil || textOf(v) != "/root" {
					t.Errorf("the home of root is %s (%v)", v, err)
				}
			})
		}
		all.Wait()
	}
}

func openMerging(t *testing.T) (snap *bindings.Snapshot, decrypted *int) {
	t.Helper()
	decrypted = new(int)
	path := filepath.Join(t.TempDir(), "site.bsnap")
	buildSite(t, path, mergingSite)
	snap, err := bindings.Open(path, bindings.Options{Decrypt: func(text string) (string, error) {
		*decrypted++
		return strings.TrimPrefix(text, "ENC"), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { snap.Close() })
	return snap, decrypted
}

func answerOf(t *testing.T, req *bindings.Request, key string) string {
	t.Helper()
	v, found, err := req.Lookup(key)
	if err != nil || !found {
		t.Fatalf("%s: found is %v (%v)", key, found, err)
	}
	text, err := v.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Values that cannot be merged fail each lookup, not only the first. A single string merged with 'unique' becomes an
// array, but in a default_hierarchy with one entry it stays a string.
func TestUnmergeableValuesFailEachLookup(t *testing.T) {
	req := requestFor(t, hieraSnapshot(t, `
-- global/hiera.yaml --
version: 5
hierarchy: [{name: Global, path: global.yaml}]
-- global/data/global.yaml --
misfit: text
m::late: {a: 1}
-- hiera.yaml --
version: 5
hierarchy: [{name: Common, path: common.yaml}]
-- data/common.yaml --
lookup_options: {misfit: {merge: hash}, alone: {merge: unique}, m::late: {merge: hash}}
m::late: text
misfit: {a: 1}
alone: text
-- modules/m/hiera.yaml --
version: 5
default_hierarchy: [{name: Default, path: default.yaml}]
-- modules/m/data/default.yaml --
lookup_options: {m::alone: {merge: unique}}
m::alone: text
m::late: {b: 2}
`, bindings.Options{}), `{}`)
	const misfit = ": the merge strategy 'hash' needs Hashes of Data with Strings as keys, and this is of the kind " +
		"String"
	if got := states(t, req, "m::late.b"); got != "merged merged hidden" { // although the merged values have no b
		t.Errorf("the bindings that cannot be merged are %s", got)
	}
	for key, want := range map[string]string{"misfit": "evaluation: 'misfit'" + misfit,
		"misfit.a": "evaluation: 'misfit.a'" + misfit, "alone": `["text"]`, "m::alone": `"text"`} {
		for range 2 {
			if got := resultText(req.Lookup(key)); got != want {
				t.Errorf("%s is %s, expected %s", key, got, want)
			}
		}
	}
}

// In a forged file, a key may be merged without an entry that has a value, or the merge may belong to an invalid
// key. Verify does not detect either, so lookups must not report damage.
func TestForgedMergesAreNotReportedAsDamage(t *testing.T) {
	req := forgedMerge(t, recipe.MergeKey("users"), recipe.MergeKey("other"))
	if err := req.Snapshot().Verify(); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"users": "null", "users.root": "not found"} {
		for what, got := range map[string]string{"a lookup": resultText(req.Lookup(key)),
			"a merge": resultText(lookupMerged(req, key, bindings.Value{}))} {
			if got != want {
				t.Errorf("%s of %s finds %s, expected %s", what, key, got, want)
			}
		}
	}
	if e, err := engine(req).Explain("users"); err != nil || e.Outcome.Err != nil {
		t.Errorf("explained: %+v, %v", e, err)
	}

	const key = "it's"
	const want = "evaluation: 'it's': 'it's' is not a valid key: quotes must enclose everything between " +
		"two dots, and must not be empty"
	if got := resultText(forgedMerge(t, "users", key).Lookup(key)); got != want {
		t.Errorf("a key that cannot be reached is %s, expected %s", got, want)
	}
}

// forgedMerge makes a request for a site that merges users. It renames the key in the file to the
// value of the argument to.
func forgedMerge(t *testing.T, from, to string) *bindings.Request {
	t.Helper()
	content := hieraContent(t, "-- hiera.yaml --\nversion: 5\n-- data/common.yaml --\n"+
		"lookup_options: {users: {merge: deep}}\nusers: {root: 1}\n")
	for i := range content.Keys {
		if content.Keys[i].Name == from {
			content.Keys[i].Name = to
		}
	}
	return requestFor(t, openFile(t, content, bindings.Options{}, nil), `{}`)
}
