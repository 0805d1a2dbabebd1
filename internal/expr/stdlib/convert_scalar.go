package stdlib

import (
	"fmt"
	"strconv"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/expr/ruby"
	"bindc/internal/value"
)

func (f *textFormat) undef() (string, error) {
	switch f.letter {
	case 'n':
		return f.flags(f.plainOr("nil", "null")), nil
	case 'u':
		return f.flags(f.plainOr("undef", "undefined")), nil
	case 'd', 'x', 'X', 'o', 'b', 'B', 'e', 'E', 'f', 'g', 'G', 'a', 'A':
		return f.flags("NaN"), nil
	case 'v':
		return f.flags("n/a"), nil
	case 'V':
		return f.flags("N/A"), nil
	case 's':
		return f.flags(f.plainOr("", `""`)), nil
	case 'p':
		return f.flags(f.plainOr("undef", `"undef"`)), nil
	}
	return "", f.illegal("Undef", "nudxXobBeEfgGaAvVsp")
}

func (f *textFormat) theDefault() (string, error) {
	switch f.letter {
	case 'd', 's', 'p':
		return f.flags(f.plainOr("default", `"default"`)), nil
	case 'D':
		return f.flags(f.plainOr("Default", `"Default"`)), nil
	}
	return "", f.illegal("Default", "dDsp")
}

// truths maps format letters to the words for true and false.
var truths = map[byte][2]string{'t': {"true", "false"}, 'T': {"True", "False"}, 'y': {"yes", "no"}, 'Y': {"Yes", "No"},
	's': {"true", "false"}, 'p': {"true", "false"}}

func (f *textFormat) boolean(v value.Value) (string, error) {
	if words, ok := truths[f.letter]; ok {
		word := words[1]
		if v.Bool() {
			word = words[0]
		}
		if f.alt && f.letter != 's' && f.letter != 'p' {
			word = word[:1]
		}
		return f.flags(word), nil
	}
	switch number := truthNumber(v); {
	case strings.IndexByte("dxXobB", f.letter) >= 0:
		return f.integer(number)
	case strings.IndexByte("eEfgGaA", f.letter) >= 0:
		return f.float(value.FromFloat(ruby.Float(number)))
	}
	return "", f.illegal("Boolean", "tTyYdxXobBeEfgGaAsp")
}

func (f *textFormat) integer(v value.Value) (string, error) {
	switch f.letter {
	case 'd', 'x', 'X', 'o', 'b', 'B', 'p':
		return f.kernel(f.letter, v)
	case 'e', 'E', 'f', 'g', 'G', 'a', 'A':
		return f.kernel(f.letter, value.FromFloat(ruby.Float(v)))
	case 'c':
		char, err := directive{}.character(v)
		if err != nil {
			return "", err
		}
		return f.kernel('s', value.FromString(f.plainOr(char, `"`+char+`"`)))
	case 's':
		letter := byte('s')
		if f.alt {
			letter = 'p'
		}
		return f.kernel(letter, value.FromString(strconv.FormatInt(v.Int(), 10)))
	}
	return "", f.illegal("Integer", "dxXobBeEfgGaAspc")
}

func (f *textFormat) float(v value.Value) (string, error) {
	switch f.letter {
	case 'd', 'x', 'X', 'o', 'b', 'B':
		whole, err := wholeNumber(v.Float())
		if err != nil {
			return "", err
		}
		return f.kernel(f.letter, whole)
	case 'e', 'E', 'f', 'g', 'G', 'a', 'A', 'p':
		return f.kernel(f.letter, v)
	case 's':
		text := ruby.ToS(v)
		return f.kernel('s', value.FromString(f.plainOr(text, `"`+text+`"`)))
	}
	return "", f.illegal("Float", "dxXobBeEfgGaAsp")
}

// recased applies a format letter that changes the case of s or strips white space. ok is false for other letters.
func recased(letter byte, s string) (text string, ok bool) {
	switch letter {
	case 'c':
		return ruby.Capitalize(s), true
	case 'C':
		return capitalizeSegments(s), true
	case 'u':
		return ruby.Upcase(s), true
	case 'd':
		return ruby.Downcase(s), true
	case 't':
		return strip(s), true
	}
	return s, false
}

func capitalizeSegments(s string) string {
	segments := strings.Split(s, "::")
	for i := range segments {
		segments[i] = ruby.Capitalize(segments[i])
	}
	return strings.Join(segments, "::")
}

func (f *textFormat) string(s string) (string, error) {
	if text, ok := recased(f.letter, s); ok {
		if f.alt {
			return f.flags(value.PuppetQuote(text)), nil
		}
		return f.kernel('s', value.FromString(text))
	}
	switch f.letter {
	case 's':
		return f.kernel('s', value.FromString(s))
	case 'p':
		return f.flags(f.plainOr(value.PuppetQuote(s), value.DoubleQuote(s))), nil
	}
	return "", f.illegal("String", "cCudspt")
}

func (f *textFormat) regexp(src string) (string, error) {
	switch f.letter {
	case 'p':
		return f.kernel('s', value.FromString(value.Slashed(src)))
	case 's':
		return f.kernel('s', value.FromString(f.plainOr(src, value.PuppetQuote(src))))
	}
	return "", f.illegal("Regexp", "sp")
}

func (f *textFormat) typ(v value.Value) (string, error) {
	text := ruby.ToS(v)
	switch f.letter {
	case 's':
		return f.kernel('s', value.FromString(f.plainOr(text, `"`+text+`"`)))
	case 'p':
		return f.kernel('s', value.FromString(text))
	}
	return "", f.illegal("Type", "sp")
}

func (f *textFormat) illegal(kind, letters string) error {
	return fmt.Errorf("illegal format '%c' for a value of type %s, expected one of the letters '%s'", f.letter, kind,
		letters)
}

func (f *textFormat) flags(s string) string {
	d := directive{minus: f.minus, width: f.width, precision: f.precision}
	return d.text(s)
}

// kernel formats v like Ruby's format, with the flags of f and the given letter.
func (f *textFormat) kernel(letter byte, v value.Value) (string, error) {
	k := formatter{format: f.source[:len(f.source)-1] + string(letter), args: []value.Value{v}, room: expr.DefaultSize}
	err := k.run()
	return string(k.out), err
}

// plainOr returns alt if f has the flag #, and plain otherwise.
func (f *textFormat) plainOr(plain, alt string) string {
	if f.alt {
		return alt
	}
	return plain
}
