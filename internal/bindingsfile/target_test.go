package bindingsfile

import (
	"testing"
)

// SplitTarget separates the name of a class or type from the instance.
func TestSplitTargetSeparatesNameAndInstance(t *testing.T) {
	for _, c := range []struct {
		text, name, instance string
		ok                   bool
	}{
		{"ntp::x", "ntp::x", "", true},
		{"Web", "Web", "", true},
		{"Web[one]", "Web", "one", true},
		{"Web[a[b]]", "Web", "a[b]", true},
		{"Web['a, b']", "Web", "a, b", true},
		{`Web["it's, so"]`, "Web", "it's, so", true},
		{"Web[it's]", "Web", "it's", true},
		{"Web[a, b]", "", "", false},
		{"Web['a', 'b']", "", "", false},
		{`Web["a", "b"]`, "", "", false},
		{"Web['a]", "", "", false},
		{"Web['']", "", "", false},
		{"Web[]", "", "", false},
		{"Web[a", "", "", false},
	} {
		name, instance, ok := SplitTarget(c.text)
		if ok != c.ok || ok && (name != c.name || instance != c.instance) {
			t.Errorf("%s is '%s' of '%s', %v", c.text, instance, name, ok)
		}
		if !ok || instance == "" {
			continue
		}
		if text, ok := joinTarget(c.name, c.instance); text != c.text || !ok {
			t.Errorf("'%s' of %s is written %s, expected %s", c.instance, c.name, text, c.text)
		}
	}
}

// An instance that begins with a quote is put in quotes of the other kind. If it contains both kinds, it may be
// impossible to write.
func TestJoinTargetChoosesQuotes(t *testing.T) {
	for instance, want := range map[string]string{
		"'a'": `Web["'a'"]`, `"a"`: `Web['"a"']`, `'a'"`: "", `it's, "so"`: "", "": "",
	} {
		if text, ok := joinTarget("Web", instance); text != want || ok != (want != "") {
			t.Errorf("%s is written %s, %v, expected %s", instance, text, ok, want)
		}
	}
}
