package stdlib_test

import (
	"testing"

	"bindc/internal/expr/exprtest"
)

func TestSprintfAddsPointOnlyToFloat(t *testing.T) { // as in Ruby
	for src, want := range map[string]string{`sprintf('%#.0f', 5)`: "5", `sprintf('%#.0f', 5.0)`: "5."} {
		if v, err := exprtest.Evaluate(t, src, exprtest.Env{}); err != nil || v.Text() != want {
			t.Errorf("%s: expected %q, found %q, %v", src, want, v.Text(), err)
		}
	}
}
