package manifest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/internal/manifest"
	"bindc/internal/value"
)

// callLines formats the calls in a manifest, one per line.
func callLines(t *testing.T, src string) string {
	t.Helper()
	var calls manifest.Calls
	calls.Add("a.pp", src)
	var out []string
	for _, c := range calls.All {
		keys, merge := "computed", "computed"
		if c.Keys != nil {
			keys = strings.Join(c.Keys, ",")
		}
		if c.MergeKnown {
			merge = string(value.AppendJSON(nil, c.Merge))
		}
		out = append(out, fmt.Sprintf("%d:%d %s %s %s", c.At.Line, c.At.Col, c.Function, keys, merge))
	}
	if len(calls.Wrong) > 0 {
		out = append(out, "wrong")
	}
	return strings.Join(out, "\n")
}

func TestFindsMergesOfLookups(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"no merge", `lookup('a') lookup('a', String) lookup('a', String, undef, {}) $x = lookup('b', {default_value => 1})`, ""},
		{"third argument", "$x = lookup('a::b', Hash[String, Any], 'deep', {})", `1:6 lookup a::b "deep"`},
		{"bare word", `lookup(a::b, Array, unique)`, `1:1 lookup a::b "unique"`},
		{"hash of options alone", `lookup({'name' => "a", merge => 'hash'})`, `1:1 lookup a "hash"`},
		{"options without a merge", `lookup({name => 'a', default_value => {merge => 1}})`, ""},
		{"options after the name", `lookup('a', {merge => unique, value_type => Array[String]})`, `1:1 lookup a "unique"`},
		{"options after the type", `lookup('a', Hash, undef, {merge => 'deep'})`, `1:1 lookup a "deep"`},
		{"strategy with options", `lookup('a', Hash, {strategy => 'deep', knockout_prefix => '--', sort_merged_arrays => true})`,
			`1:1 lookup a {"strategy":"deep","knockout_prefix":"--","sort_merged_arrays":true}`},
		{"several keys", `lookup(['a', 'b.c'], Hash, hash)`, `1:1 lookup a,b "hash"`},
		{"dotted key", `lookup('a.b.0', Array, unique) lookup("'x.y'.z", Array, unique)`,
			"1:1 lookup a \"unique\"\n1:32 lookup \"x.y\" \"unique\""},
		{"functions of Hiera 3", `hiera('a') hiera_array("b") hiera_hash('c', {}) hiera_include('d')`,
			"1:1 hiera a \"first\"\n1:12 hiera_array b \"unique\"\n1:29 hiera_hash c \"hash\"\n1:49 hiera_include d \"unique\""},
		{"function with leading ::", `::hiera_hash('a')`, `1:1 hiera_hash a "hash"`},
		{"method", `'a'.lookup(Hash, 'deep') $k.hiera_array`, `1:5 lookup a "deep"`},
		{"computed key", "lookup(\"${m}::x\", Hash, 'hash')\nlookup($key, Hash, deep)\nlookup([$a, 'b'], Hash, deep)",
			"1:1 lookup computed \"hash\"\n2:1 lookup computed \"deep\"\n3:1 lookup computed \"deep\""},
		{"computed merge", `lookup('a', Hash, $how) lookup('b', {merge => {strategy => $how}}) lookup('c', X, {$k => 1})`,
			"1:1 lookup a computed\n1:25 lookup b computed\n1:68 lookup c computed"},
		{"both computed", `lookup($a, Hash, $b) lookup(*$args)`, "1:1 lookup computed computed\n1:22 lookup computed computed"},
		{"lambda for the default", `lookup('a', Hash, 'hash') |$k| { {} }`, `1:1 lookup a "hash"`},
		{"nested", `include(lookup('a', Array[String], 'unique').filter |$c| { $c in lookup({name => 'b', merge => 'hash'}) })`,
			"1:9 lookup a \"unique\"\n1:66 lookup b \"hash\""},
		{"other uses of the word", `class lookup { } $lookup = 1 file { 'x': lookup => 2 } function hiera_hash($k) { }`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := callLines(t, c.src); got != c.want {
				t.Errorf("%s\nis\n%s\nwant\n%s", c.src, got, c.want)
			}
		})
	}
}

