package ruby

import (
	"math/rand/v2"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"bindc/internal/testmode"
)

// All characters, or a sample of the rare ones, and random strings, are compared with golang.org/x/text.
func TestCaseConversionAgreesWithUnicode(t *testing.T) {
	testmode.SkipUnderRace(t)
	up, title := cases.Upper(language.Und), cases.Title(language.Und, cases.NoLower)
	low := cases.Lower(language.Und, cases.HandleFinalSigma(false))
	compare := func(s string) {
		if got, want := Upcase(s), up.String(s); got != want {
			t.Errorf("%q in upper case is %q, expected %q", s, got, want)
		}
		if got, want := Downcase(s), low.String(s); got != want {
			t.Errorf("%q in lower case is %q, expected %q", s, got, want)
		}
		_, size := utf8.DecodeRuneInString(s)
		if got, want := Capitalize(s), title.String(s[:size])+low.String(s[size:]); got != want {
			t.Errorf("%q capitalized is %q, expected %q", s, got, want)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	text := []byte{}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r > 0x20000 { // no letter up there has cases
			r += rune(testmode.Number(16, 0))
		}
		if utf8.ValidRune(r) {
			compare(string(r))
		}
		if i := random.IntN(len(special)); r%100 == 0 {
			compare(string(text))
			text = append(text[:0], "a\xffΣ"...)
		} else if r%3 == 0 {
			text = utf8.AppendRune(text, special[i].lower)
			text = utf8.AppendRune(text, random.Int32N(0x3000))
		}
	}
}
