package types

import (
	"math"
	"strconv"

	"bindc/internal/value"
)

// String returns the canonical text of t. Parse accepts it, unless t comes from ParseDeclared.
func (t *Type) String() string {
	if t == nil {
		return names[Any]
	}
	return string(t.appendText(nil))
}

func (t *Type) appendText(dst []byte) []byte {
	if t.kind == alias || t.kind == foreign {
		return append(dst, t.texts[0]...)
	}
	dst = append(dst, names[t.kind]...)
	if t.plain {
		return dst
	}
	at := len(dst)
	dst = append(dst, '[')
	dst = t.appendParams(dst)
	if len(dst) == at+1 { // an exact String is printed without its text
		return dst[:at]
	}
	return append(dst, ']')
}

func (t *Type) appendParams(dst []byte) []byte {
	switch t.kind {
	case Boolean:
		return strconv.AppendBool(dst, t.truth)
	case Float:
		return t.appendFloats(dst)
	case Enum:
		return t.appendEnum(dst)
	case Pattern, Regexp:
		return appendList(dst, len(t.texts), func(dst []byte, i int) []byte {
			return append(dst, value.Slashed(t.texts[i])...)
		})
	case Struct:
		return t.appendMembers(dst)
	case Array, Hash:
		if t.max == 0 {
			return append(dst, "0, 0"...)
		}
	case Optional, NotUndef:
		if e := t.args[0]; e.kind == String && e.exact {
			return append(dst, value.Quote(e.texts[0])...)
		}
	}
	dst = appendList(dst, len(t.args), func(dst []byte, i int) []byte { return t.args[i].appendText(dst) })
	return t.appendSpan(dst, len(t.args) > 0)
}

func appendList(dst []byte, n int, element func([]byte, int) []byte) []byte {
	for i := range n {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = element(dst, i)
	}
	return dst
}

// appendSpan appends the range of t unless it includes everything. If follows is set, it appends a comma first.
func (t *Type) appendSpan(dst []byte, follows bool) []byte {
	switch t.kind {
	case Tuple, Callable:
		if !t.exact {
			return dst
		}
	case Integer, String, Collection, Array, Hash:
		if t.exact || t.unbounded() {
			return dst
		}
	default:
		return dst
	}
	if follows {
		dst = append(dst, ", "...)
	}
	if t.kind == Integer && t.min == math.MinInt64 {
		dst = append(dst, "default"...)
	} else {
		dst = strconv.AppendInt(dst, t.min, 10)
	}
	if t.max != math.MaxInt64 {
		dst = strconv.AppendInt(append(dst, ", "...), t.max, 10)
	}
	return dst
}

func (t *Type) appendFloats(dst []byte) []byte {
	if math.IsInf(t.from, -1) {
		dst = append(dst, "default"...)
	} else {
		dst = value.AppendFloat(dst, t.from)
	}
	if !math.IsInf(t.to, 1) {
		dst = value.AppendFloat(append(dst, ", "...), t.to)
	}
	return dst
}

func (t *Type) appendEnum(dst []byte) []byte {
	dst = appendList(dst, len(t.texts), func(dst []byte, i int) []byte {
		return append(dst, value.Quote(t.texts[i])...)
	})
	if t.fold {
		dst = append(dst, ", true"...)
	}
	return dst
}

func (t *Type) appendMembers(dst []byte) []byte {
	dst = append(dst, '{')
	dst = appendList(dst, len(t.members), func(dst []byte, i int) []byte {
		m := t.members[i]
		key := value.Quote(m.name)
		switch admits := m.value.Accepts(Of(Undef)); {
		case m.optional && !admits:
			key = "Optional[" + key + "]"
		case !m.optional && admits:
			key = "NotUndef[" + key + "]"
		}
		return m.value.appendText(append(append(dst, key...), " => "...))
	})
	return append(dst, '}')
}
