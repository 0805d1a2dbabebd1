package conformance

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/compile"
	"bindc/diag"
	"bindc/internal/lookup"
	"bindc/internal/report/slice"
	"bindc/internal/testmode"
	"bindc/loader"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

var (
	compositionSites = flag.Int("sites", testmode.Number(8, 60),
		"how many random sites TestComposition makes")
	compositionFrom = flag.Uint64("from", 0, "the seed of the first")
)

// TestComposition creates random sites whose categories and paths are functions of the same variables. It compares
// the rejected sites and the answers with docs/language.md, sections 6 and 8, implemented literally: it tries all
// combinations of relevant values of the variables, and in each request compares everything that is effective.
//
// More sites: go test ./conformance -run Composition -sites 20000
func TestComposition(t *testing.T) {
	refused := 0
	for seed := *compositionFrom; seed < *compositionFrom+uint64(*compositionSites); seed++ {
		w := randomWorld(rand.New(rand.NewPCG(seed, 8)))
		if !w.try(t, seed) {
			refused++
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d of %d sites are refused", refused, *compositionSites)
}

// try builds the site and compares it with the oracle. It returns false if the site is rejected.
func (w *world) try(t *testing.T, seed uint64) bool {
	dir := t.TempDir()
	w.write(t, dir)
	var diags diag.List
	site := loader.Load(dir, loader.Options{}, &diags)
	content := compile.Compile(site, compile.Options{}, &diags)
	got := map[string]bool{}
	for _, d := range diags.Sorted() {
		switch d.Code {
		case "multibind_unknown", "data_unreached", "key_unbound": // the oracle ignores names without an effect
		case "loop":
			got["error loop"] = true
		case "category_value":
			got["warning category_value"] = true
		default:
			got[fmt.Sprint(d.Severity, " ", d.Code, " ", keyIn(d.Message))] = true
		}
	}
	want := w.expected()
	if len(want) > 1 && diags.Failed() { // the compiler reports only the first of several conflicts
		delete(got, "error loop")
		delete(want, "error loop")
	}
	if slices.ContainsFunc(w.paths, w.comparedLater) {
		for report := range want {
			if strings.HasPrefix(report, "error conflict") && !got[report] {
				t.Errorf("seed %d: '%s' is not reported\n%s", seed, report, w)
			}
		}
	} else if !maps.Equal(got, want) {
		t.Errorf("seed %d: reported %v, want %v\n%s", seed, got, want, w)
	}
	if diags.Failed() || t.Failed() {
		return false
	}
	path := filepath.Join(dir, "site.bsnap")
	if _, err := snapshot.Write(path, content); err != nil {
		t.Fatal(err)
	}
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	step := 1 + len(w.requests)/500
	for i := 0; i < len(w.requests) && !t.Failed(); i += step {
		w.ask(t, seed, snap, i)
	}
	if !t.Failed() {
		w.sliced(t, seed, compile.Compile(site, compile.Options{}, &diags), path)
	}
	return true
}

// sliced compares a slice of the site with the oracle. The slice selects one category and the value that a random
// request has for it. Requests with that value get the same answers, others are rejected. Cutting the built snapshot
// results in the same slice.
func (w *world) sliced(t *testing.T, seed uint64, content *snapshot.Content, built string) {
	r := rand.New(rand.NewPCG(seed, 12))
	category, request := r.IntN(len(w.categories)), r.IntN(len(w.requests))
	text := func(request int) string { return loader.Fold(w.text(w.categories[category].template, request)) }
	val := text(request)
	if val == "" {
		return // a slice needs a value
	}
	whole := content.Bindings
	terms := []snapshot.Term{{Dimension: category, Value: val}}
	if err := slice.Cut(content, terms); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "slice.bsnap")
	written, err := snapshot.Write(path, content)
	if err != nil {
		t.Fatal(err)
	}
	if got := cutFrom(t, built, terms); got != written.Digest {
		t.Errorf("seed %d: a slice that is cut from the snapshot is another file than one that is built", seed)
	}
	if content.Bindings == 0 && whole > 0 && len(content.Keys) > 0 || content.Bindings > whole {
		t.Errorf("seed %d: a slice of %d bindings has %d", seed, whole, content.Bindings)
	}
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	if err := snap.Verify(); err != nil {
		t.Fatal(err)
	}
	for i := range w.requests {
		if text(i) == val {
			w.ask(t, seed, snap, i)
			continue
		}
		f, err := bindings.NewFacts(parseJSON(t, encode(t, w.requests[i])), bindings.FactsOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var e *bindings.Error
		if _, err := snap.Request(f); !errors.As(err, &e) || e.Code != bindings.CodeFacts {
			t.Errorf("seed %d: a request with %s '%s' asks a slice for '%s': %v", seed, w.categories[category].name,
				text(i),
				val, err)
		}
	}
}

// cutFrom returns the digest of a slice of the snapshot at path. A snapshot that is written without being cut is the
// same file.
func cutFrom(t *testing.T, path string, terms []snapshot.Term) snapshot.Digest {
	t.Helper()
	s, err := snapshot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	content, err := s.Content()
	if err != nil {
		t.Fatal(err)
	}
	if written, err := snapshot.WriteTo(io.Discard, content); err != nil || written.Digest != s.Digest() {
		t.Errorf("the content of a snapshot is written as another one: %v", err)
	}
	if err := slice.Cut(content, terms); err != nil {
		t.Fatal(err)
	}
	written, err := snapshot.WriteTo(io.Discard, content)
	if err != nil {
		t.Fatal(err)
	}
	return written.Digest
}

// ask compares the answers for one request. Some facts are in upper case, because case does not matter.
func (w *world) ask(t *testing.T, seed uint64, snap *bindings.Snapshot, request int) {
	facts := map[string]string{}
	for name, v := range w.requests[request] {
		if v != "" || request%2 == 0 {
			facts[name] = v
		}
		if request%3 == 0 {
			facts[name] = strings.ToUpper(v)
		}
	}
	f, err := bindings.NewFacts(parseJSON(t, encode(t, facts)), bindings.FactsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := snap.Request(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range append(slices.Clip(compositionKeys), "/classes") {
		got := "nothing"
		var e *bindings.Error
		switch v, found, err := r.Lookup(key); {
		case errors.As(err, &e):
			got = string(e.Code)
		case err != nil:
			t.Fatal(err)
		case found:
			got = canonical(t, json.RawMessage(show(t, v)))
		}
		if want := w.answer(t, request, key); got != want {
			t.Errorf("seed %d: %s for %v is %s, want %s\n%s", seed, key, facts, got, want, w)
		}
		if said := reason(t, r, key); said != got {
			t.Errorf("seed %d: %s for %v is %s, but the winning candidate is %s\n%s", seed, key, facts, got, said, w)
		}
	}
}

// reason returns the value of the candidate of key that wins according to Candidates.
func reason(t *testing.T, r *bindings.Request, key string) string {
	t.Helper()
	candidates, err := (*lookup.Request)(r).Candidates(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range candidates {
		var e *bindings.Error
		switch {
		case c.State != lookup.Wins || !c.Outcome.Found && c.Outcome.Err == nil: // a renamed key has no value
		case errors.As(c.Outcome.Err, &e):
			return string(e.Code)
		default:
			return canonical(t, json.RawMessage(show(t, bindings.Value(c.Outcome.Value))))
		}
	}
	return "nothing"
}

// keyIn returns the first quoted word that is a key.
func keyIn(message string) string {
	for i, word := range strings.Split(message, "'") {
		if i%2 == 1 && strings.Contains("klmnopq", word) {
			return word
		}
	}
	return message
}
