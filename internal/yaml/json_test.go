package yaml

import (
	"strings"
	"testing"

	"bindc/diag"
)

func checkJSON(t *testing.T, src string, opts Options, want, found string) {
	t.Helper()
	checkAs(t, ParseJSON, src, opts, want, found)
}

func TestParsesJSONValues(t *testing.T) {
	for src, want := range map[string]string{
		"{}":       "{}",
		" [ ] ":    "[]",
		"\ufeff{}": "{}",
		`{"a": [1, -0, 1.0, 1e3, true, false, null, "x"], "b": {"c": "2001-01-01"}}`: "{'a': [1, 0, 1.0, 1000.0, true, false, null, 'x'], 'b': {'c': '2001-01-01'}}",
		`"a\"\\\/\b\n\u00e9\uD83D\uDE00é"`:                                           "'a\"\\/\b\né😀é'",
		"[9223372036854775807, -9223372036854775808, 9007199254740993]":              "[9223372036854775807, -9223372036854775808, 9007199254740993]",
		"\"\x7f\u0080\"": "'\x7f\u0080'",
	} {
		checkJSON(t, src, Options{}, want, "")
	}
}

func TestRejectsInvalidJSONWithHint(t *testing.T) {
	for src, found := range map[string]string{
		"":                       "error json_syntax 1:1 expected a JSON value, found an empty file",
		"\n ":                    "error json_syntax 2:2 expected a JSON value, found an empty file",
		"{} é":                   "error json_syntax 1:4 expected the end of the file after the JSON value, found 'é'",
		"{\"é\": ü}":             "error json_syntax 1:7 expected a value, found 'ü'",
		"{\"a\": \n":             "error json_syntax 2:1 expected a value, found the end of the file",
		"{\"a\" 1}":              "error json_syntax 1:6 expected ':' after the key, found '1'",
		"{a: 1}":                 "error json_syntax 1:2 expected a key in double quotes, found 'a'",
		"{\"a\": 1,}":            "error json_syntax 1:9 expected a key in double quotes, found '}'",
		"[1 2]":                  "error json_syntax 1:4 expected ',' or ']' after an element of a list, found '2'",
		"[1":                     "error json_syntax 1:3 expected ',' or ']' after an element of a list, found the end of the file",
		"{\"a\": 1":              "error json_syntax 1:8 expected ',' or '}' after an entry of a hash, found the end of the file",
		"[01]":                   "error json_syntax 1:2 expected a JSON number, found 01",
		"[1.]":                   "error json_syntax 1:2 expected a JSON number, found 1.",
		"\"abc":                  "error json_syntax 1:1 expected '\"' at the end of this string, found the end of the file",
		"\"abc\\":                "error json_syntax 1:1 expected '\"' at the end of this string, found the end of the file",
		"\"a\nb\"":               `error json_syntax 1:3 expected '"' before the end of the line: a string cannot contain a control character; write \n or \t`,
		`["\x41"]`:               `error json_syntax 1:2 expected one of the escapes \" \\ \/ \b \f \n \r \t \uXXXX after each backslash of this string`,
		`["\uD83D\uDE00\uD83D"]`: `error json_syntax 1:15 expected two escapes \uXXXX for this character, found one: it is half of a surrogate pair`,
		`["\\\uDE00\uD83D"]`:     `error json_syntax 1:5 expected two escapes \uXXXX for this character, found one: it is half of a surrogate pair`,
		"[9223372036854775808]":  "error yaml_integer 1:2 the number 9223372036854775808 does not fit in 64 bits",
		"[1e999]":                "error yaml_integer 1:2 the number 1e999 does not fit in 64 bits",
		"\"\xff\"":               "error yaml_utf8 1:2 expected text in UTF-8, found the byte 0xff",
		"{\"a\": 1,\n \"a\": 2}": "error yaml_duplicate_key 2:2 the key 'a' is given twice in one hash (1:2 it is first given here)",

		strings.Repeat("[", 513): "error yaml_depth 1:513 " + tooDeep,
	} {
		checkJSON(t, src, Options{}, "", found)
	}
	checkJSON(t, `{"a": 1, "a": 2}`, Options{LastKeyWins: true}, "{'a': 2}",
		"warning yaml_duplicate_key 1:10 the key 'a' is given twice in one hash; this last value is used (1:2 it is first given here)")
}

func TestJSONNodesHavePositions(t *testing.T) {
	var diags diag.List
	d, ok := ParseJSON("f", []byte("{\"é\": \"ü\",\r\n\n  \"k\": \"a\\u00e9\\uD83D\\uDE00 X\"}"), Options{}, &diags)
	if !ok {
		t.Fatal(summary(&diags))
	}
	_, n, _ := d.Root.Lookup("é")
	if got := d.Pos(n); got.Line != 1 || got.Col != 7 {
		t.Errorf("the value of é is at %v", got)
	}
	_, n, _ = d.Root.Lookup("k")
	text, _ := n.Text()
	if got := d.PosIn(n, strings.Index(text, "X")); got.Line != 3 || got.Col != 29 {
		t.Errorf("X is at %v", got)
	}
}
