package runtime_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	bindings "bindc/runtime"
)

// A program that serves many nodes resets one request, looks keys up and reads the values. None of
// this allocates.
func TestLookupDoesNotAllocate(t *testing.T) {
	var site strings.Builder
	site.WriteString(`bindings_version: 1
name: default
bind:
  - {name: 'text', to: of all}
  - {name: 'profile::text_of_the_usual_length', to: of all}
  - {name: 'number', to: 7000000000}
  - {name: 'on', to: true}
  - {name: 'list', to: [1, 2, 3]}
  - when: {osfamily: debian}
    bind: [['number', 7]]
`)
	for i := range 100 {
		domain := []string{"example.org", "a.domain.of.some.length.example.org"}[i%2]
		fmt.Fprintf(&site,
			"  - when: {node: node%d.%s}\n    bind: [['text', of node %d], "+
				"['profile::text_of_the_usual_length', of node %d]]\n", i, domain, i, i)
	}
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, site.String())
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	facts := make([]*bindings.Facts, 3)
	for i, node := range []string{"node7.a.domain.of.some.length.example.org", "NODE8.EXAMPLE.ORG", "other"} {
		json := fmt.Sprintf(`{"fqdn": %q, "osfamily": "Debian", "environment": "production"}`, node)
		if facts[i], err = parseFacts([]byte(json), bindings.FactsOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	req, err := snap.Request(facts[0])
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"of node 7", "of node 8", "of all"} {
		allocs := testing.AllocsPerRun(100, func() {
			if err := req.Reset(facts[i]); err != nil {
				t.Fatal(err)
			}
			text, _, _ := req.Lookup("text")
			usual, _, _ := req.Lookup("profile::text_of_the_usual_length")
			number, _, _ := req.Lookup("number")
			on, _, _ := req.Lookup("on")
			list, _, _ := req.Lookup("list")
			_, found, _ := req.Lookup("absent")
			if viewOf(text) != want || viewOf(usual) != want || intOf(number) != 7 || !boolOf(on) || list.Len() != 3 ||
				intOf(list.Index(2)) != 3 || found {
				t.Fatalf("found %v, %v, %v, %v, %v, %t", text, usual, number, on, list, found)
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations", want, allocs)
		}
	}
}
