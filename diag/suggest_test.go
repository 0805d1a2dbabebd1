package diag

import "testing"

func TestSuggestsSimilarWords(t *testing.T) {
	for _, c := range []struct{ word, known, want string }{
		{"osfamly", "osfamily", "did you mean 'osfamily'?"},    // missing letter
		{"ndoe", "node", "did you mean 'node'?"},               // swapped letters
		{"module", "modulepath", "did you mean 'modulepath'?"}, // missing end
		{"notice", "slice", ""},                                // too different
		{"a", "b", ""},                                         // nothing in common
		{"mo", "modulepath", ""},                               // too short to be the start of a word
	} {
		if got := DidYouMean(c.word, []string{"common", c.known}); got != c.want {
			t.Errorf("%s, known %s: %q, want %q", c.word, c.known, got, c.want)
		}
	}
}
