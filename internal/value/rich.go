package value

import (
	"encoding/base64"
	"math"
)

// AppendRich appends v in Puppet's rich data format. It works like AppendJSON, except that values without a JSON form
// become objects with __ptype and __pvalue (docs/serve.md). The result rich reports whether there are any.
func AppendRich(dst []byte, v Value) (out []byte, rich bool) {
	switch v.Kind() {
	case Default:
		return append(dst, `{"__ptype":"Default"}`...), true
	case Regexp:
		return appendPtype(dst, "Regexp", v.Text()), true
	case Type:
		return appendPtype(dst, "Type", v.Ref().String()), true
	case Float:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return appendPtype(dst, "Float", string(AppendFloat(nil, f))), true
		}
	case String:
		if out, ok := appendPlain(dst, v.Text()); ok {
			return out, false
		}
		if !isUTF8(v.Text()) {
			return appendPtype(dst, "Binary", base64.StdEncoding.EncodeToString([]byte(v.Text()))), true
		}
	case Array:
		return appendRichArray(dst, v)
	case Hash:
		return appendRichHash(dst, v)
	}
	return AppendJSON(dst, v), false
}

func appendPtype(dst []byte, name, text string) []byte {
	dst = append(append(append(dst, `{"__ptype":"`...), name...), `","__pvalue":`...)
	return append(appendJSONString(dst, text), '}')
}

func appendRichArray(dst []byte, v Value) (out []byte, rich bool) {
	dst = append(dst, '[')
	begin := len(dst)
	for e := range v.Elems() {
		if len(dst) > begin {
			dst = append(dst, ',')
		}
		var r bool
		dst, r = AppendRich(dst, e)
		rich = rich || r
	}
	return append(dst, ']'), rich
}

// appendRichHash appends a hash. It uses an object with a list of keys and values if a key is not a JSON string, or is
// __ptype.
func appendRichHash(dst []byte, v Value) (out []byte, rich bool) {
	begin, between, end := "{", byte(':'), "}"
	for k := range v.Pairs() {
		if k.Kind() != String || k.Text() == "__ptype" || !isUTF8(k.Text()) {
			begin, between, end, rich = `{"__ptype":"Hash","__pvalue":[`, ',', "]}", true
			break
		}
	}
	dst = append(dst, begin...)
	from := len(dst)
	for k, e := range v.Pairs() {
		if len(dst) > from {
			dst = append(dst, ',')
		}
		var key, val bool
		dst, key = AppendRich(dst, k)
		dst, val = AppendRich(append(dst, between), e)
		rich = rich || key || val
	}
	return append(dst, end...), rich
}
