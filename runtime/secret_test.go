package runtime_test

import (
	"path/filepath"
	"strings"
	"testing"

	bindings "bindc/runtime"
)

// Errors are shown to who did not ask for a value that is sensitive: none of them may quote it.
func TestErrorsDoNotQuoteSensitiveValues(t *testing.T) {
	const secret = "hunter2"
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, `bindings_version: 1
name: default
bind:
  - {name: typed, type: 'Enum[red, green]', sensitive: true, to: '${password}'}
  - {name: evaluated, sensitive: true, to_expression: 'Integer($password)'}
  - {name: password, sensitive: true, to: '${password}'}
  - {name: asked_as, to_lookup_of: ['Enum[red, green]', password]}
  - {name: merged, multibind_id: merged, type: 'Hash[Data]', options: {conflict_resolution: merge}}
  - {name: part, in: merged, sensitive: true, to: '${password}'}
  - {name: appended, multibind_id: appended, type: 'Hash[Array[Enum[red]]]', options: {conflict_resolution: append}}
  - {name: part, in: appended, sensitive: true, to: '${password}'}
  - {name: listed, multibind_id: listed, type: 'Array[Enum[red]]'}
  - {in: listed, sensitive: true, to: '${password}'}
`)
	snap, err := bindings.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	facts, err := bindings.ParseFacts([]byte(`{"password": "` + secret + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	req, err := snap.Request(facts)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"typed", "evaluated", "asked_as", "merged", "appended", "listed"} {
		if v, _, err := req.Lookup(key); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v, %v", key, v, err)
		}
	}
}