// Calls in comments, strings, heredocs and regular expressions are ignored. Calls after them are found.
func TestReadsNoCallsInComments(t *testing.T) {
	const call, want = "lookup('x', Hash, 'deep')", `x "deep"`
	for name, src := range map[string]string{
		"comment":              "# lookup('a', Hash, 'deep') it's\n" + call,
		"long comment":         "/* lookup('a', Hash, 'deep') \" ' # */ " + call,
		"string":               `$a = 'lookup(\'a\', Hash, deep) # " /*' ` + call,
		"string in doubles":    `$a = "lookup('a', Hash, 'deep') \" # ${b['}']} \${ ' /*" ` + call,
		"nested strings":       `$a = "x ${b("}\"{", '}')} y" ` + call,
		"heredoc":              "$a = @(END)\n  lookup('a', Hash, 'deep') ' \"\n  | END\n" + call,
		"heredoc with flags":   "$a = @(\"END FIN\":json/t)\n ' ${x}\n |- END FIN\n" + call,
		"two heredocs":         "f(@(A), @(B))\n'\n| A\n\"\n|-B\n" + call,
		"regular expression":   "if $a =~ /['\"\\/]#/ { } " + call,
		"pattern of a node":    "node /^web'\\d+$/ { " + call + " }",
		"pattern as an option": "case $a { /a'/: { } /b\"/: { } } " + call,
		"division":             "$a = $b / 2 + 'x'.size / 3 " + call + " $c = 1 / 2",
		"slash without an end": "$a = [ / \n" + call,
		"resource":             "file { '/a/b': content => \"${c}\", } " + call,
	} {
		got := callLines(t, src)
		if strings.Contains(got, "\n") || !strings.HasSuffix(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := callLines(t, `$a = "x ${lookup('b', Hash, 'hash')} ${[1].map |$x| { lookup('c', Array, 'unique') }}"`); got !=
		"1:11 lookup b \"hash\"\n1:55 lookup c \"unique\"" {
		t.Errorf("calls in strings: %s", got)
	}
}

// A manifest that ends inside a string, comment or call is reported. Calls before that are found.
func TestReportsManifestsThatEndTooEarly(t *testing.T) {
	for _, src := range []string{"$a = 'x", `$a = "x`, `$a = "${x`, "/* x", "lookup('a', Hash", "f(@(END))\nx\n", `"\`,
		"lookup(", "@(", "$", "::", "\"${\"", "hiera_hash(,"} {
		got := callLines(t, "lookup('k', Hash, 'deep')\n"+src)
		if !strings.HasPrefix(got, `1:1 lookup k "deep"`) {
			t.Errorf("%q: %q", src, got)
		}
		if ends := src == "$" || src == "::" || src == "@("; ends == strings.HasSuffix(got, "wrong") {
			t.Errorf("%q: %q", src, got)
		}
	}
}

func FuzzScan(f *testing.F) {
	f.Add("$:")
	f.Add("lookup({name => \"a${b}\", merge => /x/}) @(E)\nE\n")
	f.Fuzz(func(_ *testing.T, src string) {
		var calls manifest.Calls
		calls.Add("a.pp", src)
	})
}

func TestReadsManifestsInDirectories(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"manifests/site.pp":                "hiera_include('classes')",
		"modules/a/manifests/init.pp":      "lookup('a::b', Hash, 'deep')",
		"modules/a/spec/fixtures/init.pp":  "lookup('no::no', Hash, 'deep')",
		".git/x.pp":                        "lookup('no::no', Hash, 'deep')",
		"modules/a/templates/lookup.epp":   "<% lookup('no::no', Hash, 'deep') %>",
		"modules/a/manifests/generated.pp": strings.Repeat(" ", 4<<20+1),
	} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	calls, err := manifest.Read([]string{dir, filepath.Join(dir, "modules")})
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, c := range calls.All {
		keys = append(keys, c.Keys...)
	}
	slices.Sort(keys)
	if !slices.Equal(keys, []string{"a::b", "classes"}) || calls.Files != 3 || len(calls.Wrong) != 1 {
		t.Errorf("%v, %d files, %v", keys, calls.Files, calls.Wrong)
	}
	if _, err := manifest.Read([]string{filepath.Join(dir, "none")}); err == nil {
		t.Error("a missing directory does not fail")
	}
}

// A manifest may nest interpolations. If they are nested so deep that they would fill the stack, it counts as wrong.
func TestLimitsNestingOfInterpolations(t *testing.T) {
	for depth, wrong := range map[int]int{100: 0, 101: 1, 1 << 20: 1} {
		var calls manifest.Calls
		calls.Add("a.pp", strings.Repeat(`"${`, depth)+"lookup('a')"+strings.Repeat(`}"`, depth))
		if len(calls.Wrong) != wrong {
			t.Errorf("%d: %d wrong manifests, expected %d", depth, len(calls.Wrong), wrong)
		}
		if wrong == 0 && len(calls.Uses) != 1 {
			t.Errorf("%d: found %v", depth, calls.Uses)
		}
	}
}
