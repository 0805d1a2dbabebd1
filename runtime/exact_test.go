package runtime_test

import (
	"path/filepath"
	"strings"
	"testing"

	"bindc/internal/expr"
	"bindc/internal/value"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// Exact dimensions, such as the paths of a hierarchy, are case-sensitive. Others are not.
func TestExactDimensionIsCaseSensitive(t *testing.T) {
	long := strings.Repeat("Long", 10)
	for _, exact := range []bool{false, true} {
		c := &snapshot.Content{
			Layers: []string{"l"},
			Dimensions: []snapshot.Dimension{{Name: "path", Category: -1, Exact: exact,
				Program: expr.Append(nil, &expr.Node{Op: expr.Var, Name: "role"})}},
			Levels: []snapshot.Level{{Dimensions: []int{0}}},
			Keys:   []snapshot.Key{{Name: "k", Default: -1}},
			Values: []snapshot.Stored{{Bytes: string(value.Append(nil, value.FromInt(1)))}},
		}
		for _, v := range []string{"Mixed", "Größe", long} {
			if !exact {
				v = strings.ToLower(v)
			}
			c.Levels[0].Scopes = append(c.Levels[0].Scopes, snapshot.Scope{Values: []string{v},
				Entries: []snapshot.Entry{{}}})
		}
		path := filepath.Join(t.TempDir(), "site.bsnap")
		if _, err := snapshot.Write(path, c); err != nil {
			t.Fatal(err)
		}
		snap, err := bindings.Open(path, bindings.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer snap.Close()
		for role, want := range map[string]bool{"Mixed": true, "mixed": !exact, "MIXED": !exact, "Größe": true,
			"größe": !exact,
			long:    true, strings.ToLower(long): !exact, "other": false} {
			facts, err := parseFacts([]byte(`{"role": "`+role+`"}`), bindings.FactsOptions{})
			if err != nil {
				t.Fatal(err)
			}
			req, err := snap.Request(facts)
			if err != nil {
				t.Fatal(err)
			}
			if _, found, err := req.Lookup("k"); found != want || err != nil {
				t.Errorf("exact %t, role %s: found %t, %v", exact, role, found, err)
			}
			wantText := strings.ToLower(role)
			if exact {
				wantText = role
			}
			if got, ok := req.Category("path"); got != wantText || !ok {
				t.Errorf("exact %t, role %s: the category is %q, %t", exact, role, got, ok)
			}
		}
	}
}
