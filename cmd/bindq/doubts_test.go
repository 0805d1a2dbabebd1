package main

import (
	"strings"
	"testing"

	"bindc/facts"
)

// A name in the file of facts that is similar to an unset variable is a doubt, unless the snapshot or Facter knows it.
func TestNamesInTheFileOfFacts(t *testing.T) {
	for _, c := range []struct {
		file, known string
		want        string
	}{
		{`{"rolle": "web"}`, "", "uses the fact 'rolle'; did you mean 'role'?"},
		{`{"rolle": "web"}`, "rolle", ""},
		{`{"sentences": "web"}`, "", "has no fact that Facter sends or the snapshot uses"},
		{`{"sentences": "web", "os": {}}`, "os", ""},
		{`{}`, "", ""},
	} {
		nodes, err := facts.Parse("facts", []byte(c.file))
		if err != nil {
			t.Fatal(err)
		}
		s := source{factsFile: "facts", inFile: nodes[0]}
		got := strings.Join(s.misnamedInFile([]string{"role"}, func(name string) bool { return name == c.known }), "; ")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s, %s is known: found '%s', expected '%s'", c.file, c.known, got, c.want)
		}
	}
}
