package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bindc/internal/query"
	"bindc/internal/snapfile"
	"bindc/internal/testsite"
)

// The store keeps a snapshot with sensitive values from others. A value that is computed is not sensitive by that.
func TestInspectFindsSensitiveValues(t *testing.T) {
	for bind, want := range map[string]bool{
		"[a, 1]":                            false,
		"[a, 'of ${fqdn}']":                 false,
		"{name: a, sensitive: true, to: 1}": true,
		"[a, 1], {name: b, sensitive: true, to: 'of ${fqdn}'}": true,
	} {
		path := filepath.Join(t.TempDir(), "site.bsnap")
		testsite.BuildBindings(t, bind, path)
		if got, err := snapfile.Inspect(path); got != want || err != nil {
			t.Errorf("%s: sensitive is %v (%v), expected %v", bind, got, err, want)
		}
	}
}

// A query that is longer than batch would read is an error, whatever it asks for.
func TestCheckKeysBoundsQueries(t *testing.T) {
	t.Chdir(t.TempDir())
	testsite.BuildBindings(t, "[a, 1]", "site.bsnap")
	err := (&gates{checkKeys: "."}).keysFound("site.bsnap")
	if err == nil || !strings.HasPrefix(err.Error(), "--check-keys: read .: ") {
		t.Errorf("a directory: %v", err)
	}
	for line, want := range map[string]string{
		`{"keys": ["a"]}`:                   "<nil>",
		`{"keys": ["a"], "kye": 1}`:         "--check-keys: queries:1: expected a query as a JSON object: unknown member",
		`{"keys": ["a"], "key": 1}`:         "--check-keys: queries:1: expected a query as a JSON object: found",
		`{"keys": ["a"], "facts": [1]}`:     "queries:1: expected {",
		`{"keys": ["a", "none"]}`:           "queries:1: 'none' is not found",
		`{"keys": ["a"], "keys": ["none"]}`: "--check-keys: queries:1: ",
	} {
		if err := os.WriteFile("queries", []byte(line), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := (&gates{checkKeys: "queries"}).keysFound("site.bsnap"); !strings.HasPrefix(fmt.Sprint(err), want) {
			t.Errorf("%s: found %v, expected %s", line, err, want)
		}
	}
	line := `{"key": "a"}`
	for _, c := range []struct {
		length int
		want   string
	}{
		{query.MaxLine, "<nil>"},
		{query.MaxLine + 1, fmt.Sprintf("--check-keys: queries:2: expected a query of at most %d bytes", query.MaxLine)},
	} {
		long := line + strings.Repeat(" ", c.length-len(line))
		if err := os.WriteFile("queries", []byte("\n"+long+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := (&gates{checkKeys: "queries"}).keysFound("site.bsnap"); fmt.Sprint(err) != c.want {
			t.Errorf("%d bytes: found %v, expected %s", c.length, err, c.want)
		}
	}
}
