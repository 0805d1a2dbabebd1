package stdlib

import (
	"strings"

	"bindc/internal/expr"
	"bindc/internal/expr/ruby"
	"bindc/internal/types"
	"bindc/internal/value"
)

// This file implements new(String, ...), whose formats depend on the types of the values.

func newString(c *call) (value.Value, error) {
	if err := countBetween(c, 1, 2); err != nil {
		return value.Value{}, err
	}
	w := textWriter{c}
	formats := defaultFormats()
	if len(c.Args) > 1 && c.Args[1].Kind() != value.Default {
		given, err := readFormats(c.Args[0], c.Args[1])
		if err != nil {
			return value.Value{}, c.Fail(err)
		}
		formats = mergeFormats(formats, given)
	}
	s, err := w.write(c.Args[0], formats, indentation{first: true})
	if err != nil {
		return value.Value{}, err
	}
	return c.MakeText(s)
}

// indentation describes the position of a value in indented text.
type indentation struct {
	level int
	first bool // the value is the first one in its collection
	on    bool
}

func (in indentation) inside(on bool) indentation { return indentation{in.level + 1, true, on} }
func (in indentation) breaks() bool               { return in.on && in.level > 0 && !in.first }
func (in indentation) padding() string            { return strings.Repeat("  ", in.level) }

type textWriter struct{ c *call }

func (w textWriter) write(v value.Value, formats formatMap, in indentation) (string, error) {
	if err := w.c.Spend(1 + len(formats) + v.Len()/expr.StepsPerNode); err != nil {
		return "", err
	}
	if in.level > value.MaxDepth {
		return "", expr.ErrDepth
	}
	f := formats.find(types.Detailed(v))
	if f.width > w.c.Room() || f.precision > w.c.Room() {
		return "", errTooLong
	}
	s, err := w.kind(v, f, formats, in)
	if err != nil {
		return "", err
	}
	return s, w.c.Produce(len(s))
}

func (w textWriter) kind(v value.Value, f *textFormat, formats formatMap, in indentation) (string, error) {
	switch v.Kind() {
	case value.Undef:
		if v.IsSensitive() {
			return ruby.Inspect(v), nil
		}
		return f.undef()
	case value.Default:
		return f.theDefault()
	case value.Bool:
		return f.boolean(v)
	case value.Int:
		return f.integer(v)
	case value.Float:
		return f.float(v)
	case value.String:
		return f.string(v.Text())
	case value.Regexp:
		return f.regexp(v.Text())
	case value.Array:
		return w.array(v, f, formats, in)
	case value.Hash:
		return w.hash(v, f, formats, in)
	}
	return f.typ(v)
}

// delimiters returns the delimiters of a collection. If f does not specify any, they are open and end.
func (f *textFormat) delimiters(open, end string) (string, string) {
	switch f.open {
	case '[':
		return "[", "]"
	case '{':
		return "{", "}"
	case '(':
		return "(", ")"
	case '<':
		return "<", ">"
	case '|':
		return "|", "|"
	}
	if f.space {
		return "", ""
	}
	return open, end
}

// element formats an element of a collection whose format is f.
func (w textWriter) element(v value.Value, f *textFormat, formats formatMap, in indentation) (string, error) {
	if !expr.IsCollection(v) {
		formats = f.inner
		if formats == nil {
			formats = quotedElements
		}
	}
	return w.write(v, formats, in)
}

func (w textWriter) array(v value.Value, f *textFormat, formats formatMap, in indentation) (string, error) {
	if f.letter != 'a' && f.letter != 's' && f.letter != 'p' {
		return "", f.illegal("Array", "asp")
	}
	if err := w.fits(f.comma(), v.Len()); err != nil {
		return "", err
	}
	in.on = in.on || f.alt
	elems := v.Slice()
	texts := make([]string, len(elems))
	for i, e := range elems {
		inside := in.inside(f.alt)
		inside.first = false // Puppet does not treat this value as the first one
		var err error
		if texts[i], err = w.element(e, f, formats, inside); err != nil {
			return "", err
		}
	}
	open, end := f.delimiters("[", "]")
	head := open
	if in.breaks() {
		head = "\n" + in.padding() + open
	}
	return f.layOut(head, elems, texts, in.inside(f.alt).padding()) + end, nil
}

