package serve

import (
	"strconv"
	"strings"

	"bindc/internal/value"
)

// decodePlain is a fast decoder for the question 'keys' in the form in which programs write it: only the members ask,
// session and keys, without white space, whose strings are plain. For any other text it returns false. A question may
// have a thousand keys, and encoding/json would take longer to decode it than the lookups take.
func decodePlain(text string) (q question, ok bool) {
	if !strings.HasPrefix(text, "{") {
		return question{}, false
	}
	for text[0] != '}' {
		name, rest, ok := plainText(text[1:])
		if !ok || !strings.HasPrefix(rest, ":") {
			return question{}, false
		}
		if text, ok = q.setPlain(name, rest[1:]); !ok || text == "" || text[0] != ',' && text[0] != '}' {
			return question{}, false
		}
	}
	if text != "}" || q.Ask != "keys" || q.Session == nil || q.Keys == nil {
		return question{}, false
	}
	q.plainKeys = true
	return q, true
}

// setPlain sets the member with the given name to the value at the start of text, and returns the text after the value.
// It returns false if the member is already set.
func (q *question) setPlain(name, text string) (rest string, ok bool) {
	switch {
	case name == "ask" && q.Ask == "":
		q.Ask, rest, ok = plainText(text)
		return rest, ok && q.Ask == "keys"
	case name == "keys" && q.Keys == nil:
		q.Keys, rest, ok = plainList(text)
		return rest, ok
	case name == "session" && q.Session == nil:
		digits := text[:max(strings.IndexAny(text, ",}"), 0)]
		n, err := strconv.ParseInt(digits, 10, 64)
		q.Session = &n
		return text[len(digits):], err == nil && strconv.FormatInt(n, 10) == digits
	}
	return "", false
}

// plainList decodes the list of strings at the start of text, and returns the text after it.
func plainList(text string) (list []string, rest string, ok bool) {
	if !strings.HasPrefix(text, `["`) {
		return nil, "", false
	}
	list = make([]string, 0, len(text)/24)
	for text[0] != ']' {
		item, rest, ok := plainText(text[1:])
		if !ok || rest == "" || rest[0] != ',' && rest[0] != ']' {
			return nil, "", false
		}
		list, text = append(list, item), rest
	}
	return list, text[1:], true
}

// plainText decodes the JSON string at the start of text, and returns the text after it. It returns false if the string
// has characters other than plain ones, see value.IsPlain.
func plainText(text string) (s, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		return "", "", false
	}
	end := strings.IndexByte(text[1:], '"')
	if end < 0 {
		return "", "", false
	}
	s, rest = text[1:1+end], text[end+2:]
	return s, rest, value.IsPlain(s)
}
