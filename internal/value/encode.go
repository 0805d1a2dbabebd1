package value

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
)

// An encoded value is a tag byte followed by the content. format.md, section "Values", is
// normative.
//
//	00        undef            01  default
//	02 03     false, true      04  integer: zigzag varint
//	05        float: 8 bytes, IEEE 754, little endian
//	06 07 08  string, regexp, type: uvarint length, bytes
//	09 0a     array, hash: uvarint length in bytes of the rest, uvarint number of entries, the entries
//	40..7f    integer 0 to 63
//	80..ff    string of 0 to 127 bytes
const (
	tagUndef byte = iota
	tagDefault
	tagFalse
	tagTrue
	tagInt
	tagFloat
	tagString
	tagRegexp
	tagType
	tagArray
	tagHash
	tagSmallInt   byte = 0x40
	tagSmallStr   byte = 0x80
	smallInts          = 64
	smallStrBytes      = 128
)

// MaxDepth limits the nesting of encoded values (language.md, section 10).
const MaxDepth = 512

var errMalformed = errors.New("not an encoded value")

// Append appends the encoding of v to dst.
func Append(dst []byte, v Value) []byte {
	switch v.Kind() {
	case Undef:
		return append(dst, tagUndef)
	case Default:
		return append(dst, tagDefault)
	case Bool:
		return append(dst, tagFalse+byte(v.num))
	case Int:
		if v.num < smallInts {
			return append(dst, tagSmallInt|byte(v.num))
		}
		return binary.AppendVarint(append(dst, tagInt), v.Int())
	case Float:
		return binary.LittleEndian.AppendUint64(append(dst, tagFloat), v.num)
	case String:
		if len(v.str) < smallStrBytes {
			return append(append(dst, tagSmallStr|byte(len(v.str))), v.str...)
		}
		return appendText(append(dst, tagString), v.str)
	case Regexp:
		return appendText(append(dst, tagRegexp), v.str)
	case Type:
		return appendText(append(dst, tagType), typeText(v))
	}
	return appendEntries(dst, v)
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func typeText(v Value) string {
	if t := v.Ref(); t != nil {
		return t.String()
	}
	return v.str
}

func appendEntries(dst []byte, v Value) []byte {
	var body []byte
	tag := tagArray
	if v.Kind() == Hash {
		tag = tagHash
		for k, e := range v.Pairs() {
			body = Append(Append(body, k), e)
		}
	} else {
		for e := range v.Elems() {
			body = Append(body, e)
		}
	}
	count := binary.AppendUvarint(nil, uint64(v.Len()))
	dst = binary.AppendUvarint(append(dst, tag), uint64(len(count)+len(body)))
	return append(append(dst, count...), body...)
}

// AppendDistinct appends the same string for two values if and only if they are Identical. NaN is an exception: it
// always has the same string. The string is the encoding with sorted hash entries.
func AppendDistinct(dst []byte, v Value) []byte {
	switch v.Kind() {
	case Array:
		dst = binary.AppendUvarint(append(dst, tagArray), uint64(v.Len()))
		for e := range v.Elems() {
			dst = AppendDistinct(dst, e)
		}
		return dst
	case Hash:
		entries := make([]string, 0, v.Len())
		for k, e := range v.Pairs() {
			entries = append(entries, string(AppendDistinct(AppendDistinct(nil, k), e)))
		}
		slices.Sort(entries)
		dst = binary.AppendUvarint(append(dst, tagHash), uint64(len(entries)))
		return append(dst, strings.Join(entries, "")...)
	case Float:
		return Append(dst, FromFloat(v.Float()+0)) // adding 0 turns -0 into 0
	case Undef:
		if v, err := v.Read(); err == nil && !v.IsUndef() { // v is sensitive
			return AppendDistinct(append(dst, tagHash+1), v)
		}
	}
	return Append(dst, v)
}

// View decodes the value at the start of b without copying: the value refers to b. It validates nested values, too, so
// that iterating over them cannot fail. The result rest is the part of b after the value.
func View(b string) (v Value, rest string, err error) {
	v, rest, ok := view(b)
	if !ok || !Sound(v) {
		return Value{}, "", errMalformed
	}
	return v, rest, nil
}

// Peek works like View but does not validate nested values. Iterating over a malformed one ends early. Callers must
// have validated the encoding elsewhere.
func Peek(b string) (v Value, ok bool) {
	v, _, ok = view(b)
	return v, ok
}

// shortText returns the text if b begins with a string of less than 128 bytes.
func shortText(b string) (text string, ok bool) {
	if b == "" {
		return "", false
	}
	if end := 1 + int(b[0]) - int(tagSmallStr); end > 0 && end <= len(b) {
		return b[1:end], true
	}
	return "", false
}

// Sound reports whether everything inside v is well formed. It is for values from Peek.
func Sound(v Value) bool {
	return !v.encoded() || sound(v, MaxDepth)
}

func sound(v Value, depth int) bool {
	if depth == 0 {
		return false
	}
	entries := v.num
	if v.Kind() == Hash {
		entries *= 2
	}
	b := v.str
	for ; entries > 0; entries-- {
		e, rest, ok := view(b)
		if !ok || e.encoded() && !sound(e, depth-1) {
			return false
		}
		b = rest
	}
	return b == ""
}

// view decodes a value. It checks the length of the value, but not what is inside it.
func view(b string) (v Value, rest string, ok bool) {
	if b == "" {
		return Value{}, "", false
	}
	tag, b := b[0], b[1:]
	switch {
	case tag >= tagSmallStr:
		n := int(tag &^ tagSmallStr)
		if n > len(b) {
			return Value{}, "", false
		}
		return FromString(b[:n]), b[n:], true
	case tag >= tagSmallInt:
		return FromInt(int64(tag &^ tagSmallInt)), b, true
	}
	switch tag {
	case tagUndef:
		return Value{}, b, true
	case tagDefault:
		return TheDefault(), b, true
	case tagFalse, tagTrue:
		return FromBool(tag == tagTrue), b, true
	case tagInt:
		n, rest, ok := uvarint(b)
		return FromInt(int64(n>>1) ^ -int64(n&1)), rest, ok
	case tagFloat:
		if len(b) < 8 {
			return Value{}, "", false
		}
		return FromFloat(math.Float64frombits(le64(b))), b[8:], true
	case tagString, tagRegexp, tagType, tagArray, tagHash:
		n, b, ok := uvarint(b)
		if !ok || n > uint64(len(b)) {
			return Value{}, "", false
		}
		return viewLong(tag, b[:n], b[n:])
	}
	return Value{}, "", false
}

func viewLong(tag byte, body, rest string) (Value, string, bool) {
	switch tag {
	case tagString:
		return FromString(body), rest, true
	case tagRegexp:
		return FromRegexp(body), rest, true
	case tagType:
		return FromType(typeName(body)), rest, true
	}
	count, body, ok := uvarint(body)
	if !ok || count > uint64(len(body)) { // an entry takes at least one byte
		return Value{}, "", false
	}
	kind := Array
	if tag == tagHash {
		kind = Hash
	}
	return Value{ref: &plain[kind], num: count, str: body}, rest, true
}

// Entry finds a String key in the encoded Hash at position at of b. It returns the position in b of the key's encoded
// value. It does not decode or check the values of other entries.
func Entry(b string, at int, key string) (int, bool) {
	if at < 0 || at+3 > len(b) || b[at] != tagHash {
		return 0, false
	}
	size, n := b[at+1], b[at+2]
	if end := at + 2 + int(size); 0 < size && end <= len(b) && size|n < 0x80 { // the usual case: numbers of one byte
		return entry(b[:end], at+3, uint64(n), key)
	}
	v, rest, ok := view(b[at:])
	if !ok {
		return 0, false
	}
	b = b[:len(b)-len(rest)]
	return entry(b, len(b)-len(v.str), v.num, key)
}

// entry is Entry for the n entries from position at on.
func entry(b string, at int, n uint64, key string) (int, bool) {
	tag := min(int(tagSmallStr)+len(key), 1<<8) // tag of a short string with the length of key
	for ; n > 0 && at < len(b); n-- {
		if end := at + 1 + len(key); int(b[at]) == tag && end < len(b) && b[at+1:end] == key {
			return end, true
		}
		rest, same, ok := skipKey(b[at:], key)
		if same {
			return len(b) - len(rest), rest != ""
		}
		if ok {
			rest, ok = skip(rest)
		}
		if !ok {
			break
		}
		at = len(b) - len(rest)
	}
	return 0, false
}

// skipKey skips the encoded key of a Hash entry. same reports whether it is the String key.
func skipKey(b, key string) (rest string, same, ok bool) {
	if text, short := shortText(b); short { // entry has already compared a short string
		return b[1+len(text):], false, true
	}
	k, rest, ok := view(b)
	return rest, ok && k.is(String) && k.str == key, ok
}

// skip returns b without the encoded value at its start. It does not check what is inside the value.
func skip(b string) (rest string, ok bool) {
	if b == "" {
		return "", false
	}
	size := 1
	switch tag := b[0]; {
	case tag >= tagSmallStr:
		size += int(tag &^ tagSmallStr)
	case tag == tagFloat:
		size += 8
	case tag == tagInt:
		_, rest, ok = uvarint(b[1:])
		return rest, ok
	case tag > tagInt && tag < tagSmallInt:
		n, rest, ok := uvarint(b[1:])
		if !ok || n > uint64(len(rest)) || tag > tagHash {
			return "", false
		}
		return rest[n:], true
	}
	if size > len(b) {
		return "", false
	}
	return b[size:], true
}

// typeName is an encoded type: its text, which package types has not parsed yet.
type typeName string

func (t typeName) String() string { return string(t) }

func le64(b string) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// uvarint works like binary.Uvarint on a string.
func uvarint(b string) (n uint64, rest string, ok bool) {
	for i := 0; i < len(b) && i < binary.MaxVarintLen64; i++ {
		c := b[i]
		if c < 0x80 {
			if i == binary.MaxVarintLen64-1 && c > 1 {
				return 0, "", false
			}
			return n | uint64(c)<<(7*i), b[i+1:], true
		}
		n |= uint64(c&0x7f) << (7 * i)
	}
	return 0, "", false
}
