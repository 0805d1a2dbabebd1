package stdlib

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/expr/ruby"
	"bindc/internal/pattern"
	"bindc/internal/types"
	"bindc/internal/value"
)

// textFormat is a format for values of one type: %<flags><width>.<precision><letter>. For collections, it includes
// the separators and the formats of elements.
type textFormat struct {
	directive
	source                string
	letter                byte
	open                  byte // opening delimiter: one of [ { ( < |, or 0
	separator, separator2 *string
	inner                 formatMap
}

// formatMap lists formats by type. The first format whose type fits a value is used.
type formatMap []typeFormat

type typeFormat struct {
	typ    *types.Type
	format *textFormat
}

func (m formatMap) find(t *types.Type) *textFormat {
	for _, tf := range m {
		if tf.typ.Accepts(t) {
			return tf.format
		}
	}
	return simpleFormat('s')
}

func simpleFormat(letter byte) *textFormat {
	return &textFormat{directive: directive{precision: -1}, source: "%" + string(letter), letter: letter}
}

// defaultFormats returns the formats for values without an explicit format. Strings in collections are quoted.
func defaultFormats() formatMap {
	return formatMap{
		{types.Of(types.Float), simpleFormat('f')},
		{types.Of(types.Numeric), simpleFormat('d')},
		{types.Of(types.Array), collectionFormat('a')},
		{types.Of(types.Hash), collectionFormat('h')},
		{types.Of(types.Any), simpleFormat('s')},
	}
}

func collectionFormat(letter byte) *textFormat {
	f := simpleFormat(letter)
	f.inner = quotedElements
	return f
}

var quotedElements = formatMap{{types.Of(types.Any), simpleFormat('p')}}

var formatForm = pattern.Lazy(`^%([\s\[+#0{<(|-]*)([1-9][0-9]*)?(?:\.([0-9]+))?([a-zA-Z])$`)

func parseFormat(source string) (*textFormat, error) {
	m := formatForm().FindStringSubmatch(source)
	if m == nil {
		return nil, fmt.Errorf("the format %s is not of the form %%<flags><width>.<precision><letter>",
			value.Quote(source))
	}
	f := &textFormat{directive: directive{precision: -1}, source: source, letter: m[4][0]}
	for i := range len(m[1]) {
		c := m[1][i]
		if strings.IndexByte(m[1][:i], c) >= 0 {
			return nil, fmt.Errorf("the format %s has a flag twice", value.Quote(source))
		}
		if f.flag(c) {
			continue
		}
		if f.open != 0 {
			return nil, fmt.Errorf("the format %s has more than one delimiter", value.Quote(source))
		}
		f.open = c
	}
	for i, number := range []*int{&f.width, &f.precision} {
		if m[2+i] == "" {
			continue
		}
		n, err := strconv.ParseInt(m[2+i], 10, 32)
		if err != nil {
			return nil, errTooLong
		}
		*number = int(n)
	}
	return f, nil
}

// readFormats reads the formats for v: one format for v itself, or a hash of types and formats.
func readFormats(v, given value.Value) (formatMap, error) {
	if given.Kind() == value.String {
		f, err := parseFormat(given.Text())
		t := types.Detailed(v)
		switch v.Kind() {
		case value.Array:
			t = types.Of(types.Array)
		case value.Hash:
			t = types.Of(types.Hash)
		}
		return formatMap{{t, f}}, err
	}
	return readFormatMap(given)
}

func readFormatMap(given value.Value) (formatMap, error) {
	if given.Kind() != value.Hash {
		return nil, fmt.Errorf("the format must be a String, default, or a Hash of types and formats, found %s",
			expr.Describe(given))
	}
	var out formatMap
	for k, v := range given.Pairs() {
		if k.Kind() != value.Type {
			return nil, fmt.Errorf("the keys of formats must be types, found %s", expr.Describe(k))
		}
		t, err := types.FromValue(k)
		if err != nil {
			return nil, err
		}
		f, err := readFormat(v)
		if err != nil {
			return nil, err
		}
		out = append(out, typeFormat{t, f})
	}
	return out, nil
}

