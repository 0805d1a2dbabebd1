package runtime_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"bindc/compile"
	"bindc/internal/diag"
	"bindc/internal/recipe"
	"bindc/loader"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// mergingSite merges what all have, what one node has, and what is computed or decrypted.
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

// What was merged once is merged again for other facts only.
func TestMergesAreOfTheFactsOfTheRequest(t *testing.T) {
	snap, decrypted := openMerging(t)
	of := func(node string) *bindings.Facts {
		facts, err := bindings.ParseFacts(fmt.Appendf(nil, `{"node": %q}`, node), bindings.FactsOptions{})
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
				t.Errorf("lookup %d of what is encrypted, %s: %s, decrypted %d times", want, key, got, *decrypted)
			}
		}
	}
}

// One request may be asked by several goroutines for what none of them has merged yet.
func TestMergesOfOneRequestAtOnce(t *testing.T) {
	snap, _ := openMerging(t)
	facts, err := bindings.ParseFacts([]byte(`{"node": "a"}`), bindings.FactsOptions{})
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
				if err != nil || v.Text() != "/root" {
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

// In a file that somebody forged, what is merged may be a merge again, of itself.
func TestAMergeOfItselfIsDamage(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"hiera.yaml": "version: 5\n",
		"data/common.yaml": "lookup_options: {users: {merge: deep}}\nusers: {root: 1}\n"} {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o777), os.WriteFile(at, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	var diags diag.List
	content := compile.Compile(loader.Load(dir, loader.Options{}, &diags), compile.Options{}, &diags)
	for i := range content.Keys {
		if content.Keys[i].Name == recipe.MergeKey("users") {
			content.Keys[i].Name = recipe.MergeKey("other")
		}
	}
	path := filepath.Join(dir, "site.bsnap")
	if _, err := snapshot.Write(path, content); err != nil || diags.Failed() {
		t.Fatal(err, diags.Sorted())
	}
	req := requestOf(t, path, "n1", nil)
	var damage *bindings.DamageError
	for _, key := range []string{"users", "users.root"} {
		if _, _, err := req.Lookup(key); !errors.As(err, &damage) {
			t.Errorf("%s: expected damage, found %v", key, err)
		}
	}
	if _, err := req.Explain("users"); !errors.As(err, &damage) {
		t.Errorf("explained: expected damage, found %v", err)
	}
	if _, _, err := req.LookupMerged("users", bindings.Value{}); !errors.As(err, &damage) {
		t.Errorf("merged: expected damage, found %v", err)
	}
}
