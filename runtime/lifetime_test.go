package runtime_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	bindings "bindc/runtime"
)

// Each key fails with an error that quotes text from the snapshot.
const failing = `bindings_version: 1
name: default
bind:
  - {name: to_mistyped, to_lookup_of: mistyped}
  - {name: mistyped, type: 'Enum[red, green]', to: '${fqdn}'}
  - {name: to_divided, to_lookup_of: divided}
  - {name: divided, to_expression: '1 / $zero'}
  - {name: to_converted, to_lookup_of: converted}
  - {name: converted, to_expression: 'Integer($fqdn)'}
  - {name: to_asserted, to_lookup_of: asserted}
  - {name: asserted, to_expression: 'assert_type(Struct[{name => Integer}], {name => $fqdn})'}
  - {name: to_round, to_lookup_of: round}
  - {name: round, to_expression: "lookup($next)"}
  - {name: to_made, to_lookup_of: made}
  - {name: made, to_producer: nobody}
  - {name: to_collected, to_lookup_of: collected}
  - {name: collected, multibind_id: hats, type: 'Hash[String]', options: {conflict_resolution: error}}
  - {name: hat, in: hats, to: bowler}
  - {name: to_abstract, to_lookup_of: abstract}
  - {name: abstract, abstract: true, to: nothing}
  - when: {node: n1}
    bind:
      - {name: hat, in: hats, to: fez}
  - when: {node: n2}
    bind:
      - {name: abstract, to: filled}
`

// Programs return, log and keep errors, so an error must outlive the snapshot.
func TestErrorOutlivesSnapshot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, failing)
	for key, code := range map[string]bindings.Code{
		"to_mistyped":  "type_mismatch",
		"to_divided":   "evaluation",
		"to_converted": "evaluation",
		"to_asserted":  "evaluation",
		"to_round":     "loop",
		"to_made":      "producer",
		"to_collected": "duplicate",
		"to_abstract":  "abstract",
	} {
		t.Run(key, func(t *testing.T) {
			snap, err := bindings.Open(path, bindings.Options{})
			if err != nil {
				t.Fatal(err)
			}
			facts, err := parseFacts([]byte(`{"fqdn": "n1", "zero": 0, "next": "round"}`),
				bindings.FactsOptions{})
			if err != nil {
				t.Fatal(err)
			}
			req, err := snap.Request(facts)
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = req.Lookup(key)
			if err := snap.Close(); err != nil {
				t.Fatal(err)
			}
			var lookupErr *bindings.Error
			if !errors.As(err, &lookupErr) || lookupErr.Code != code {
				t.Fatalf("%v, expected the code %s", err, code)
			}
			for ; err != nil; err = errors.Unwrap(err) {
				t.Logf("%+v", err)
			}
			if want := strings.TrimPrefix(key, "to_"); lookupErr.Key != want && code != "loop" {
				t.Errorf("the key is %s, expected %s", lookupErr.Key, want)
			}
		})
	}
}
