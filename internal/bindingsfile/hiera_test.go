package bindingsfile

import (
	"fmt"
	"strings"
	"testing"
)

// Interpolations and encrypted strings of Hiera are plain text in a bindings file. A warning suggests a replacement for
// each.
func TestWarnsAboutHieraSyntax(t *testing.T) {
	single := "2:16 hiera_interpolation write ${x}, in double quotes"
	for _, c := range []struct{ name, file, text, want string }{
		{"interpolation", "s.yaml", "\n- [a, '%{x}']", "4:10 hiera_interpolation write ${x}"},
		{"interpolation in single quotes", "s.pp", "\nbind 'a' to '%{x}'", single},
		{"interpolation in double quotes", "s.pp", "\nbind 'a' to \"é %{x}\"", "2:18 hiera_interpolation write ${x}"},
		{"interpolation in a string on the line after its tag", "s.pp", "\nbind 'a' to @(END)\none\n  %{x}\n| END",
			`4:5 hiera_interpolation write ${x}, in a heredoc whose tag is in double quotes, such as @("END")`},
		{"interpolation in double quotes on the line after a tag", "s.pp", "\nbind 'a' to @(\"END\")\n%{x}\n| END",
			"3:3 hiera_interpolation write ${x}"},
		{"interpolation in a key",
			"s.pp", "\nbind '%{x}' to 1", "2:9 hiera_interpolation write ${x}, in double quotes"},
		{"encrypted text", "s.pp", "\nbind 'a' to 'ENC[x]'\nbind 'b' to \" ENC[y]\"",
			"2:15 eyaml encrypt the value again with PKCS7: bindc eyaml encrypt, " +
				"3:15 eyaml encrypt the value again with PKCS7: bindc eyaml encrypt"},
		{"encrypted text on the line after its tag", "s.pp", "\nbind 'a' to @(END)\nENC[x]\n| END",
			"2:15 eyaml encrypt the value again with PKCS7: bindc eyaml encrypt"},
		{"no warning about comments, regular expressions and words",
			"s.pp", "\n# %{x}\nbind 'a' to $x =~ /%{x}/\n# ENC[x]", ""},
		{"interpolation after text that resembles one", "s.pp", "\nbind 'b' to $x =~ /%{y}/ bind 'a' to '%{x}'",
			"2:41 hiera_interpolation write ${x}, in double quotes"},
		{"interpolation before a syntax error", "s.pp",
			"\nbind 'a' to '%{x}'\nbnd 'b' to 1", "3:3 syntax did you mean 'bind'?"},
	} {
		text := inYAML(c.text)
		if c.file == "s.pp" {
			text = inPuppet(c.text)
		}
		_, diags := reading(c.file, text)
		var got []string
		for _, d := range diags.Sorted() {
			got = append(got, fmt.Sprintf("%d:%d %s %s", d.Pos.Line, d.Pos.Col, d.Code, d.Hint))
		}
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("%s: reported is %s, expected %s", c.name, got, c.want)
		}
	}
}
