package value

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
)

// RepeatedMember returns a name that occurs in a JSON object more than once with different values. encoding/json
// silently uses the last of them. Like encoding/json, it ignores the case of names. The object must be valid.
func RepeatedMember(object []byte) (name string, repeated bool) {
	seen := map[string][]byte{} // source text of each value, by lower-case name
	for name, val := range Members(object) {
		lower := strings.ToLower(string(name))
		if first, twice := seen[lower]; twice && !bytes.Equal(first, val) {
			return string(name), true
		}
		seen[lower] = val
	}
	return "", false
}

// Members returns an iterator over the names and the source texts of the values in a JSON object. The object must be
// valid.
func Members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, val []byte) bool) {
		r := memberReader{text: bytes.TrimSpace(object)}
		for {
			name, val, ok := r.next()
			if !ok || !yield(name, val) {
				return
			}
		}
	}
}

type memberReader struct {
	text []byte
	at   int
}

// next returns the name and the source text of the value of the next member. It returns false after
// the last one.
func (r *memberReader) next() (name, val []byte, ok bool) {
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

// unquoted decodes a JSON string, which includes its quotes.
func unquoted(quoted []byte) []byte {
	var text string
	if bytes.IndexByte(quoted, '\\') >= 0 && json.Unmarshal(quoted, &text) == nil {
		return []byte(text)
	}
	return quoted[1 : len(quoted)-1]
}

// skipValue moves to the comma or brace that follows a value.
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

func (r *memberReader) endOfString(start int) int {
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
