package literal

import (
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// Encoding a value directly from the nodes gives the same bytes as encoding the whole value.
func TestPlainValuesAreEncodedLikeLiterals(t *testing.T) {
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

// In data of Hiera 5, a value with an unfit scalar becomes a recipe that fails.
func TestLookupOfUnfitValueFails(t *testing.T) {
	for src, want := range map[string]string{
		"[1, 9223372036854775808]": "warning yaml_integer the integer 9223372036854775808 does not fit in 64 bits; every " +
			"lookup of this key is an error",
		"- a: {no: 1}": "warning yaml_key a hash in the value has the boolean false as a key, which is neither a string nor a " +
			"number; every lookup of this key is an error, as in Puppet",
		"- a: :x": "warning yaml_symbol :x is a Ruby symbol, which bindings do not support; every lookup of this key is an error, as " +
			"in Puppet",
	} {
		var diags diag.List
		doc, ok := yaml.Parse("", []byte(src), yaml.Options{Hiera5: true}, &diags)
		if !ok {
			t.Fatalf("%s: %v", src, diags.Sorted())
		}
		got := AppendHiera5(nil, doc, doc.Root, false, &diags)
		message, _, _ := strings.Cut(strings.SplitN(want, " ", 3)[2], ";")
		if got[0] != recipe.CompiledRecipe || !strings.Contains(string(got), message) {
			t.Errorf("%s: compiled as %q", src, got)
		}
		found := diags.Sorted()
		if len(found) != 1 || found[0].Severity.String()+" "+string(found[0].Code)+" "+found[0].Message != want {
			t.Errorf("%s: found %v, want %s", src, found, want)
		}
	}
}
