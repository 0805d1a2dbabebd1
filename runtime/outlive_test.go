//go:build linux && !purego

package runtime_test

import (
	"fmt"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"

	bindings "bindc/runtime"
)

// keptSite has a key for each way in which a lookup produces its value.
var keptSite = `bindings_version: 1
name: default
bind:
  - [small, "a text in the record of its key"]
  - [large, "` + strings.Repeat("a text in a block, ", 400) + `"]
  - [list, [[one, two], {three: four}, 5]]
  - {name: computed, to: "of ${fqdn}"}
  - {name: part, to_hash_lookup: {name: hash, key: inner}}
  - {name: hash, to: {inner: "a text inside of a hash"}}
  - {name: alias, to_lookup_of: small}
  - {name: secret, to: "a secret text", sensitive: true}
  - {name: hats, multibind_id: hats, type: Array}
  - {in: hats, to: bowler}
  - {in: hats, to: fez}
`

var keptTexts = map[string]string{
	"small":    "a text in the record of its key",
	"large":    strings.Repeat("a text in a block, ", 400),
	"list":     "[[one, two], {three => four}, 5]",
	"computed": "of n1",
	"part":     "a text inside of a hash",
	"hash":     "{inner => a text inside of a hash}",
	"alias":    "a text in the record of its key",
	"secret":   "a secret text",
	"hats":     "[bowler, fez]",
}

// openKept builds and opens keptSite. After Close, only values that the test keeps refer to the snapshot.
func openKept(t *testing.T, dir string) (*bindings.Snapshot, *bindings.Request) {
	t.Helper()
	path := filepath.Join(dir, "site.bsnap")
	build(t, path, keptSite)
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	facts, err := parseFacts([]byte(`{"fqdn": "n1"}`), bindings.FactsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	req, err := snap.Request(facts)
	if err != nil {
		t.Fatal(err)
	}
	return snap, req
}

// A program may cache a value and close the snapshot.
func TestValueOutlivesSnapshot(t *testing.T) {
	dir := t.TempDir()
	kept := keepValues(t, dir)
	if n := mapped(t, dir, 1); n != 1 {
		t.Fatalf("%d files are mapped while there are values of it", n)
	}
	for key, want := range keptTexts {
		if got := kept[key].Reveal().String(); got != want {
			t.Errorf("%s became %.40q", key, got)
		}
	}
	if got := textOf(kept["list"].Index(0).Index(1)); got != "two" {
		t.Errorf("an element of an element became %q", got)
	}
	kept = map[string]bindings.Value{"one": kept["list"].Index(0)}
	if n := mapped(t, dir, 1); n != 1 || textOf(kept["one"].Index(0)) != "one" {
		t.Errorf("%d files are mapped while there is a part of a value, which became %v", n, kept)
	}
	clear(kept)
	if n := mapped(t, dir, 0); n != 0 {
		t.Errorf("%d files are still mapped after the last value", n)
	}
}

func keepValues(t *testing.T, dir string) map[string]bindings.Value {
	t.Helper()
	snap, req := openKept(t, dir)
	defer snap.Close()
	kept := map[string]bindings.Value{}
	for key := range keptTexts {
		v, found, err := req.Lookup(key)
		if err != nil || !found {
			t.Fatal(key, found, err)
		}
		kept[key] = v
	}
	return kept
}

// Strings, keys, explanations, facts and converted values are copies, which do not keep the file mapped.
func TestCopiedStringsAndExplanationsOutliveSnapshot(t *testing.T) {
	dir := t.TempDir()
	texts, keys, others := takeTexts(t, dir)
	if n := mapped(t, dir, 0); n != 0 {
		t.Fatalf("%d files are mapped although no value refers to them", n)
	}
	for key, got := range texts {
		if got != keptTexts[key] {
			t.Errorf("%s became %.40q", key, got)
		}
	}
	for key := range keptTexts {
		if !slices.Contains(keys, key) {
			t.Errorf("the key %s is not among %q", key, keys)
		}
	}
	want := "small site bindings/default.yaml:4:6 a text in the record of its key map[inner:a text inside of a hash]"
	if others.String() != want {
		t.Errorf("the rest became %s", &others)
	}
	if others.facts == nil {
		t.Error("no facts")
	}
	snap, req := openKept(t, t.TempDir())
	defer snap.Close()
	if err := req.Reset(others.facts); err != nil {
		t.Fatal(err)
	}
	if v, _, err := req.Lookup("computed"); err != nil || textOf(v) != "of a text in the record of its key" {
		t.Errorf("with facts of another snapshot: %v, %v", v, err)
	}
}

// taken is what a test takes from a snapshot before closing it: texts of an explanation, facts and converted values.
type taken struct {
	key, layer, at, fact string
	ordinary             any
	facts                *bindings.Facts
}

func (o *taken) String() string {
	return fmt.Sprint(o.key, " ", o.layer, " ", o.at, " ", o.fact, " ", o.ordinary)
}

func takeTexts(t *testing.T, dir string) (texts map[string]string, keys []string, others taken) {
	t.Helper()
	snap, req := openKept(t, dir)
	defer snap.Close()
	texts = map[string]string{}
	for key := range snap.Keys() {
		keys = append(keys, key)
	}
	for key := range keptTexts {
		v, _, err := req.Lookup(key)
		if err != nil {
			t.Fatal(err)
		}
		if texts[key] = v.Reveal().String(); v.Kind() == bindings.String {
			texts[key] = textOf(v)
		}
	}
	small, _, err := req.Lookup("small")
	if err != nil {
		t.Fatal(err)
	}
	facts, err := bindings.ValueOf(map[string]any{"fqdn": small})
	if err != nil {
		t.Fatal(err)
	}
	if others.facts, err = bindings.NewFacts(facts, bindings.FactsOptions{}); err != nil {
		t.Fatal(err)
	}
	why, err := engine(req).Explain("small")
	if err != nil {
		t.Fatal(err)
	}
	hash, _, err := req.Lookup("hash")
	if err != nil {
		t.Fatal(err)
	}
	others.key, others.layer, others.at = why.Key, why.Candidates[0].Layer, why.Candidates[0].At
	others.fact, others.ordinary = textOf(small), ordinaryOf(hash)
	goruntime.KeepAlive(req)
	return texts, keys, others
}

// A Producer may return a value of another snapshot, which may be closed while the value is in use.
func TestValueOfProducerOutlivesItsSnapshot(t *testing.T) {
	dir := t.TempDir()
	produce := func(*bindings.Request, bindings.Value) (bindings.Value, error) {
		return keepValues(t, dir)["list"], nil
	}
	path := filepath.Join(t.TempDir(), "asks.bsnap")
	build(t, path, "bindings_version: 1\nname: default\nbind: [{name: made, to_producer: other}]\n")
	snap, err := bindings.Open(path, bindings.Options{Producers: map[string]bindings.Producer{"other": produce}})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	req, err := snap.Request(nodeFacts(t, "n1"))
	if err != nil {
		t.Fatal(err)
	}
	v, _, err := req.Lookup("made")
	if err != nil {
		t.Fatal(err)
	}
	if n := mapped(t, dir, 0); n != 0 || v.String() != keptTexts["list"] {
		t.Errorf("%d files are mapped, the value is %v", n, v)
	}
}
