package check

import (
	"slices"
	"testing"

	"bindc/diag"
)

// A loop is reported once, at its first key. Keys that lead to a loop or out of it are not on it.
func TestLoopsOfHieraNeeds(t *testing.T) {
	for name, c := range map[string]struct {
		needs map[string][]string
		want  []string
	}{
		"no loop":          {map[string][]string{"a": {"b", "c"}, "b": {"c"}, "c": {"unbound"}}, nil},
		"a key of its own": {map[string][]string{"b": {"b"}}, []string{"b: 'b' depends on itself: b -> b"}},
		"between two paths": {map[string][]string{"a": {"b"}, "b": {"c", "d"}, "c": {"b"}, "d": {}},
			[]string{"b: 'b' depends on itself: b -> c -> b"}},
		"two loops": {map[string][]string{"a": {"b", "c"}, "b": {"a"}, "c": {"a"}},
			[]string{"a: 'a' depends on itself: a -> b -> a", "a: 'a' depends on itself: a -> c -> a"}},
	} {
		needs := hieraNeeds{}
		for key, keys := range c.needs {
			needs[key] = hieraNeed{keys, diag.Pos{File: key}}
		}
		var got []string
		needs.findLoops([]string{"a", "b", "c", "d"}, func(at diag.Pos, message string) {
			got = append(got, at.File+": "+message)
		})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: reported are %q, want %q", name, got, c.want)
		}
	}
}
