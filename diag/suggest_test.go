package diag

import "testing"

func TestDidYouMean(t *testing.T) {
	for _, c := range []struct{ word, known, want string }{
		{"osfamly", "osfamily", "did you mean 'osfamily'?"},    // a letter is missing
		{"ndoe", "node", "did you mean 'node'?"},               // neighbours are swapped
		{"module", "modulepath", "did you mean 'modulepath'?"}, // the end is missing
		{"notice", "slice", ""},                                // too different
		{"a", "b", ""},                                         // nothing in common
		{"mo", "modulepath", ""},                               // too short for a prefix
	} {
		if got := DidYouMean(c.word, []string{"common", c.known}); got != c.want {
			t.Errorf("%s, known %s: %q, want %q", c.word, c.known, got, c.want)
		}
	}
}
