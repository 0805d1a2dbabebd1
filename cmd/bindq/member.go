package main

import (
	"bytes"
	"encoding/json"
	"strings"
)

// repeatedMember returns the name of a member that the JSON object in text gives twice with different values. Text is
// valid JSON. Names are compared as encoding/json does, which ignores case.
func repeatedMember(text []byte) (name string, twice bool) {
	seen := map[string][]byte{} // the text of each value, by name
	object := memberReader{text: bytes.TrimSpace(text)}
	for {
		name, val, ok := object.next()
		if !ok {
			return "", false
		}
		if first, known := seen[strings.ToLower(name)]; known && !bytes.Equal(first, val) {
			return name, true
		}
		seen[strings.ToLower(name)] = val
	}
}

// memberReader reads the members of a valid JSON object, and nothing inside of their values.
type memberReader struct {
	text []byte
	at   int
}

// next returns the name of the next member and the text of its value.
func (r *memberReader) next() (name string, val []byte, ok bool) {
	start := bytes.IndexByte(r.text[r.at:], '"')
	if start < 0 {
		return "", nil, false
	}
	r.at += start
	quoted := r.text[r.at:r.endOfString(r.at)]
	r.at += len(quoted)
	if json.Unmarshal(quoted, &name) != nil {
		return "", nil, false
	}
	r.at += bytes.IndexByte(r.text[r.at:], ':') + 1
	begin := r.at
	r.skipValue()
	return name, bytes.TrimSpace(r.text[begin:r.at]), true
}

// skipValue moves to the comma or brace that ends a member.
func (r *memberReader) skipValue() {
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
func (r *memberReader) endOfString(start int) int {
	for i := start + 1; i < len(r.text); i++ {
		switch r.text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(r.text)
}
