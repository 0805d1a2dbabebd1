package value

import "strconv"

// AppendCell appends a value of a Source in one pass over the encoded bytes. The result is the same as that of
// AppendRich after Read. It only supports undef, booleans, integers, strings of less than 128 bytes that JSON contains
// unchanged, and Arrays and Hashes of these. For any other value, and for a malformed one, ok is false and out is dst.
func (v Value) AppendCell(dst []byte) (out []byte, ok bool) {
	if !v.Deferred() {
		return dst, false
	}
	at := Position(v.num)
	cells := v.ref.reader.cells
	if at >= uint64(len(cells)) {
		return dst, false
	}
	out, _, ok = appendCell(dst, cells[at:], MaxDepth)
	if !ok {
		out = dst
	}
	return out, ok
}

// appendCell appends the value at the start of b and returns the rest of b.
func appendCell(dst []byte, b string, depth int) (out []byte, rest string, ok bool) {
	if text, ok := shortText(b); ok {
		dst, ok = appendPlain(dst, text)
		return dst, b[1+len(text):], ok
	}
	if b == "" {
		return dst, "", false
	}
	tag, rest := b[0], b[1:]
	if tag >= tagSmallInt && tag < tagSmallStr {
		return strconv.AppendInt(dst, int64(tag-tagSmallInt), 10), rest, true
	}
	switch tag {
	case tagUndef:
		return append(dst, "null"...), rest, true
	case tagFalse, tagTrue:
		return strconv.AppendBool(dst, tag == tagTrue), rest, true
	case tagInt:
		v, rest, ok := view(b)
		return strconv.AppendInt(dst, v.Int(), 10), rest, ok
	case tagArray, tagHash:
		if size, body, ok := uvarint(rest); ok && size <= uint64(len(body)) && depth > 0 {
			dst, ok = appendEntryCells(dst, tag, body[:size], depth)
			return dst, body[size:], ok
		}
	}
	return dst, "", false
}

// appendEntryCells appends an Array or a Hash. body has the number of entries and the entries.
func appendEntryCells(dst []byte, tag byte, body string, depth int) (out []byte, ok bool) {
	count, body, ok := uvarint(body)
	if !ok || count > uint64(len(body)) {
		return dst, false
	}
	begin, end := byte('['), byte(']')
	if tag == tagHash {
		begin, end = '{', '}'
	}
	dst = append(dst, begin)
	for i := range count {
		if i > 0 {
			dst = append(dst, ',')
		}
		if tag == tagHash {
			key, ok := shortText(body)
			if !ok || key == "__ptype" {
				return dst, false
			}
			if dst, ok = appendPlain(dst, key); !ok {
				return dst, false
			}
			dst, body = append(dst, ':'), body[1+len(key):]
		}
		if dst, body, ok = appendCell(dst, body, depth-1); !ok {
			return dst, false
		}
	}
	return append(dst, end), body == ""
}
