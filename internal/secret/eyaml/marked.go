package eyaml

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"bindc/internal/pattern"
)

// mark matches the beginning of a string to encrypt, such as DEC::PKCS7[. It also matches misspelt
// beginnings, for which the submatch is empty.
var mark = pattern.Lazy(`DEC(?:\(\d+\))?::(\w+)\[|(?i:\bDEC[ \t]*(?:\([^()\n]*\))?[ \t]*:+[ \t]*PKCS7\b)`)

// MarkError is an error in a mark for encryption. Line and Col count from 1. Problem does not
// contain the marked text.
type MarkError struct {
	Line, Col int
	Problem   string
}

func (e *MarkError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Col, e.Problem) }

// EncryptMarked encrypts all strings marked with DEC::PKCS7[...]!, as hiera-eyaml's edit command
// does. It returns the new text and the number of encrypted strings. If a mark is invalid, the
// error is a *MarkError.
func (p *PublicKey) EncryptMarked(text string) (out string, n int, err error) {
	var b strings.Builder
	for rest := text; ; n++ {
		m := mark().FindStringSubmatchIndex(rest)
		if m == nil {
			b.WriteString(rest)
			return b.String(), n, nil
		}
		plain, length, problem := marked(rest, m)
		if problem != "" {
			return "", 0, markError(text, len(text)-len(rest)+m[0], problem)
		}
		encrypted, err := p.Encrypt(plain)
		if err != nil {
			return "", 0, err
		}
		b.WriteString(rest[:m[0]] + encrypted)
		rest = rest[m[1]+length:]
	}
}

// markEnd follows a string to encrypt.
const markEnd = "]!"

// marked returns the text to encrypt after the mark m in s. length includes the closing ']!'. If it
// is unclear where the text ends, marked returns a problem, because the rest of the text would
// remain unencrypted.
func marked(s string, m []int) (plain string, length int, problem string) {
	if m[2] < 0 {
		return "", 0, "expected 'DEC::PKCS7[', the text to be encrypted, and ']!'"
	}
	if s[m[2]:m[3]] != "PKCS7" {
		return "", 0, "expected the method PKCS7, as in 'DEC::PKCS7['"
	}
	rest := s[m[1]:]
	if next := mark().FindStringIndex(rest); next != nil {
		rest = rest[:next[0]]
	}
	plain, after, ended := strings.Cut(rest, markEnd)
	line, _, _ := strings.Cut(after, "\n")
	switch {
	case !ended:
		problem = "expected ']!' at the end of the text to be encrypted"
	case plain == "":
		problem = "expected text between 'DEC::PKCS7[' and ']!'"
	case strings.Contains(line, markEnd):
		problem = "expected one ']!', at the end of the text to be encrypted: write a string that contains ']!' as " +
			"'bindc eyaml encrypt' prints it"
	}
	return plain, len(plain) + len(markEnd), problem
}

func markError(text string, at int, problem string) error {
	before := text[:at]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return &MarkError{strings.Count(before, "\n") + 1, utf8.RuneCountInString(line) + 1, problem}
}
