package conformance

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"bindc/loader"
)

// TestExpressionsAgreeWithPuppet compares to_expression with Puppet's answers for a set of facts.
func TestExpressionsAgreeWithPuppet(t *testing.T) {
	var table struct {
		Facts json.RawMessage
		Cases []struct {
			Expr  string
			Value json.RawMessage
			Error bool // Puppet rejects the expression or fails to evaluate it
		}
	}
	readJSON(t, "../testdata/conformance/expressions.json", &table)
	for i, c := range table.Cases {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			t.Log(c.Expr)
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "binder_config.yaml"),
				"{version: 1, layers: [{name: s, include: 'confdir:/default'}]}\n")
			writeFile(t, filepath.Join(dir, "bindings/default.yaml"), string(encode(t, map[string]any{
				"bindings_version": 1, "name": "default",
				"bind": []any{map[string]string{"name": "e", "to_expression": c.Expr}}})))
			snap, refused := build(t, dir, loader.Options{})
			if refused != "" {
				if !c.Error {
					t.Errorf("refused, expected %s:\n%s", c.Value, refused)
				}
				return
			}
			v, found, err := request(t, snap, table.Facts).Lookup("e")
			switch {
			case c.Error:
				if err == nil {
					t.Errorf("%s, expected an error", show(t, v))
				}
			case err != nil:
				t.Error(err)
			case !found && string(c.Value) != "null":
				t.Errorf("not found, expected %s", c.Value)
			case !same(t, v, c.Value):
				t.Errorf("%s, expected %s", show(t, v), c.Value)
			}
		})
	}
}
