package stdlib_test

import (
	"testing"

	"bindc/internal/expr/exprtest"
)

func TestRegsubstLooksAtCharacterBeforeEmptyMatch(t *testing.T) {
	// The results are those of Ruby's gsub.
	for src, want := range map[string]string{
		`regsubst('  foo', '^ *', '- ', 'G')`:                "- foo",
		`regsubst('ab', '\Aa?', 'X', 'G')`:                   "Xb",
		`regsubst('ab', 'a?', 'X', 'G')`:                     "XXbX",
		`regsubst('ax b', 'x|\b', '-', 'G')`:                 "-a-- -b-",
		`regsubst("aab\nb", '(a*)$|^(a*)', '<\1\2>', 'G')`:   "<aa>b<>\n<>b<>",
		`regsubst('éa', 'é|(?<n>)', '<\0>', 'G')`:            "<é><>a<>",
		`regsubst('aXbX', '(?i:x)?', '.', 'G')`:              ".a..b..",
		`regsubst('one two', '\w+|\B', {'one' => '1'}, 'G')`: "1 ",
	} {
		v, err := exprtest.Evaluate(t, src, exprtest.Env{})
		if err != nil || v.Text() != want {
			t.Errorf("%s: expected %q, found %q, %v", src, want, v.Text(), err)
		}
	}
}
