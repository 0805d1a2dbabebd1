// Package members reads the names of the members of a JSON object, to find those that encoding/json drops without an
// error.
package members

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
)

// Repeated returns the name of a member that a JSON object gives twice with different values. object is valid JSON.
// Names are compared as encoding/json does, which ignores case.
func Repeated(object []byte) (name string, repeated bool) {
	seen := map[string][]byte{} // the text of each value, by name
	for name, val := range All(object) {
		lower := strings.ToLower(string(name))
		if first, twice := seen[lower]; twice && !bytes.Equal(first, val) {
			return string(name), true
		}
		seen[lower] = val
	}
	return "", false
}

// All yields the name of each member of a JSON object with the text of its value. object is valid JSON.
func All(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, val []byte) bool) {
		r := reader{text: bytes.TrimSpace(object)}
		for {
			name, val, ok := r.next()
			if !ok || !yield(name, val) {
				return
			}
		}
	}
}

// reader reads the members of a valid JSON object, and nothing inside of their values.
type reader struct {
	text []byte
	at   int
}

// next returns the name of the next member and the text of its value.
func (r *reader) next() (name, val []byte, ok bool) {
	start := bytes.IndexByte(r.text[r.at:], '"')
	if start < 0 {
		return nil, nil, false
	}
	r.at += start
	quoted := r.text[r.at:r.endOfString(r.at)]
	r.at += len(quoted)
	r.at += bytes.IndexByte(r.text[r.at:], ':') + 1
	begin := r.at
	r.skipValue()
	return unquoted(quoted), bytes.TrimSpace(r.text[begin:r.at]), true
}

// unquoted returns the text of a JSON string.
func unquoted(quoted []byte) []byte {
	var text string
	if bytes.IndexByte(quoted, '\\') >= 0 && json.Unmarshal(quoted, &text) == nil {
		return []byte(text)
	}
	return quoted[1 : len(quoted)-1]
}

// skipValue moves to the comma or brace that ends a member.
func (r *reader) skipValue() {
	for depth := 0; r.at < len(r.text); r.at++ {
		switch r.text[r.at] {
		case '"':
			r.at = r.endOfString(r.at) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return
			}
			depth--
		case ',':
			if depth == 0 {
				return
			}
		}
	}
}

// endOfString returns the offset after the string that starts at start.
func (r *reader) endOfString(start int) int {
	end := start + 1 + bytes.IndexByte(r.text[start+1:], '"')
	if r.text[end-1] != '\\' {
		return end + 1
	}
	for i := start + 1; ; i++ {
		switch r.text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}
