package diag

import "testing"

// The fast check for one edit gives the same result as the edit distance.
func TestIsNearFindsOneEdit(t *testing.T) {
	words := []string{""}
	for from := 0; len(words) < 400; from++ { // all words of the letters a, b and c, the shortest first
		for _, c := range "abc" {
			words = append(words, words[from]+string(c))
		}
	}
	for _, a := range words {
		for _, b := range words {
			if got, want := isNear(a, b), distance(a, b, 1) == 1; got != want {
				t.Fatalf("%q is near %q: %t, want %t", a, b, got, want)
			}
		}
	}
}
