// Package lookupkey takes apart the keys that Hiera 5 is asked for, and digs in what is found. 'a.b.0' is the key a, in
// its value the key b, and in that the first element; "a.b" in quotes is one key.
package lookupkey

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"bindc/internal/pattern"
	"bindc/internal/value"
)

// Key is a key as it is asked for.
type Key struct {
	Text string
	Root string        // the key that data is bound to
	Path []value.Value // what to dig for in its value, from the outside in: Strings and Ints
}

// KeyError says that a text is no key.
type KeyError struct{ Text, Message string }

func (e *KeyError) Error() string {
	return fmt.Sprintf("'%s' is not a valid key: %s", e.Text, e.Message)
}

// Parse takes a key apart. The error is an *Error.
func Parse(text string) (Key, error) {
	segments, err := Split(text)
	if err != nil {
		return Key{}, err
	}
	if segments[0].Kind() != value.String {
		return Key{}, &KeyError{text, "it must not begin with a number; put that in quotes"}
	}
	return Key{Text: text, Root: segments[0].Text(), Path: segments[1:]}, nil
}

// options is the key that says how others are looked up.
const options = "lookup_options"

// Reserved tells whether text asks for the lookup_options, which are nothing to be looked up.
func Reserved(text string) bool { return text == options || strings.HasPrefix(text, options+".") }

// Module is the name of the module that root may be bound in: what is before the first ::, else nothing.
func Module(root string) string {
	name, _, qualified := strings.Cut(root, "::")
	switch {
	case !qualified:
		return ""
	case name == "":
		return root // Puppet takes all of it, and finds no such module
	}
	return name
}

const special = `'".`

// Quoted is root as it has to be written where it is looked up. There is no way to if it has quotes of both kinds.
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
	errEmpty   = errors.New("nothing is between two dots, before the first or after the last")
	errQuote   = errors.New("quotes must enclose everything between two dots, and something must be inside them")
	errUnended = errors.New("a quote is not closed")
)

// Split takes text apart at its dots: Strings, and Ints where a number is not in quotes. There is at least one. The
// error is an *Error.
func Split(text string) ([]value.Value, error) {
	if !strings.ContainsAny(text, special) {
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

// Join is the text that Split takes apart into segments, with white space around it or without.
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

// The characters that Ruby takes for white space, in an expression and when it strips a text.
const (
	spaces = " \t\n\v\f\r"
	blanks = spaces + "\x00"
)

// next is the segment that text begins with, and what is behind it.
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

// number is what makes a segment a number. Ruby looks at each line of it, and takes the number from the first.
var number = pattern.Lazy(`(?m)^:?[+-]?[0-9]+$`)

func bare(segment string) value.Value {
	if number().MatchString(segment) {
		return value.FromInt(leadingNumber(segment))
	}
	return value.FromString(segment)
}

// leadingNumber is Ruby's to_i. What 64 bits do not hold is further away than any element.
func leadingNumber(s string) int64 {
	digits := strings.TrimLeft(s, "+-")
	end := 0
	for end < len(digits) && '0' <= digits[end] && digits[end] <= '9' {
		end++
	}
	n, _ := strconv.ParseInt(s[:len(s)-len(digits)+end], 10, 64) // of what is too large the nearest, of what is none 0
	return n
}
