package syntax

import (
	"strconv"

	"bindc/internal/value"
)

// number reads a decimal, octal or hexadecimal integer, or a float. The parser checks the value later, because in ${}
// it may be a match variable.
func (l *lexer) number() token {
	end := numberEnd(l.src, l.pos)
	return token{kind: tNumber, off: l.pos, end: end, text: l.src[l.pos:end]}
}

// numberEnd returns the offset after the number at i, including letters attached to the number.
func numberEnd(s string, i int) int {
	hex := isHex(s[i:])
	fraction := false
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case isWordByte(c):
		case c == '.' && !hex && !fraction && i+1 < len(s) && isDigit(s[i+1]):
			fraction = true
		case c == '-' && !hex && (s[i-1] == 'e' || s[i-1] == 'E') && i+1 < len(s) && isDigit(s[i+1]):
			fraction = true // only digits may follow
		default:
			return i
		}
	}
	return i
}

func isHex(s string) bool { return len(s) > 1 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') }

// numberValue returns the value of a numeric literal. If the literal is invalid, message says why.
func numberValue(text string) (v value.Value, message string) {
	digits, base := text, 10
	switch {
	case isHex(text):
		digits, base = text[2:], 16
	case len(text) > 1 && text[0] == '0' && text[1] != '.':
		base = 8
	case !decimal(text):
		return floatValue(text)
	}
	n, err := strconv.ParseInt(digits, base, 64)
	switch {
	case err == nil:
		return value.FromInt(n), ""
	case isRange(err):
		return v, text + " is too big for an integer"
	case base == 8:
		return v, text + " is not an octal number, although it begins with 0"
	case base == 16:
		return v, text + " is not a hexadecimal number"
	}
	return v, text + " is not a number"
}

func floatValue(text string) (v value.Value, message string) {
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case isRange(err):
		return v, text + " is too big for a float"
	case err != nil || !plainFloat(text):
		return v, text + " is not a number"
	}
	return value.FromFloat(f), ""
}

func isRange(err error) bool {
	e, ok := err.(*strconv.NumError)
	return ok && e.Err == strconv.ErrRange
}

func decimal(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// plainFloat reports whether s has none of the spellings that only Go accepts, such as 1_0, 1p3 and inf.
func plainFloat(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isDigit(c) && c != '.' && c != '-' && c != 'e' && c != 'E' {
			return false
		}
	}
	return true
}
