package testmode

import (
	"flag"
	"testing"
)

// A test tries all cases if -run selects it or one of its subtests.
func TestSubtestsOfANamedTestAreAsked(t *testing.T) {
	before := flag.Lookup("test.run").Value.String()
	defer flag.Set("test.run", before)
	for pattern, want := range map[string]bool{"": Thorough(), "^$": Thorough(), "TestSubtests": true,
		"TestOther/x|TestSubtests/one": true} {
		if err := flag.Set("test.run", pattern); err != nil {
			t.Fatal(err)
		}
		t.Run("one", func(t *testing.T) {
			if got := Asked(t); got != want {
				t.Errorf("-run '%s': asked is %t, expected %t", pattern, got, want)
			}
		})
	}
}
