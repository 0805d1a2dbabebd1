package syntax

import (
	"testing"
	"unicode/utf8"
)

func FuzzExpression(f *testing.F) {
	for _, s := range shapes(f) {
		f.Add(s.src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		n, errs := ParseExpression(src)
		checkErrors(t, src, errs)
		if errs == nil {
			checkReadBack(t, src, n)
		}
	})
}

func FuzzString(f *testing.F) {
	for _, text := range []string{"plain", "a ${x['b']} $c", `\$ \\ \${x}`, "$6$salt$hash",
		"${if $x { 'a' } else { \"b${c}\" }}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, errs := ParseString(text)
		checkErrors(t, text, errs)
		if errs == nil && utf8.ValidString(text) {
			checkReadBack(t, text, n)
		}
	})
}

func FuzzLambda(f *testing.F) {
	f.Add("|Integer $a, $b = 1, *$c| >> Integer { $a }")
	f.Fuzz(func(t *testing.T, src string) {
		l, errs := ParseLambda(src)
		checkErrors(t, src, errs)
		if errs != nil {
			return
		}
		again, errs := ParseLambda(PrintLambda(l))
		if errs != nil || !equalLambdas(l, again) {
			t.Errorf("%s: printed as %s: %v", src, PrintLambda(l), errs)
		}
	})
}

func checkErrors(t *testing.T, src string, errs []SyntaxError) {
	t.Helper()
	for _, e := range errs {
		if e.Off < 0 || e.Off > len(src) || e.Message == "" {
			t.Errorf("%q: error at %d: %s", src, e.Off, e.Message)
		}
	}
}

func FuzzHiera(f *testing.F) {
	for _, text := range []string{"plain", "a %{x.'b'.0} %{literal('%')}{c}", `%{lookup("a.b")}`, "%{alias('k')}",
		"%{scope('::')}%{", `%{a."'"}`, `%{" 1"}%{a. .1}`} {
		f.Add(text)
	}
	f.Fuzz(checkHieraReadBack)
}
