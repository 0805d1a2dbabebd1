package onigmo

import (
	"strings"
	"testing"
)

// The expected matches are Ruby's; "-" means no match.
func TestTranslationMatchesLikeRuby(t *testing.T) {
	for _, c := range []struct{ src, text, want string }{
		{`b+`, "abbc", "bb"},
		{`^b$`, "a\nb\nc", "b"},
		{`\Ab`, "a\nb", "-"},
		{`a.b`, "a\nb", "-"},
		{`(?m)a.b`, "a\nb", "a\nb"},
		{`(?m:a.)b.c`, "a\nb\nc", "-"},
		{`(?i)ABC`, "xabc", "abc"},
		{`a(?i)b|C`, "ac", "ac"},
		{`a(?i)b|C`, "c", "-"},
		{`(?i:A)B`, "aB", "aB"},
		{`(?i-i:A)b`, "ab", "-"},
		{`\h+`, "xyz0aF", "0aF"},
		{`[\h]+`, "xyz0aF", "0aF"},
		{`\H+`, "0aFxyz", "xyz"},
		{`[^\H]+`, "xyz0aF", "0aF"},
		{`[\W]`, "a b", " "},
		{`\s`, "a\vb", "\v"},
		{`\d`, "٣", "-"},
		{`[[:digit:]]`, "٣", "٣"},
		{`[[:alpha:]]+`, "1été", "été"},
		{`[^[:alpha:]]+`, "été12", "12"},
		{`[[:^alpha:]]`, "a1", "refused"},
		{`\w`, "é", "-"},
		{`\p{Alpha}`, "1é", "é"},
		{`\P{L}`, "é1", "1"},
		{`\p{^L}`, "é1", "1"},
		{`[a-c[x-z]]+`, "maxzb", "axzb"},
		{`[]a]+`, "x]a", "]a"},
		{`[a\]]+`, "x]a", "]a"},
		{`[-a]+`, "b-a", "-a"},
		{`[a-]+`, "b-a", "-a"},
		{`[\d-z]+`, "1-z", "1-z"},
		{`a{,2}b`, "aaab", "aab"},
		{`a{2,}`, "aaa", "aaa"},
		{`a{2}?b`, "b", "b"},
		{`a{1,2}?`, "aa", "a"},
		{`a{x`, "a{x", "a{x"},
		{`a{`, "a{", "a{"},
		{`a**`, "aa", "aa"},
		{`(a|b)+?c`, "abc", "abc"},
		{`(?<x>a)(b)`, "ab", "ab"},
		{`(?'x'a)`, "a", "a"},
		{`(?#no)a`, "a", "a"},
		{`(?x) a b # c`, "ab", "ab"},
		{`(?x) a \ b [ ] c`, "a b c", "a b c"},
		{`(?x: a )b`, "ab", "ab"},
		{`\u00e9`, "é", "é"},
		{`\u{1F600}`, "😀", "😀"},
		{`\x41\101`, "AA", "refused"},
		{`\0`, "\x00", "\x00"},
		{`\e\t`, "\x1b\t", "\x1b\t"},
		{`\R`, "a\r\n", "\r\n"},
		{`a\Z`, "a\n", "a\n"}, // Ruby does not include the newline in the match
		{`a\z`, "a\n", "-"},
		{`\/\-\_\ \#`, "/-_ #", "/-_ #"},
		{`\y`, "y", "y"},
		{`[\b]`, "\b", "\b"},
		{``, "abc", ""},
		{`a|`, "b", ""},
		{`(?=a)`, "", "refused"},
		{`(?!a)`, "", "refused"},
		{`(?<=a)b`, "", "refused"},
		{`(?<!a)b`, "", "refused"},
		{`(?>a)`, "", "refused"},
		{`a++`, "", "refused"},
		{`(a)\1`, "", "refused"},
		{`(?<x>a)\k<x>`, "", "refused"},
		{`\Ga`, "", "refused"},
		{`[a&&b]`, "", "refused"},
		{`(`, "", "refused"},
		{`)`, "", "refused"},
		{`[a`, "", "refused"},
		{`[b-a]`, "", "refused"},
		{`*a`, "", "refused"},
		{`a{2000}`, "", "refused"},
		{`\`, "", "refused"},
		{`(?<1>a)`, "", "refused"},
		{`(?z)`, "", "refused"},
		{`\p{Nope}`, "", "refused"},
		{`[[:nope:]]`, "", "refused"},
		{`\x`, "", "refused"},
		{strings.Repeat("(", 300) + strings.Repeat(")", 300), "", "refused"},
		{strings.Repeat("a", 40_000), "", "refused"},
		{`((a{100}){100}){100}`, "", "refused"},
	} {
		re, err := Compile(c.src)
		if err != nil {
			if c.want != "refused" {
				t.Errorf("%.40s: %v", c.src, err)
			}
			continue
		}
		got := "-"
		if m := re.FindStringIndex(c.text); m != nil {
			got = c.text[m[0]:m[1]]
		}
		if got != c.want {
			t.Errorf("%.40s in %q: expected %q, found %q (as %s)", c.src, c.text, c.want, got, re)
		}
	}
}

func TestUnnamedGroupsDoNotCaptureNextToNamedOnes(t *testing.T) {
	re, err := Compile(`(a)(?<x>b)(c)`)
	if err != nil {
		t.Fatal(err)
	}
	if m := re.FindStringSubmatch("abc"); len(m) != 2 || m[1] != "b" {
		t.Errorf("found %q", m)
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{`(?<x>a)[^\w[:alpha:]]{2,}?`, `(?ix) a # b`, `\u00e9\h\R`, `a(?i)b|c`,
		`(?<x>a|(?!b))*+\k<x>(?<=a|b)(?>c?)`, `(a)(?(1)b|c)\1{2,}`, `(?:){9999999999}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if re, err := Compile(src); err == nil {
			re.MatchString("abc")
		}
		if m, err := backtracking(src); err == nil {
			m.Match("abc\nABC", nil)
		}
	})
}