func readFormat(v value.Value) (*textFormat, error) {
	switch v.Kind() {
	case value.String:
		return parseFormat(v.Text())
	case value.Hash:
		return readContainerFormat(v)
	}
	return nil, fmt.Errorf("a format must be a String or a Hash, found %s", expr.Describe(v))
}

// readContainerFormat reads a hash such as {format => '%a', separator => ', ', separator2 => ': ', string_formats =>
// {...}}.
func readContainerFormat(v value.Value) (*textFormat, error) {
	source, _ := v.Get(value.FromString("format"))
	if source.Kind() != value.String {
		return nil, fmt.Errorf("the format of a collection needs the key 'format' with a String")
	}
	f, err := parseFormat(source.Text())
	if err != nil {
		return nil, err
	}
	for k, e := range v.Pairs() {
		text := e.Text()
		switch name := k.Text(); {
		case name == "format":
		case name == "separator" && e.Kind() == value.String:
			f.separator = &text
		case name == "separator2" && e.Kind() == value.String:
			f.separator2 = &text
		case name == "string_formats":
			if f.inner, err = readFormatMap(e); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("the format of a collection cannot have %s with %s", ruby.Inspect(k),
				expr.Describe(e))
		}
	}
	return f, nil
}

// mergeFormats combines both lists. A format in higher overrides a format in lower for the same or a narrower type.
func mergeFormats(lower, higher formatMap) formatMap {
	var out formatMap
	for _, l := range lower {
		if !higher.covers(l.typ) {
			out = append(out, typeFormat{l.typ, l.format.under(higher.formatFor(l.typ))})
		}
	}
	for _, h := range higher {
		if out.formatFor(h.typ) == nil {
			out = append(out, h)
		}
	}
	return sortFormats(out)
}

// formatFor returns the format for exactly the type t, or nil.
func (m formatMap) formatFor(t *types.Type) *textFormat {
	i := slices.IndexFunc(m, func(tf typeFormat) bool { return sameType(tf.typ, t) })
	if i < 0 {
		return nil
	}
	return m[i].format
}

// covers reports whether m has a format for a type that is wider than t.
func (m formatMap) covers(t *types.Type) bool {
	return slices.ContainsFunc(m, func(tf typeFormat) bool { return !sameType(tf.typ, t) && tf.typ.Accepts(t) })
}

// sameType reports whether a and b are equal types of the same kind. Tuple and Array differ even if they include the
// same values.
func sameType(a, b *types.Type) bool { return a.Kind() == b.Kind() && a.Equal(b) }

// under combines f with higher, a format for the same type that overrides f where it is set. higher may be nil.
func (f *textFormat) under(higher *textFormat) *textFormat {
	if higher == nil {
		return f
	}
	merged := *higher
	if merged.inner == nil {
		merged.inner = f.inner
	} else if f.inner != nil {
		merged.inner = mergeFormats(f.inner, merged.inner)
	}
	return &merged
}

// sortFormats puts narrower types before wider ones. That does not determine the order of all types, so it sorts with
// the same algorithm as Ruby on Linux, a merge sort.
func sortFormats(list formatMap) formatMap {
	if len(list) < 2 {
		return list
	}
	left, right := sortFormats(list[:len(list)/2]), sortFormats(list[len(list)/2:])
	out := make(formatMap, 0, len(list))
	for len(left) > 0 && len(right) > 0 {
		next := &left
		if before(right[0].typ, left[0].typ) {
			next = &right
		}
		out, *next = append(out, (*next)[0]), (*next)[1:]
	}
	return append(append(out, left...), right...)
}

// ranks orders types if neither is wider than the other.
var ranks = map[types.Kind]int{types.Struct: 1, types.Hash: 2, types.Tuple: 3, types.Array: 4, types.Pattern: 10,
	types.Enum: 11, types.String: 12}

func before(a, b *types.Type) bool {
	wider, narrower := b.Accepts(a), a.Accepts(b)
	if wider != narrower {
		return wider
	}
	rankA, rankB := ranks[a.Kind()], ranks[b.Kind()]
	if rankA == 0 || rankB == 0 {
		return a.String() < b.String()
	}
	return rankA < rankB
}
