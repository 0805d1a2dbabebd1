package stdlib_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"bindc/internal/expr/exprtest"
	"bindc/internal/expr/stdlib"
	"bindc/internal/value"
)

// shared has tables that are not part of the repository. Without them, their tests are skipped.
const shared = "../../../../shared/"

// table is a file with expressions and the results that Puppet has for them.
type table struct {
	Facts json.RawMessage
	Cases []struct {
		Expr  string
		Value json.RawMessage
		Error bool
	}
}

func readTable(t testing.TB, path string) (table, exprtest.Env) {
	t.Helper()
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(path, shared) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	var tab table
	if err := json.Unmarshal(b, &tab); err != nil {
		t.Fatal(err)
	}
	all := fromJSON(t, tab.Facts)
	env := exprtest.Env{Vars: map[string]value.Value{"facts": all}}
	for k, v := range all.Pairs() {
		env.Vars[k.Text()] = v
	}
	return tab, env
}

// fromJSON decodes JSON. It keeps the order of keys, and the difference between integers and floats.
func fromJSON(t testing.TB, b []byte) value.Value {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	return decodeJSON(t, d)
}

func decodeJSON(t testing.TB, d *json.Decoder) value.Value {
	t.Helper()
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	switch tok := token.(type) {
	case json.Delim:
		if tok == '[' {
			var elems []value.Value
			for d.More() {
				elems = append(elems, decodeJSON(t, d))
			}
			d.Token()
			return value.FromSlice(elems)
		}
		var b value.Builder
		for d.More() {
			k := decodeJSON(t, d)
			b.Set(k, decodeJSON(t, d))
		}
		d.Token()
		return b.Hash()
	case string:
		return value.FromString(tok)
	case bool:
		return value.FromBool(tok)
	case json.Number:
		if n, err := tok.Int64(); err == nil {
			return value.FromInt(n)
		}
		f, err := tok.Float64()
		if err != nil {
			t.Fatal(err)
		}
		return value.FromFloat(f)
	}
	return value.Value{}
}

// appendJSON writes v as the tables do: default is {"__default__": 1}, and other keys and values that JSON lacks become
// text.
func appendJSON(dst []byte, v value.Value) []byte {
	switch v.Kind() {
	case value.Undef:
		return append(dst, "null"...)
	case value.Default:
		return append(dst, `{"__default__": 1}`...)
	case value.Bool, value.Int, value.Float:
		return value.AppendText(dst, v)
	case value.Array:
		dst = append(dst, '[')
		for i, e := range v.Slice() {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendJSON(dst, e)
		}
		return append(dst, ']')
	case value.Hash:
		dst = append(dst, '{')
		first := true
		for k, e := range v.Pairs() {
			if !first {
				dst = append(dst, ", "...)
			}
			first = false
			dst = appendJSON(append(quote(dst, string(value.AppendText(nil, k))), ": "...), e)
		}
		return append(dst, '}')
	}
	return quote(dst, string(value.AppendText(nil, v)))
}

func quote(dst []byte, s string) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // encoding a string never fails
	return append(dst, strings.TrimSuffix(b.String(), "\n")...)
}

// FuzzEval evaluates every input that can be parsed.
func FuzzEval(f *testing.F) {
	tab, env := readTable(f, "../../../testdata/expressions/expressions.json")
	for _, c := range tab.Cases {
		f.Add(c.Expr)
	}
	f.Fuzz(func(t *testing.T, src string) { exprtest.Evaluate(t, src, env) })
}

func TestAgreesWithConformanceTable(t *testing.T) {
	runTable(t, shared+"conformance/expressions.json", nil)
}

func runTable(t *testing.T, path string, differ map[string]string) {
	tab, env := readTable(t, path)
	for _, c := range tab.Cases {
		if differ[c.Expr] != "" {
			continue
		}
		v, err := exprtest.Evaluate(t, c.Expr, env)
		const ifRight = "(if ours is right, add the expression to differ in this file)"
		switch {
		case c.Error && err == nil:
			t.Errorf("%s: Puppet fails, ours is %s %s", c.Expr, appendJSON(nil, v), ifRight)
		case c.Error:
		case err != nil:
			t.Errorf("%s: Puppet's result is %s, ours the error %v %s", c.Expr, c.Value, err, ifRight)
		case string(appendJSON(nil, fromJSON(t, c.Value))) != string(appendJSON(nil, fromJSON(t, appendJSON(nil, v)))):
			t.Errorf("%s: Puppet's result is %s, ours %s %s", c.Expr, c.Value, appendJSON(nil, v), ifRight)
		}
	}
}

// differ gives the reason for each expression of the table whose result differs from Puppet's.
var differ = map[string]string{
	"$num = 1":                                "an expression may assign variables with the names of facts",
	"String[0]":                               "a range that excludes nothing is not printed",
	"ceiling(1e20)":                           "integers have 64 bits",
	"round(1e30)":                             "integers have 64 bits",
	"Integer(1e30)":                           "integers have 64 bits",
	"split('abc', /(?=b)/)":                   "Go's engine has no lookahead",
	"type([], 'generalized')":                 "the element type of an empty array is not shown",
	"Type('Nope')":                            "unknown types are errors",
	`"${true}"`:                               "a bug in Puppet makes it fail",
	"Float('0')":                              "a bug in Puppet makes it fail",
	"Array([1, 2, [5]].step(2))":              "a bug in Puppet spreads arrays here",
	"tree_each(Integer[1, 4])":                "tree_each() does not visit types",
	"Array[Any]":                              "Array means Array[Data], so Array[Any] is a different type",
	"Hash[Integer]":                           "ARM-8 and ARM-9 define the type Hash[V]",
	"String <= Pattern":                       "Pattern is the type of regular expressions",
	"Regexp('é')":                             "Puppet prints the expression like Ruby",
	"(undef)[0]":                              "access on undef is undef",
	"Sensitive(1)":                            "there are no values of this type",
	"Sensitive < Any":                         "there are no values of this type",
	"Integer('9223372036854775808')":          "integers have 64 bits",
	"'ab' =~ /a++b/":                          "Go's engine has no possessive quantifiers",
	"[1, 2, 3].map |$x| { next(9) }":          "next() is not supported",
	"sha1(/a/) |$x| { 1 }":                    "a lambda that the function does not use is an error",
	"$h.dig('n', 'm',)":                       "a comma may follow the last argument of any call",
	"unique([1, 2]) |Integer $x| { $x }":      "only the number of parameters is checked before a lambda is called",
	"slice([1, 2, 3], 3) |$x, $y = 7| { $x }": "slice() ignores defaults of the lambda's parameters",
	"Hash(tree_each({a => [1, {b => 2}]}, {include_root => false, include_containers => false}), 'tree')": "there are no iterators, only arrays",
}

// notCompared gives the reason for each function without a call in expressions.txt.
var notCompared = map[string]string{
	"error":  "Puppet lacks it",
	"fail":   "it always fails",
	"lookup": "it needs a snapshot",
}

func TestEveryFunctionIsComparedWithPuppet(t *testing.T) {
	calls, err := os.ReadFile("../../../testdata/expressions/expressions.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range stdlib.Functions.Names() {
		if called, _ := regexp.Match(`\b`+name+`\(|\.`+name+`\b`, calls); called == (notCompared[name] != "") {
			t.Errorf("%s: expected either a call in testdata/expressions/expressions.txt or a reason in notCompared", name)
		}
	}
}

func TestAgreesWithPuppet(t *testing.T) {
	runTable(t, "../../../testdata/expressions/expressions.json", differ)
}
