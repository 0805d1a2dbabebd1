package bindingsfile

import "testing"

// walk yields an outer statement before its nested ones, and stops when the loop does.
func TestWalkYieldsOuterStatementsFirst(t *testing.T) {
	list := []*Statement{{Key: "a"}, {Key: "b", Statements: []*Statement{{Key: "c"}, {Key: "d"}}}, {Key: "e"}}
	for stop, want := range map[string]string{"": "abcde", "b": "ab", "c": "abc"} {
		got := ""
		for s := range walk(list) {
			if got += s.Key; s.Key == stop {
				break
			}
		}
		if got != want {
			t.Errorf("up to %q it yields %s, expected %s", stop, got, want)
		}
	}
}
