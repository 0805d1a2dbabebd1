package value

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// AppendJSON appends v as JSON. Hashes keep their order. Keys that are not strings, regular expressions, types, NaN and
// infinities become text, and default becomes {"__default__": 1}. A finite float always has a decimal point: 1.0 is
// 1.0.
func AppendJSON(dst []byte, v Value) []byte {
	switch v.Kind() {
	case Undef:
		return append(dst, "null"...)
	case Default:
		return append(dst, `{"__default__":1}`...)
	case Bool:
		return strconv.AppendBool(dst, v.num == 1)
	case Int:
		return strconv.AppendInt(dst, v.Int(), 10)
	case Float:
		return appendJSONFloat(dst, v.Float())
	case String:
		return appendJSONString(dst, v.Text())
	case Array:
		dst = append(dst, '[')
		first := true
		for e := range v.Elems() {
			if !first {
				dst = append(dst, ',')
			}
			dst, first = AppendJSON(dst, e), false
		}
		return append(dst, ']')
	case Hash:
		dst = append(dst, '{')
		first := true
		for k, e := range v.Pairs() {
			if !first {
				dst = append(dst, ',')
			}
			text := k.Text()
			if !k.is(String) {
				text = string(AppendText(nil, k))
			}
			dst = append(appendJSONString(dst, text), ':')
			dst, first = AppendJSON(dst, e), false
		}
		return append(dst, '}')
	}
	return appendJSONString(dst, string(AppendText(nil, v)))
}

func appendJSONFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return appendJSONString(dst, string(AppendFloat(nil, f)))
	}
	return AppendFloat(dst, f)
}

// appendJSONString appends s as a JSON string. It escapes only what JSON requires, and replaces bytes that are not
// UTF-8.
func appendJSONString(dst []byte, s string) []byte {
	if out, ok := appendPlain(dst, s); ok {
		return out
	}
	const hex = "0123456789abcdef"
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	dst = append(dst, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(dst, s[from:]...), '"')
}
