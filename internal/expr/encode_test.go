package expr_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/syntax"
	"bindc/internal/value"
)

// sources returns the expressions of Puppet's table, which use every part of the language.
func sources(t testing.TB) []string {
	b, err := os.ReadFile("../../testdata/expressions/expressions.txt")
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

func TestDecodeInvertsAppend(t *testing.T) {
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

func TestDecodeLambda(t *testing.T) {
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

// TestDecodeDamaged cuts and flips every byte of every expression. Nothing may panic, and all
// accepted expressions can be evaluated.
func TestDecodeDamaged(t *testing.T) {
	env := facts{}
	opts := expr.Options{Functions: stdlib.Functions, Steps: 1000, Size: 1 << 16}
	for _, b := range encodings(t) {
		for i := range len(b) {
			if _, err := expr.Decode(b[:i]); err == nil {
				t.Errorf("%q is accepted without its end", b[:i])
			}
			for _, flip := range []byte{1, 0x80, 0xff} {
				damaged := []byte(b)
				damaged[i] ^= flip
				if n, err := expr.Decode(string(damaged)); err == nil {
					_, _ = expr.Eval(n, env, opts) // it may fail, but not panic
				}
			}
		}
	}
}

func TestDecodeRejectsHostileInput(t *testing.T) {
	deep := strings.Repeat("\x09\x00\x01!\x01", 5000) + "\x00\x00\x00"
	for name, b := range map[string]string{
		"nothing":                   "",
		"no such op":                "\x7f\x00",
		"an op above the last":      "\x11\x00\x00",
		"a lambda at a variable":    "\x81\x00\x01a",
		"a count beyond the bytes":  "\x03\x00\xff\xff\xff\xff\x07",
		"a huge count":              "\x03\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		"a number in a longer form": "\x03\x80\x00\x00",
		"a key without a value":     "\x04\x00\x01\x00\x00\x00",
		"an unknown operator":       "\x0a\x00\x02**\x02\x00\x00\x00\x00\x00\x00",
		"a unary plus":              "\x09\x00\x01+\x01\x00\x00\x00",
		"an operator on one side":   "\x0a\x00\x01+\x01\x00\x00\x00",
		"an option outside":         "\x0e\x00\x01\x00\x00\x00",
		"a case without options":    "\x0c\x00\x02\x00\x00\x00\x00\x00\x00",
		"a case without a control":  "\x0c\x00\x00",
		"a name beyond the bytes":   "\x01\x00\x05ab",
		"an unknown type":           string(expr.Append(nil, &expr.Node{Value: value.FromType(name("Nope"))})),
		"a type in an array": string(expr.Append(nil,
			&expr.Node{Value: value.FromSlice([]value.Value{value.FromType(name("X["))})})),
		"nesting":             deep,
		"bytes after the end": "\x00\x00\x00\x00",
	} {
		if n, err := expr.Decode(b); err == nil {
			t.Errorf("%s: accepted as %+v", name, n)
		}
	}
}

// name is a type known only by its name.
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
		v, err := expr.Eval(n, facts{}, opts)
		folded, foldErr := expr.Eval(expr.Fold(n, stdlib.Functions), facts{}, opts)
		if err == nil && foldErr == nil && !bytes.Equal(value.Append(nil, v),
			value.Append(nil, folded)) { // NaN does not equal itself
			t.Fatalf("%q: %v, folded %v", again, v, folded)
		}
	})
}