// layOut joins the formatted elements of an array. With the flag #, it breaks lines like Puppet: after nested
// collections, and within runs of elements that are wider than f's width.
func (f *textFormat) layOut(out string, elems []value.Value, texts []string, padding string) string {
	separator := f.comma()
	long := f.alt && f.width > 0 && widest(elems, texts) > f.width
	b := []byte(out)
	for i, e := range elems {
		switch {
		case i > 0:
			b = append(b, separator...)
			if long && !expr.IsCollection(e) || f.alt && expr.IsCollection(elems[i-1]) && !expr.IsCollection(e) {
				b = append(append(trimBlanks(b), '\n'), padding...)
			}
		case long && !expr.IsCollection(e):
			b = append(b, ' ')
		}
		if strings.HasPrefix(texts[i], "\n") && len(b) > 0 && b[len(b)-1] == ' ' {
			b = trimBlanks(b)
		}
		b = append(b, texts[i]...)
	}
	return string(b)
}

// trimBlanks removes trailing white space unless b ends with a newline.
func trimBlanks(b []byte) []byte {
	if len(b) > 0 && b[len(b)-1] == '\n' {
		return b
	}
	return []byte(strings.TrimRight(string(b), blanks))
}

// widest returns the total width of the widest run of elements that are not collections.
func widest(elems []value.Value, texts []string) int {
	longest, run := 0, 0
	for i, e := range elems {
		if expr.IsCollection(e) {
			run = 0
			continue
		}
		run += len([]rune(texts[i]))
		longest = max(longest, run)
	}
	return longest
}

func (w textWriter) hash(v value.Value, f *textFormat, formats formatMap, in indentation) (string, error) {
	switch f.letter {
	case 'a':
		return w.write(value.FromSlice(ruby.Pairs(v)), formats, in)
	case 'h', 's', 'p':
	default:
		return "", f.illegal("Hash", "hasp")
	}
	if err := w.fits(f.comma()+f.arrow(), v.Len()); err != nil {
		return "", err
	}
	in.on = in.on || f.alt
	inside := in.inside(false)
	padding := ""
	if f.alt {
		padding = inside.padding()
	}
	lines := make([]string, 0, v.Len())
	for k, e := range v.Pairs() {
		key, err := w.element(k, f, formats, inside)
		if err != nil {
			return "", err
		}
		val, err := w.element(e, f, formats, inside)
		if err != nil {
			return "", err
		}
		lines = append(lines, padding+key+f.arrow()+val)
	}
	return f.layOutHash(lines, in), nil
}

// fits returns an error if n copies of text would exceed the limits of the evaluation.
func (w textWriter) fits(text string, n int) error {
	if n > 0 && len(text) > w.c.Room()/n {
		return expr.ErrSize
	}
	return nil
}

// comma returns the text between two elements. arrow returns the text between a key and its value.
func (f *textFormat) comma() string {
	if f.separator != nil {
		return *f.separator
	}
	return ", "
}

func (f *textFormat) arrow() string {
	if f.separator2 != nil {
		return *f.separator2
	}
	return " => "
}

func (f *textFormat) layOutHash(lines []string, in indentation) string {
	separator := f.comma()
	if f.alt {
		if !strings.HasSuffix(separator, "\n") {
			separator = rstrip(separator)
		}
		separator += "\n"
	}
	open, end := f.delimiters("{", "}")
	head, body := open, strings.Join(lines, separator)
	if in.breaks() {
		head = "\n" + in.padding() + open
	}
	if f.alt {
		return head + "\n" + body + "\n" + in.padding() + end
	}
	return head + body + end
}
