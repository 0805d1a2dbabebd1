package value

import (
	"math"
	"testing"
)

func TestAppendTextMatchesInterpolation(t *testing.T) {
	for _, c := range []struct {
		v    Value
		want string
	}{
		{Value{}, ""},
		{TheDefault(), "default"},
		{FromBool(true), "true"},
		{FromInt(-5), "-5"},
		{FromFloat(1), "1.0"},
		{FromString("a b"), "a b"},
		{FromRegexp(`a/b\/c`), `/a\/b\/c/`},
		{Strings(), "[]"},
		{FromSlice([]Value{FromInt(1), FromString("a"), {}, Strings("x")}), "[1, a, , [x]]"},
		{FromPairs(), "{}"},
		{FromPairs(Pair{FromString("a"), FromInt(1)}, Pair{FromInt(2), Value{}}), "{a => 1, 2 => }"},
		{FromType(typeName("Integer")), "Integer"},
	} {
		if got := string(AppendText([]byte("x"), c.v)); got != "x"+c.want {
			t.Errorf("expected %q, found %q", c.want, got)
		}
	}
}

// The expected strings come from Ruby's Float#to_s.
func TestAppendFloatMatchesRuby(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0.0", 1: "1.0", -1.5: "-1.5", 0.1: "0.1", 100: "100.0", 1e14: "100000000000000.0", 1e15: "1.0e+15",
		1e20:            "1.0e+20",
		123456789012345: "123456789012345.0", 12345678901234567: "1.2345678901234568e+16", 1e-4: "0.0001",
		1.234e-5: "1.234e-05",
		1e100:    "1.0e+100", 5e-324: "5.0e-324", math.Inf(1): "Infinity", math.Inf(-1): "-Infinity",
	} {
		if got := string(AppendFloat(nil, f)); got != want {
			t.Errorf("expected %s, found %s", want, got)
		}
	}
	if got := string(AppendFloat(nil, math.Copysign(0, -1))); got != "-0.0" {
		t.Errorf("found %s", got)
	}
}

// The expected strings come from Puppet's String.new.
func TestPuppetQuoteMatchesPuppet(t *testing.T) {
	for s, want := range map[string]string{
		"": "''", "a": "'a'", "it's": `'it\'s'`, `a\b`: `'a\b'`, `a\`: `'a\'`, `a\'b`: `'a\'b'`, `a\\b`: `'a\\b'`,
		`\\'`: `'\\\''`, `\''`: `'\'\''`, `a\\\`: `'a\\\'`, "a\nb\\": `"a\nb\\"`, "é\\": `'é\'`,
	} {
		if got := PuppetQuote(s); got != want {
			t.Errorf("%q: expected %s, found %s", s, want, got)
		}
	}
}

func TestQuoteReturnsParsableLiterals(t *testing.T) {
	for s, want := range map[string]string{
		"": "''", "a": "'a'", "it's": `'it\'s'`, `a\b`: `'a\b'`, `a\`: `'a\\'`, `a\'b`: `'a\\\'b'`, `a\\b`: `'a\\\b'`,
		"a\nb\t\"$\\": `"a\nb\t\"\$\\"`, "a\x01": `"a\u{1}"`, "é": "'é'", "$x": "'$x'",
	} {
		if got := Quote(s); got != want {
			t.Errorf("%q: expected %s, found %s", s, want, got)
		}
	}
}
