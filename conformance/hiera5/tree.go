package hiera5

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Map is a mapping with ordered keys. Merges and Ruby's text form of hashes depend on the order.
// Keys are strings or, in YAML, integers. Values are nil, bool, int, float64, string, []any or Map.
type Map []Pair

type Pair struct{ Key, Value any }

// Get returns the value of a key, or nil if the key does not exist.
func (m Map) Get(key any) any {
	for _, p := range m {
		if p.Key == key {
			return p.Value
		}
	}
	return nil
}

// with sets a key and returns the mapping. It modifies m if the key exists; the key then keeps its
// position.
func (m Map) with(key, value any) Map {
	for i := range m {
		if m[i].Key == key {
			m[i].Value = value
			return m
		}
	}
	return append(m, Pair{key, value})
}

func (m Map) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, p := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(jsonText(fmt.Sprint(p.Key)) + ":" + jsonText(p.Value))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func jsonText(v any) string {
	if f, ok := v.(float64); ok {
		return floatText(f)
	}
	if list, ok := v.([]any); ok {
		var parts []string
		for _, e := range list {
			parts = append(parts, jsonText(e))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // impossible: a Map contains only values that JSON has
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// floatText formats a float with a decimal point, so that YAML and JSON do not read it as an
// integer.
func floatText(f float64) string {
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if mantissa, exponent, ok := strings.Cut(text, "e"); ok && !strings.Contains(mantissa, ".") {
		return mantissa + ".0e" + exponent
	} else if !ok && !strings.Contains(text, ".") {
		return text + ".0"
	}
	return text
}

func yamlText(m Map) string {
	var b strings.Builder
	b.WriteString("---\n")
	yamlBlock(&b, "", m)
	return b.String()
}

func yamlBlock(b *strings.Builder, indent string, v any) {
	switch v := v.(type) {
	case Map:
		for _, p := range v {
			b.WriteString(indent + yamlScalar(p.Key) + ":")
			yamlBelow(b, indent, p.Value)
		}
	case []any:
		for _, e := range v {
			b.WriteString(indent + "-")
			yamlBelow(b, indent, e)
		}
	}
}

// yamlBelow writes a value as it follows a key or a dash.
func yamlBelow(b *strings.Builder, indent string, v any) {
	switch c := v.(type) {
	case Map:
		if len(c) > 0 {
			b.WriteByte('\n')
			yamlBlock(b, indent+"  ", c)
			return
		}
		b.WriteString(" {}\n")
	case []any:
		if len(c) > 0 {
			b.WriteByte('\n')
			yamlBlock(b, indent+"  ", c)
			return
		}
		b.WriteString(" []\n")
	default:
		b.WriteString(" " + yamlScalar(v) + "\n")
	}
}

// yamlScalar formats a scalar. It quotes strings that YAML might read as another type.
func yamlScalar(v any) string {
	text, ok := v.(string)
	switch {
	case !ok && v == nil:
		return "~"
	case !ok:
		return jsonText(v)
	case strings.ContainsAny(text, "\t\n"):
		return jsonText(text)
	case plainText(text):
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// plainText reports whether text needs no quotes in YAML. It accepts only lower-case names of at
// least three characters that are not special words.
func plainText(text string) bool {
	if len(text) < 3 || text[0] < 'a' || text[0] > 'z' {
		return false
	}
	for _, word := range []string{"true", "false", "null", "yes", "off"} {
		if text == word {
			return false
		}
	}
	return strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789_./-") == ""
}
