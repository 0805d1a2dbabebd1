package hiera5

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"bindc/internal/expr"
)

// Braces are expanded in the order in which Ruby expands them. Braces of interpolations are kept.
func TestExpandsBracesOfGlobInOrder(t *testing.T) {
	for glob, want := range map[string]string{
		"a.yaml": "a.yaml", "": "", "{a,b}.yaml": "a.yaml b.yaml", "x/{a,b}": "x/a x/b", "{a}": "a",
		"{a,b}{c,d}": "ac ad bc bd", "x{a,{b,c}d}y": "xay xbdy xcdy", "{,a}x": "x ax", "{}x": "x",
		"a}b": "a}b", "a,b": "a,b", "}{a,b}": "}a }b",
		"%{facts.os}/{a,b}": "%{facts.os}/a %{facts.os}/b", "{%{a},b}": "%{a} b", "%{a": "%{a",
		"5%{a}{b,c}": "5%{a}b 5%{a}c", "5%a{b,c}": "5%ab 5%ac", "{{a,b}c}{d,e}": "acd ace bcd bce",
		`\{a,b\}`: `\{a,b\}`, `{a\,b,c}`: `a\,b c`, `{a\},b}`: `a\} b`, `{\{,a}`: `\{ a`, `\\{a,b}`: `\\a \\b`, `{a,b\}`: `{a,b\}`,
		`\%{x}{a,b}`: `\%{x}a \%{x}b`, `{a,b}\`: `a\ b\`,
	} {
		globs, ok := Unbraced(glob)
		if got := strings.Join(globs, " "); got != want || !ok {
			t.Errorf("%s is %q, expected %q", glob, got, want)
		}
	}
}

func TestUnclosedBracketsAreFound(t *testing.T) {
	for glob, want := range map[string]string{"{a.yaml": "{", "a}": "", "*{*.yaml": "{", `\{a`: "", "%{a}": "",
		"%{a": "", "[{]": "{", "[a": "[", "[a]": "", `\[a`: "", "[!a": "[", "[!]": "", "a{b{": "{", `\%{x}`: ""} {
		n, _ := expr.ParseHiera(glob)
		if got := unclosed(glob, globElements(partsOf(n))); got != want {
			t.Errorf("%s: %q, expected %q", glob, got, want)
		}
	}
}

// Paths that a glob matches, with the values of its interpolations for each way. "" means that it does not match.
func TestGlobMatchesLikeRuby(t *testing.T) {
	for _, c := range []struct{ glob, path, want string }{
		{"a.yaml", "a.yaml", "[]"}, {"a.yaml", "a.yam", ""}, {"a.yaml", "a.yamlx", ""},
		{"*.yaml", "a.yaml", "[]"}, {"*.yaml", ".yaml", ""}, {"*.yaml", ".a.yaml", ""}, {"*.yaml", "d/a.yaml", ""},
		{"a*", "a", "[]"}, {"a*", "abc", "[]"}, {"a*", "a/b", ""}, {"a*/b", "a/b", "[]"}, {"d/*", "d/.a", ""},
		{"d/*", "d/a", "[]"}, {"a*c*e", "abcde", "[]"}, {"*a*", "aaa", "[]"}, {"a**b", "axxb", "[]"}, {"a**/b", "a/x/b", ""}, {"**",
			"a", "[]"},
		{"**", "a/b", ""},
		{"**/*.yaml", "a.yaml", "[]"}, {"**/*.yaml", "d/e/a.yaml", "[]"}, {"**/*.yaml", ".d/a.yaml", ""},
		{"**/*.yaml", "d/.e/a.yaml", ""}, {"d/**/a", "d/a", "[]"}, {"d/**/a", "d/e/f/a", "[]"}, {"d/**/a", "da", ""},
		{"d/**/**/a", "d/a", "[]"}, {"d/**/**/a", "d/e/a", "[]"}, {"**/d/**/a", "x/d/y/a", "[]"}, {"x**/a",
			"x/y/a", ""},
		{"a?c", "abc", "[]"}, {"a?c", "a/c", ""}, {"a?c", "ac", ""}, {"?a", ".a", ""}, {"a?", "a", ""}, {"d/?a",
			"d/.a", ""},
		{"[ab]c", "ac", "[]"}, {"[ab]c", "cc", ""}, {"[a-c]x", "bx", "[]"}, {"[!a]b", "ab", ""}, {"[!a]b", "cb",
			"[]"},
		{"[^a]b", "cb", "[]"}, {"[^a]b", "/b", ""}, {"[.]a", ".a", ""}, {"x[.]a", "x.a", "[]"},
		{`\*`, "*", "[]"}, {`\*`, "a", ""}, {`\[a]`, "[a]", "[]"},
		{"%{r}/*.yaml", "web/a.yaml", "[web]"}, {"%{r}/*.yaml", "a/b/c.yaml", "[a/b]"}, {"%{r}/*.yaml", "a.yaml",
			"[]"},
		{"x/%{r}/a", "x/a", "[]"}, {"x/%{r}/a", "x/y/a", "[y]"}, {"%{r}", "a/b", "[a/b]"}, {"%{r}x", "x", "[]"},
		{"%{r}*", "ab", "[] [a] [ab]"}, {"%{r}*", ".a", "[.] [.a]"}, {"%{a}-%{b}", "x-y-z", "[x y-z] [x-y z]"},
		{"%{a}%{a}", "ab", "[ ab] [a b] [ab ]"}, {"%{r}**/x", "a/x", "[] [a]"},
		{"x%{r}/a", "x/a", "[]"}, {"x%{r}/a", "xy/a", "[y]"}, {"x%{r}/a", "xa", ""},
		{`a\`, `a\`, ""}, {`a\`, "a", "[]"}, {`\\`, `\`, "[]"}, {`d\/a`, "d/a", "[]"}, {`\é`, "é", "[]"},
		{"[!a[!]x", "!x", ""}, {"[!a[!]x", "^x", "[]"}, {"**/**/a", "d/a", "[]"},
		{"?", "é", "[]"}, {"a?b", "aéb", "[]"}, {"??", "é", ""}, {"[é]", "é", "[]"}, {"[aé]b", "éb", "[]"},
		{"[a-é]", "b", "[]"}, {"[a-b]", "é", ""}, {"[!a]", "é", "[]"},
		{"[a-]", "-", "[]"}, {"[a-]", "b", ""}, {"[-a]", "-", "[]"}, {"[a-c-e]", "-", "[]"}, {"[a-c-e]", "d", ""},
		{"[b-a]", "a", "[]"}, {"[b-a]", "b", "[]"}, {"[c-a]", "b", ""}, {"[a-c]", "a", "[]"}, {"[a-c]", "c", "[]"},
		{`[a\-c]`, "b", ""}, {`[a\-c]`, "-", "[]"}, {`[a\]b]`, "]", "[]"}, {`[a\]b]`, "b", "[]"}, {`[a-\c]`, "b", "[]"},
		{`[\!a]`, "!", "[]"}, {`[\!a]`, "b", ""}, {"[!!]", "!", ""}, {"[^!]", "^", "[]"}, {"[a!]", "!", "[]"},
		{"[", "[", ""}, {"[a", "[a", ""}, {"[a", "a", ""}, {"a[b", "a", ""}, {"[!a", "b", ""},
		{`[a\]`, "a", ""}, {`[a\`, "a", ""},
		{"[a-", "a", ""}, {"x[a/b", "xa", ""}, {"[]", "[]", ""}, {"[]", "a", ""}, {"[]a]", "a]", ""},
		{"[!]", "a", "[]"},
		{"[^]b", "ab", "[]"}, {"[!]]", "a]", "[]"}, {"[a]]", "a]", "[]"}, {"[[]", "[", "[]"}, {"[ab][cd]", "bc", "[]"},
	} {
		n, problems := expr.ParseHiera(c.glob)
		if len(problems) > 0 {
			t.Fatal(c.glob, problems)
		}
		var got []string
		readings, _ := readGlob(globElements(partsOf(n)), c.path, noLinks)
		for _, values := range readings {
			got = append(got, fmt.Sprint(values))
			if text := fillGlob(partsOf(n), values); !strings.Contains(c.glob, "%{") && text != c.glob {
				t.Errorf("%s without values is %q", c.glob, text)
			}
		}
		slices.Sort(got)
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s finds %s by %q, expected %q", c.glob, c.path, got, c.want)
		}
	}
	// Many stars match in many ways, but each position is tried only once.
	for glob, path := range map[string]string{"a*a*a*a*a*b.yaml": strings.Repeat("a", 200),
		"**/a/**/a/**/a/**/b": strings.Repeat("a/", 100) + "a", "%{r}a*a*a*a*b": strings.Repeat("a", 60)} {
		n, _ := expr.ParseHiera(glob)
		g := newGlobReader(globElements(partsOf(n)), path, noLinks)
		if g.read(globSpot{}) || g.steps > 20*len(path)*60 {
			t.Errorf("%s reads %s in %d steps", glob, path, g.steps)
		}
	}
	if n, _ := expr.ParseHiera("%{a}/x%{b}"); fillGlob(partsOf(n), []string{"1", "2"}) != "1/x2" {
		t.Errorf("a glob with values is %q", fillGlob(partsOf(n), []string{"1", "2"}))
	}
}

func noLinks(string) bool { return false }

// As in Ruby, '**/' enters no symbolic links, but other parts of a glob do.
func TestDoubleStarOfGlobEntersNoLinks(t *testing.T) {
	for _, c := range []struct {
		glob, path string
		want       bool
	}{
		{"**/*.yaml", "real/a.yaml", true}, {"**/*.yaml", "link/a.yaml", false}, {"**/*.yaml", "link/d/a.yaml", false},
		{"**/*.yaml", "real/link/a.yaml", false}, {"*/*.yaml", "link/a.yaml", true}, {"*/**/*.yaml", "link/d/a.yaml", true},
		{"link/**/*.yaml", "link/d/a.yaml", true}, {"**/link/*.yaml", "link/a.yaml", true},
		{"**/d/*.yaml", "link/d/a.yaml", false}, {"%{r}/**/a.yaml", "link/a.yaml", true},
		{"%{r}/**/a.yaml", "x/link/a.yaml", true}, // r may be x/link
	} {
		n, _ := expr.ParseHiera(c.glob)
		isLink := func(dir string) bool { return dir == "link" || dir == "real/link" || dir == "x/link" }
		readings, ok := readGlob(globElements(partsOf(n)), c.path, isLink)
		if got := len(readings) > 0; got != c.want || !ok {
			t.Errorf("%s matches %s: %t", c.glob, c.path, got)
		}
	}
}

// A file name of n characters matches '*%{a}*' for each of its parts, and for "".
func TestReadGlobReportsTooManyReadings(t *testing.T) {
	name := "abcdefghijklmnopqrstuvwxyz"
	for length, want := range map[int]bool{22: true, 23: false, 26: false} {
		n, _ := expr.ParseHiera("*%{a}*")
		readings, ok := readGlob(globElements(partsOf(n)), name[:length], noLinks)
		if all := length*(length+1)/2 + 1; ok != want || ok && len(readings) != all {
			t.Errorf("%s is read in %d ways, all of them %t, want %d", name[:length], len(readings), ok, all)
		}
	}
}

// Nested and consecutive braces multiply, so the number of globs is limited.
func TestNumberOfBraceExpansionsIsLimited(t *testing.T) {
	for glob, want := range map[string]bool{strings.Repeat("{a,b}", 11): true, strings.Repeat("{a,b}", 20): false,
		"{" + strings.Repeat("a,", 3000) + "}":                      true,
		strings.Repeat("{", 100_000) + strings.Repeat("}", 100_000): false} {
		if globs, ok := Unbraced(glob); ok != want || len(globs) > maxGlobs {
			t.Errorf("%.30s stands for %d globs, all of them %t", glob, len(globs), ok)
		}
	}
}
