package policy

import "testing"

// The comparison of prefixes, which some policies use instead of their regexp, gives the same answers.
func TestPrefixMatchesLikePattern(t *testing.T) {
	compared := 0
	for _, pattern := range []string{"**", "a::**", "a::b::**", "::**", "a::::**", "a**", "a*::**", "*::**", "**::**",
		"a::*", "a", "***", "ä::**", ""} {
		p := Policy{keys: keyPattern([]string{pattern}), prefix: prefixOf([]string{pattern}),
			below: matchesBelow([]string{pattern})}
		if p.below {
			compared++
		}
		for _, key := range []string{"", "a", "a::", "::", "::a", "a::b", "ab", "ab::c", "a:b", "a::b::c", "a::bc", "A::b",
			"b", "b::a", "a\n", "a::\n", "a::\xff", "a::::b", "ä", "ä::b", "\xff"} {
			if got, want := p.concerns(key), p.keys.MatchString(key); got != want {
				t.Errorf("the pattern %q matches the key %q: %t, want %t", pattern, key, got, want)
			}
		}
	}
	if compared < 4 || matchesBelow([]string{"a::**", "b"}) {
		t.Errorf("%d of the patterns are compared by their prefix", compared)
	}
}
