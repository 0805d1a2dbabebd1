package literal

import (
	"strings"
	"testing"

	"bindc/internal/diag"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// What is encoded as it is met must be what the encoding of the whole value is.
func TestPlainValuesAreEncodedAsTheirLiterals(t *testing.T) {
	for _, src := range []string{
		"x", "~", "12", "-5", "1.5", "true", "''", "[]", "{}", "[1, [2, [3, []]], {a: {b: c}}]",
		"{a: 1, b: [x, y], c: {}}", "{1: a, 1.0: b, true: c, ~: d}", "{0.0: a, -0.0: b}", "{[1]: a, {b: c}: d}",
		"- &x {a: 1}\n- *x\n- {<<: *x, b: 2}", strings.Repeat("long ", 60),
	} {
		var diags diag.List
		doc, ok := yaml.Parse("", []byte(src), yaml.Options{}, &diags)
		if !ok {
			t.Fatalf("%s: %v", src, diags.Sorted())
		}
		want := value.Append([]byte("before c"), doc.Root.Literal())
		if got := Append([]byte("before "), doc, doc.Root, &diags); string(got) != string(want) {
			t.Errorf("%s: encoded as %x, want %x", src, got, want)
		}
	}
}
