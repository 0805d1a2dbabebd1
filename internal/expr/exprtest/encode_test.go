package exprtest_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"bindc/internal/expr"
	"bindc/internal/expr/exprtest"
	"bindc/internal/expr/stdlib"
	"bindc/internal/syntax"
	"bindc/internal/testmode"
	"bindc/internal/value"
)

// sources returns expressions that together use every part of the language.
func sources(t testing.TB) []string {
	b, err := os.ReadFile("../../../testdata/expressions/expressions.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(b)) {
		out = append(out, strings.TrimSuffix(line, "\n"))
	}
	return out
}

func encodings(t testing.TB) []string {
	var out []string
	for _, src := range sources(t) {
		if n, errs := syntax.ParseExpression(src); len(errs) == 0 {
			out = append(out, string(expr.Append(nil, n)))
		}
	}
	return out
}

func TestDecodeReadsWhatAppendWrites(t *testing.T) {
	for _, b := range encodings(t) {
		n, err := expr.Decode(b)
		if err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		if again := expr.Append(nil, n); string(again) != b {
			t.Errorf("%q became %q", b, again)
		}
	}
}

func TestDecodeLambdaReadsWhatAppendLambdaWrites(t *testing.T) {
	for _, src := range []string{`|$x| { $x + 1 }`, `|Integer $a, $b = 2, *$c| { [$a, $b, $c] }`, `|| { }`} {
		l, errs := syntax.ParseLambda(src)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		b := expr.AppendLambda(nil, l)
		back, err := expr.DecodeLambda(string(b))
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		if !bytes.Equal(expr.AppendLambda(nil, back), b) {
			t.Errorf("%s is not the same after decoding", src)
		}
	}
}

// The test truncates and modifies each expression at every byte. Decode and Eval may return errors, but must not panic.
func TestDamagedExpressionsDoNotPanic(t *testing.T) {
	testmode.SkipUnderRace(t)
	env := exprtest.Env{}
	opts := expr.Options{Functions: stdlib.Functions, Steps: 1000, Size: 1 << 16}
	for _, b := range testmode.Sample(t, encodings(t), 4) {
		for i := range len(b) {
			if _, err := expr.Decode(b[:i]); err == nil {
				t.Errorf("%q is accepted without its end", b[:i])
			}
			for _, flip := range []byte{1, 0x80, 0xff} {
				damaged := []byte(b)
				damaged[i] ^= flip
				if n, err := expr.Decode(string(damaged)); err == nil {
					_, _ = expr.Eval(n, env, opts) // an error is fine, a panic is not
				}
			}
		}
	}
}

func TestDecodeRejectsForgedExpressions(t *testing.T) {
	deep := strings.Repeat("\x09\x00\x01!\x01", 5000) + "\x00\x00\x00"
	for name, b := range map[string]string{
		"no bytes":                          "",
		"unknown op":                        "\x7f\x00",
		"op after the last one":             "\x11\x00\x00",
		"variable with a lambda":            "\x81\x00\x01a",
		"count larger than the rest":        "\x03\x00\xff\xff\xff\xff\x07",
		"count of 64 bits":                  "\x03\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		"number with unnecessary bytes":     "\x03\x80\x00\x00",
		"hash with a key but no value":      "\x04\x00\x01\x00\x00\x00",
		"unknown operator":                  "\x0a\x00\x02**\x02\x00\x00\x00\x00\x00\x00",
		"unary plus":                        "\x09\x00\x01+\x01\x00\x00\x00",
		"operator with one operand":         "\x0a\x00\x01+\x01\x00\x00\x00",
		"option outside of case":            "\x0e\x00\x01\x00\x00\x00",
		"case whose options are constants":  "\x0c\x00\x02\x00\x00\x00\x00\x00\x00",
		"case without a control expression": "\x0c\x00\x00",
		"name longer than the rest":         "\x01\x00\x05ab",
		"unknown type":                      string(expr.Append(nil, &expr.Node{Value: value.FromType(name("Nope"))})),
		"invalid type in an array": string(expr.Append(nil,
			&expr.Node{Value: value.FromSlice([]value.Value{value.FromType(name("X["))})})),
		"interpolation without a variable":    "\x08\x00\x06%scope\x00",
		"lookup without a key":                "\x08\x00\x07%lookup\x00",
		"encrypted text that is missing":      "\x08\x00\x06%eyaml\x00",
		"path without the part below the dir": "\x08\x00\x05%path\x01\x00\x00\x00",
		"too many levels":                     deep,
		"bytes after the end":                 "\x00\x00\x00\x00",
	} {
		if n, err := expr.Decode(b); err == nil {
			t.Errorf("%s: accepted as %+v", name, n)
		}
	}
}

// name is a type of which only the text is known.
type name string

func (n name) String() string { return string(n) }

func FuzzDecode(f *testing.F) {
	for i, b := range encodings(f) {
		if i%7 == 0 {
			f.Add([]byte(b))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := expr.Decode(string(b))
		if err != nil {
			return
		}
		again := expr.Append(nil, n)
		back, err := expr.Decode(string(again))
		if err != nil || !bytes.Equal(expr.Append(nil, back), again) {
			t.Fatalf("%q: %v", again, err)
		}
		opts := expr.Options{Functions: stdlib.Functions, Steps: 2000, Size: 1 << 16}
		v, err := expr.Eval(n, exprtest.Env{}, opts)
		folded, foldErr := expr.Eval(expr.Fold(n, stdlib.Functions), exprtest.Env{}, opts)
		if err == nil && foldErr == nil && !bytes.Equal(value.Append(nil, v),
			value.Append(nil, folded)) { // comparing encodings, because NaN does not equal itself
			t.Fatalf("%q: %v, folded %v", again, v, folded)
		}
	})
}
