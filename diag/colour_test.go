package diag

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Colour only adds escape sequences. Severities are red and yellow, both in the list and in the summary.
func TestColourOnlyAddsEscapeSequences(t *testing.T) {
	list := []Diagnostic{
		{Pos: Pos{File: "a.yaml", Line: 3, Col: 1}, Code: "conflict", Message: "two bindings", Hint: "remove one",
			Notes: []Note{{Pos: Pos{File: "b.yaml", Line: 1, Col: 1}, Message: "the other one"}}},
		{Pos: Pos{File: "a.yaml"}, Severity: Warning, Code: "yml", Message: "not read"},
	}
	show := func(color bool) string {
		var b bytes.Buffer
		if err := Render(&b, "text", list, t.TempDir(), color); err != nil {
			t.Fatal(err)
		}
		return b.String() + Summary(list, 2, color)
	}
	plain, painted := show(false), show(true)
	if escape.MatchString(plain) {
		t.Errorf("without colour: %q", plain)
	}
	if got := escape.ReplaceAllString(painted, ""); got != plain {
		t.Errorf("%q, expected %q", got, plain)
	}
	want := "\x1b[31;1m1 error\x1b[0m, \x1b[33;1m1 warning\x1b[0m in 2 files"
	if !strings.HasSuffix(painted, want) {
		t.Errorf("%q, expected %q at its end", painted, want)
	}
	if !strings.Contains(painted, "\x1b[31;1merror") || !strings.Contains(painted, "\x1b[33;1mwarning") {
		t.Errorf("severities are not painted: %q", painted)
	}
}
