package expr

import (
	"encoding/hex"
	"hash"
	"strings"

	"bindc/internal/value"
)

// eachText makes a function of strings that takes numbers, which it leaves alone, and lists of strings or of numbers.
func eachText(f func(string) string) func(*call) (value.Value, error) {
	return func(c *call) (value.Value, error) {
		v := c.args[0]
		switch v.Kind() {
		case value.Int, value.Float:
			return v, nil
		case value.String:
			return c.mapText(v, f)
		case value.Array:
			return c.mapTexts(v, f)
		}
		return v, c.wrong(0, "a String, a number, or an Array of strings or of numbers")
	}
}

func (c *call) mapText(v value.Value, f func(string) string) (value.Value, error) {
	if err := c.ev.spend(len(v.Text()) / bytesPerStep); err != nil {
		return v, err
	}
	return c.ev.text(f(v.Text()))
}

func (c *call) mapTexts(v value.Value, f func(string) string) (value.Value, error) {
	out := make([]value.Value, 0, v.Len())
	for e := range v.Elems() {
		k := e.Kind()
		if k != value.String && !isNumeric(k) || isNumeric(k) != isNumeric(v.Index(0).Kind()) {
			return v, c.failf("the elements of argument 1 must all be strings or all be numbers, found %s", describe(v))
		}
		if k == value.String {
			var err error
			if e, err = c.mapText(e, f); err != nil {
				return v, err
			}
		}
		out = append(out, e)
	}
	return c.ev.array(out)
}

// deepText is eachText for upcase and downcase, which go into arrays and hashes.
func deepText(f func(string) string) func(*call) (value.Value, error) {
	return func(c *call) (value.Value, error) { return c.deepText(c.args[0], f) }
}

func (c *call) deepText(v value.Value, f func(string) string) (value.Value, error) {
	switch v.Kind() {
	case value.Int, value.Float:
		return v, nil
	case value.String:
		return c.mapText(v, f)
	case value.Array:
		out := make([]value.Value, 0, v.Len())
		for e := range v.Elems() {
			e, err := c.deepText(e, f)
			if err != nil {
				return v, err
			}
			out = append(out, e)
		}
		return c.ev.array(out)
	case value.Hash:
		return c.deepHash(v, f)
	}
	return v, c.failf("strings, numbers, arrays and hashes are expected, found %s", describe(v))
}

func (c *call) deepHash(v value.Value, f func(string) string) (value.Value, error) {
	var b value.Builder
	for k, e := range v.Pairs() {
		k, err := c.deepText(k, f)
		if err != nil {
			return v, err
		}
		if e, err = c.deepText(e, f); err != nil {
			return v, err
		}
		if err := c.ev.setKey(&b, k, e); err != nil {
			return v, err
		}
	}
	return c.ev.finish(&b)
}

func camelcase(s string) string {
	words := strings.Split(s, "_")
	for i := range words {
		words[i] = capitalize(words[i])
	}
	return strings.Join(words, "")
}

func runJoin(c *call) (value.Value, error) {
	if c.args[0].Kind() != value.Array {
		return c.args[0], c.wrong(0, "an Array")
	}
	delimiter := ""
	if len(c.args) > 1 {
		var err error
		if delimiter, err = c.text(1); err != nil {
			return c.args[0], err
		}
	}
	s, err := c.joinDeep(c.args[0], delimiter)
	return value.FromString(s), err
}

// joinDeep joins the texts of v and of arrays in it.
func (c *call) joinDeep(v value.Value, delimiter string) (string, error) {
	var b strings.Builder
	for i, p := range joinable(nil, v) {
		size := weight(p) + len(delimiter)
		err := c.ev.spend(1 + size/bytesPerStep)
		if err == nil {
			err = c.ev.produce(size) // before the text is made
		}
		if err != nil {
			return "", err
		}
		if i > 0 {
			b.WriteString(delimiter)
		}
		b.WriteString(toS(p))
	}
	return b.String(), nil
}

// joinable appends what is joined of the array v: an empty array inside it is an empty text.
func joinable(dst []value.Value, v value.Value) []value.Value {
	for e := range v.Elems() {
		switch {
		case e.Kind() != value.Array:
			dst = append(dst, e)
		case e.Len() == 0:
			dst = append(dst, value.FromString(""))
		default:
			dst = joinable(dst, e)
		}
	}
	return dst
}

// digest makes a function that hashes text. Regular expressions count as what they are written as.
func digest(algorithm func() hash.Hash) func(*call) (value.Value, error) {
	return func(c *call) (value.Value, error) {
		v := c.args[0]
		if k := v.Kind(); k != value.String && k != value.Undef && k != value.Regexp {
			return v, c.wrong(0, "a String")
		}
		h := algorithm()
		h.Write(value.AppendText(nil, v))
		return value.FromString(hex.EncodeToString(h.Sum(nil))), nil
	}
}
