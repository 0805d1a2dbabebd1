// Package lookupkey parses the keys of Hiera 5 lookups, and digs into values. The key a.b.0 means the first element of
// entry b in the value of key a. In quotes, "a.b" is a single segment.
package lookupkey

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"bindc/internal/pattern"
	"bindc/internal/value"
)

// Key is a parsed lookup key.
type Key struct {
	Text string
	Root string        // the first segment, which is bound in data
	Path []value.Value // keys (String) and indexes (Int) to look up in the value of Root, one inside another
}

// KeyError reports that a string is not a valid key.
type KeyError struct{ Text, Message string }

func (e *KeyError) Error() string {
	return fmt.Sprintf("'%s' is not a valid key: %s", e.Text, e.Message)
}

// Parse parses a lookup key. The error is a *KeyError.
func Parse(text string) (Key, error) {
	segments, err := Split(text)
	if err != nil {
		return Key{}, err
	}
	if segments[0].Kind() != value.String {
		return Key{}, &KeyError{text, "it must not begin with a number; put the number in quotes"}
	}
	return Key{Text: text, Root: segments[0].Text(), Path: segments[1:]}, nil
}

const options = "lookup_options"

// Reserved reports whether text is lookup_options or a dotted key that begins with it. Such keys cannot be looked up.
func Reserved(text string) bool { return text == options || strings.HasPrefix(text, options+".") }

// Module returns the name of the module whose data may bind root: the part before the first ::, or "" if there is none.
func Module(root string) string {
	name, _, qualified := strings.Cut(root, "::")
	switch {
	case !qualified:
		return ""
	case name == "":
		return root // Puppet uses the whole name, which is never that of a module
	}
	return name
}

const special = `'".`

// hasSpecial is a faster strings.ContainsAny(text, special).
func hasSpecial(text string) bool {
	return strings.IndexByte(text, '.') >= 0 || strings.IndexByte(text, '\'') >= 0 || strings.IndexByte(text, '"') >= 0
}

// Quoted returns a key whose only segment is root. It adds quotes if necessary. It returns false if root contains both
// kinds of quotes.
func Quoted(root string) (string, bool) {
	switch {
	case !strings.ContainsAny(root, special):
		return root, true
	case !strings.Contains(root, `"`):
		return `"` + root + `"`, true
	case !strings.Contains(root, "'"):
		return "'" + root + "'", true
	}
	return "", false
}

var (
	errEmpty   = errors.New("there is nothing between two dots, before the first dot or after the last one")
	errQuote   = errors.New("quotes must enclose everything between two dots, and must not be empty")
	errUnended = errors.New("a quote is not closed")
)

// Split splits a key at the dots outside quotes. Segments that are numbers without quotes become Ints, all others
// Strings. There is at least one segment. The error is a *KeyError.
func Split(text string) ([]value.Value, error) {
	if !hasSpecial(text) {
		return []value.Value{value.FromString(text)}, nil
	}
	var out []value.Value
	for rest := text; ; rest = rest[1:] {
		segment, after, err := next(rest)
		if err == nil && after != "" && after[0] != '.' {
			err = errQuote
		}
		if err != nil {
			return nil, &KeyError{text, err.Error()}
		}
		out = append(out, segment)
		if rest = after; rest == "" {
			return out, nil
		}
	}
}

// Join is the inverse of Split, except that it may lose white space around segments.
func Join(segments []value.Value) string {
	parts := make([]string, len(segments))
	for i, s := range segments {
		text := s.Text()
		bare := !strings.ContainsAny(text, special) && strings.Trim(text, blanks) == text
		switch {
		case s.Kind() == value.Int:
			parts[i] = strconv.FormatInt(s.Int(), 10)
		case text == "":
			parts[i] = " "
		case bare && (len(segments) == 1 || !number().MatchString(text)):
			parts[i] = text
		case strings.Contains(text, "'"):
			parts[i] = `"` + text + `"`
		default:
			parts[i] = "'" + text + "'"
		}
	}
	return strings.Join(parts, ".")
}

// White space in Ruby: spaces is what \s matches, and blanks is what strip removes.
const (
	spaces = " \t\n\v\f\r"
	blanks = spaces + "\x00"
)

func next(text string) (segment value.Value, rest string, err error) {
	trimmed := strings.TrimLeft(text, spaces)
	if trimmed != "" && strings.IndexByte(`"'`, trimmed[0]) >= 0 {
		inner, rest, closed := strings.Cut(trimmed[1:], trimmed[:1])
		switch {
		case !closed:
			return value.Value{}, "", errUnended
		case inner == "":
			return value.Value{}, "", errQuote
		}
		return value.FromString(inner), strings.TrimLeft(rest, spaces), nil
	}
	end := strings.IndexAny(text, special)
	if end < 0 {
		end = len(text)
	}
	if end == 0 {
		return value.Value{}, "", errEmpty
	}
	return bare(strings.Trim(text[:end], blanks)), text[end:], nil
}

// number matches a numeric segment. As in Ruby, a segment is numeric if any of its lines is a number. Its value comes
// from the first line.
var number = pattern.Lazy(`(?m)^:?[+-]?[0-9]+$`)

func bare(segment string) value.Value {
	if number().MatchString(segment) {
		return value.FromInt(leadingNumber(segment))
	}
	return value.FromString(segment)
}

// leadingNumber converts the number at the start of s, as Ruby's to_i does. If the number does not fit 64 bits, the
// result is the nearest int64.
func leadingNumber(s string) int64 {
	digits := strings.TrimLeft(s, "+-")
	end := 0
	for end < len(digits) && '0' <= digits[end] && digits[end] <= '9' {
		end++
	}
	n, _ := strconv.ParseInt(s[:len(s)-len(digits)+end], 10, 64) // n is 0 if there are no digits
	return n
}
