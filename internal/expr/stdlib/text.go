package stdlib

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strings"
	"unicode/utf8"

	"bindc/internal/expr"
	"bindc/internal/expr/ruby"
	"bindc/internal/value"
)

func runCamelcase(c *call) (value.Value, error)  { return eachText(c, camelcase) }
func runCapitalize(c *call) (value.Value, error) { return eachText(c, ruby.Capitalize) }
func runChomp(c *call) (value.Value, error)      { return eachText(c, chomp) }
func runChop(c *call) (value.Value, error)       { return eachText(c, chop) }
func runLstrip(c *call) (value.Value, error)     { return eachText(c, lstrip) }
func runRstrip(c *call) (value.Value, error)     { return eachText(c, rstrip) }
func runStrip(c *call) (value.Value, error)      { return eachText(c, strip) }
func runDowncase(c *call) (value.Value, error)   { return deepTexts(c, c.Args[0], ruby.Downcase) }
func runUpcase(c *call) (value.Value, error)     { return deepTexts(c, c.Args[0], ruby.Upcase) }

// eachText applies f to argument 0, a String or an Array of strings. It returns numbers unchanged.
func eachText(c *call, f func(string) string) (value.Value, error) {
	v := c.Args[0]
	switch v.Kind() {
	case value.Int, value.Float:
		return v, nil
	case value.String:
		return mapText(c, v, f)
	case value.Array:
		return mapTexts(c, v, f)
	}
	return v, c.Wrong(0, "a String, a number, or an Array of strings or of numbers")
}

func mapText(c *call, v value.Value, f func(string) string) (value.Value, error) {
	if err := c.Spend(len(v.Text()) / expr.BytesPerStep); err != nil {
		return v, err
	}
	return c.MakeText(f(v.Text()))
}

func mapTexts(c *call, v value.Value, f func(string) string) (value.Value, error) {
	out := make([]value.Value, 0, v.Len())
	for e := range v.Elems() {
		k := e.Kind()
		if k != value.String && !ruby.IsNumeric(k) || ruby.IsNumeric(k) != ruby.IsNumeric(v.Index(0).Kind()) {
			return v, c.Failf("the elements of argument 1 must all be strings or all be numbers, found %s",
				expr.Describe(v))
		}
		if k == value.String {
			var err error
			if e, err = mapText(c, e, f); err != nil {
				return v, err
			}
		}
		out = append(out, e)
	}
	return c.MakeArray(out)
}

// deepTexts applies f to all strings in v, including those in nested arrays and hashes, as upcase and downcase do.
func deepTexts(c *call, v value.Value, f func(string) string) (value.Value, error) {
	switch v.Kind() {
	case value.Int, value.Float:
		return v, nil
	case value.String:
		return mapText(c, v, f)
	case value.Array:
		out := make([]value.Value, 0, v.Len())
		for e := range v.Elems() {
			e, err := deepTexts(c, e, f)
			if err != nil {
				return v, err
			}
			out = append(out, e)
		}
		return c.MakeArray(out)
	case value.Hash:
		return deepHash(c, v, f)
	}
	return v, c.Failf("expected a string, number, array or hash, found %s", expr.Describe(v))
}

func deepHash(c *call, v value.Value, f func(string) string) (value.Value, error) {
	var b value.Builder
	for k, e := range v.Pairs() {
		k, err := deepTexts(c, k, f)
		if err != nil {
			return v, err
		}
		if e, err = deepTexts(c, e, f); err != nil {
			return v, err
		}
		if err := c.SetKey(&b, k, e); err != nil {
			return v, err
		}
	}
	return c.MakeHash(&b)
}

func camelcase(s string) string {
	words := strings.Split(s, "_")
	for i := range words {
		words[i] = ruby.Capitalize(words[i])
	}
	return strings.Join(words, "")
}

func runJoin(c *call) (value.Value, error) {
	if c.Args[0].Kind() != value.Array {
		return c.Args[0], c.Wrong(0, "an Array")
	}
	delimiter := ""
	if len(c.Args) > 1 {
		var err error
		if delimiter, err = c.Text(1); err != nil {
			return c.Args[0], err
		}
	}
	s, err := joinDeep(c, c.Args[0], delimiter)
	return value.FromString(s), err
}

// joinDeep joins the elements of v and of all arrays in it.
func joinDeep(c *call, v value.Value, delimiter string) (string, error) {
	var b strings.Builder
	for i, p := range joinable(nil, v) {
		size := expr.Weight(p) + len(delimiter)
		err := c.Spend(1 + size/expr.BytesPerStep)
		if err == nil {
			err = c.Produce(size) // count the size before creating the text
		}
		if err != nil {
			return "", err
		}
		if i > 0 {
			b.WriteString(delimiter)
		}
		b.WriteString(ruby.ToS(p))
	}
	return b.String(), nil
}

// joinable appends the elements of v and of arrays in it. An empty nested array becomes an empty string, as in Ruby.
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

func runMD5(c *call) (value.Value, error)    { return digest(c, md5.New()) }
func runSHA1(c *call) (value.Value, error)   { return digest(c, sha1.New()) }
func runSHA256(c *call) (value.Value, error) { return digest(c, sha256.New()) }

// digest returns the hash of argument 0 in hexadecimal. For a regular expression, it hashes the source.
func digest(c *call, h hash.Hash) (value.Value, error) {
	v := c.Args[0]
	if k := v.Kind(); k != value.String && k != value.Undef && k != value.Regexp {
		return v, c.Wrong(0, "a String")
	}
	h.Write(value.AppendText(nil, v))
	return value.FromString(hex.EncodeToString(h.Sum(nil))), nil
}

// chomp removes one line break from the end of s.
func chomp(s string) string {
	if t, ok := strings.CutSuffix(s, "\r\n"); ok {
		return t
	}
	if t, ok := strings.CutSuffix(s, "\n"); ok {
		return t
	}
	return strings.TrimSuffix(s, "\r")
}

func chop(s string) string {
	if t, ok := strings.CutSuffix(s, "\r\n"); ok {
		return t
	}
	_, size := utf8.DecodeLastRuneInString(s)
	return s[:len(s)-size]
}

const blanks = "\x00\t\n\v\f\r "

func lstrip(s string) string { return strings.TrimLeft(s, blanks) }

func rstrip(s string) string { return strings.TrimRight(s, blanks) }

func strip(s string) string { return strings.Trim(s, blanks) }
