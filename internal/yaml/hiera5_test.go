package yaml

import (
	"strings"
	"testing"

	"bindc/diag"
)

// With Options.Hiera5, scalars that only Psych supports are marked as Unfit. Symbol keys become strings.
func TestHiera5MarksUnfitScalars(t *testing.T) {
	for src, want := range map[string]string{
		":a: 1\n:\"b c\": 2\n:':d': 3\n'::e': 4\n': f': 5\n':g': 6": "a b\\ c d ::e :\\ f :g",
		":a: 1\na: 2\nb: 3":                     "warning a b",
		"a: :x":                                 "a unfit symbol :x 1:4",
		"a: ':x'\nb: ':'\nc: |\n  :x":           "a b c",
		"a: !ruby/symbol x":                     "a unfit symbol :x 1:4",
		"a: !!str :x":                           "a",
		"a:\n- 1\n- b: :x":                      "a unfit symbol :x 3:6",
		"a: 9223372036854775808":                "a unfit large 9223372036854775808 1:4",
		"a: '9223372036854775808'":              "a",
		"a: &x -9223372036854775809\nb: *x":     "a b unfit large -9223372036854775809 1:4",
		"9223372036854775808: 1":                "9223372036854775808 unfit large 9223372036854775808 1:1",
		"a:\n  b: {1: x, 1.5: x}\nc: 1":         "a c",
		"a:\n  no: x\n":                         "a unfit key the\\ boolean\\ false 2:3",
		"a: [{~: x}]\n":                         "a unfit key null 1:6",
		"a:\n  b:\n    ? [c]\n    : d\n":        "a unfit key a\\ list 3:7",
		"a: 1\nb:\n  <<: {yes: x}\n":            "a b unfit key the\\ boolean\\ true 3:8",
		"a: {.nan: x}\n":                        "a unfit key the\\ float\\ NaN 1:5",
		"a: &h {yes: x}\nb:\n  <<: *h\n":        "a b unfit key the\\ boolean\\ true 1:8",
		"a: 9223372036854775807\nb: 0x7fffffff": "a b",
	} {
		var diags diag.List
		d, ok := Parse("f", []byte(src), Options{Hiera5: true, LastKeyWins: true}, &diags)
		if got := unfitIn(d, ok, &diags); got != want {
			t.Errorf("%q: found %s, want %s", src, got, want)
		}
	}
	for src, want := range map[string]string{
		`{"a": [1, 9223372036854775808]}`: "a unfit large 9223372036854775808 1:11",
		`{":a": ":x"}`:                    ":a",
		`{"a": 1e999}`:                    "failed error",
	} {
		var diags diag.List
		d, ok := ParseJSON("f", []byte(src), Options{Hiera5: true}, &diags)
		if got := unfitIn(d, ok, &diags); got != want {
			t.Errorf("%q: found %s, want %s", src, got, want)
		}
	}
}

// Without Options.Hiera5, symbols are strings, and large integers are errors.
func TestScalarsAreNotMarkedOutsideOfHiera5(t *testing.T) {
	for src, want := range map[string]string{":a: :x\nb: !ruby/symbol x": ":a b", "a: 9223372036854775808": "failed error"} {
		var diags diag.List
		d, ok := Parse("f", []byte(src), Options{}, &diags)
		if got := unfitIn(d, ok, &diags); got != want {
			t.Errorf("%q: found %s, want %s", src, got, want)
		}
	}
}

// unfitIn describes a document: the severity of its diagnostics, its keys, and the first unfit scalar.
func unfitIn(d *Document, ok bool, diags *diag.List) string {
	var out []string
	if !ok {
		out = append(out, "failed")
	}
	for _, found := range diags.Sorted() {
		out = append(out, found.Severity.String())
	}
	if ok {
		for key := range d.Root.Pairs() {
			out = append(out, strings.ReplaceAll(key.Value.Text(), " ", `\ `))
		}
		if n := d.Root.FirstUnfit(); n != nil {
			at := d.Pos(n)
			kind := map[Unfit]string{Symbol: "symbol", TooLarge: "large", NoKey: "key"}[n.Unfit]
			text := n.Value.Text()
			if n.Unfit == NoKey {
				text = strings.ReplaceAll(n.Describe(), " ", `\ `)
			}
			out = append(out, "unfit", kind, text, strings.TrimPrefix(at.String(), "f:"))
		}
	}
	return strings.Join(out, " ")
}
