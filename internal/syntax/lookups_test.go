package syntax

import (
	"fmt"
	"testing"
)

func TestFunctionsCalledByNameAreChecked(t *testing.T) {
	for src, want := range map[string]string{
		`call('size', [1])`:   "",
		`call($f, [1])`:       "",
		`call('siez', [1])`:   "there is no function 'siez' here: only functions without side effects can be called; did you mean 'size'?",
		`call('lookup', 'k')`: "lookup() cannot be called here: the reason",
		`call('hiera', 'k')`:  "hiera() cannot be called here: the reason",
	} {
		n, errs := ParseExpression(src)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		found := ""
		for _, e := range CheckWithoutLookup(n, "the reason") {
			if found += e.Message; e.Hint != "" {
				found += "; " + e.Hint
			}
			if !e.Fix.IsNone() {
				t.Errorf("%s: expected no correction of a name in quotes, found %v", src, e.Fix)
			}
		}
		if found != want {
			t.Errorf("%s: expected %q, found %q", src, want, found)
		}
	}
}

func TestLookupsFindsKeysOfFunctionsCalledByName(t *testing.T) {
	n, errs := ParseExpression(`[lookup('a'), call('lookup', 'b'), call($f, 'c'), call('size', 'd'), call('lookup', $k)]`)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	found := ""
	for key, constant := range Lookups(n) {
		found += fmt.Sprintf("%s %v, ", key, constant)
	}
	if want := "a true, b true,  false,  false, "; found != want {
		t.Errorf("expected %q, found %q", want, found)
	}
}
