package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"bindc/internal/manifest"
)

func TestFindsKeysThatManifestsLookUp(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"lookup without a merge", `$x = lookup('a::b', String)`, "1:6 a::b lookup()"},
		{"key with a dot", `lookup('a.b.0')`, "1:1 a lookup()"},
		{"several keys", `lookup(['a', 'b'])`, "1:1 a lookup(), 1:1 b lookup()"},
		{"options", `lookup({'name' => 'a', default_value => 'b'})`, "1:1 a lookup()"},
		{"functions of Hiera 3", `hiera('a', 'x') hiera_include('b')`, "1:1 a hiera(), 1:17 b hiera_include()"},
		{"method", `'a'.lookup`, ""}, // without parentheses, tokens do not show that it is a call
		{"method with brackets", `'a'.lookup()`, "1:5 a lookup()"},
		{"inside a string", `"${lookup('a')}"`, "1:4 a lookup()"},
		{"after characters of several bytes", "$x = 'äé🙂' lookup('a')", "1:12 a lookup()"},
		{"computed", "lookup($a)\nlookup(\"x${b}\")\nhiera($c, 'd')", "computed 1:1, computed 2:1, computed 3:1"},
		{"parameters", "class a::b (\n  Hash[String, Array[1, $x]] $c = {d => $e},\n  $f,\n) inherits g { $h = 1 }",
			"2:30 a::b::c parameter $c of the class a::b, 3:3 a::b::f parameter $f of the class a::b"},
		{"class without parameters", "class a { lookup('b') } class c inherits a { } class d () { }", "1:11 b lookup()"},
		{"other uses of the word 'class'", "class { 'a': b => $c } define d ($e) { } function f($g) { } $class = 1", ""},
	} {
		var calls manifest.Calls
		calls.Add("a.pp", c.src)
		var out []string
		for _, u := range calls.Uses {
			out = append(out, fmt.Sprintf("%d:%d %s %s", u.At.Line, u.At.Col, u.Key, u.By))
		}
		for _, at := range calls.Computed {
			out = append(out, fmt.Sprintf("computed %d:%d", at.Line, at.Col))
		}
		if got := strings.Join(out, ", "); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}
