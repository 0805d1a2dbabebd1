package runtime_test

import (
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"testing"

	bindings "bindc/runtime"
	"bindc/snapshot"
)

func TestValueOfConvertsOrdinaryGoValues(t *testing.T) {
	type port uint16
	type name string
	text, cyclic := "behind a pointer", map[string]any{}
	cyclic["itself"] = cyclic
	for _, c := range []struct {
		x    any
		want string // as JSON; "" if x cannot be converted
	}{
		{nil, "null"},
		{true, "true"},
		{"text", `"text"`},
		{int8(-1), "-1"},
		{uint8(1), "1"},
		{port(80), "80"},
		{uint64(math.MaxInt64), "9223372036854775807"},
		{uint64(math.MaxInt64) + 1, ""},
		{float32(0.5), "0.5"},
		{2.0, "2.0"},
		{json.Number("1e2"), "100.0"},
		{json.Number("9223372036854775808"), ""},
		{[]any{1, []string{"a"}}, `[1,["a"]]`},
		{map[string]any{"b": nil, "a": 1}, `{"a":1,"b":null}`},
		{map[name][]port{"b": {80, 443}, "a": nil}, `{"a":[],"b":[80,443]}`},
		{map[string]map[string]bool{"a": {"on": true}}, `{"a":{"on":true}}`},
		{[]map[string]string{{"a": "b"}, nil}, `[{"a":"b"},{}]`},
		{[2]float64{1, 0.5}, "[1.0,0.5]"},
		{name("n"), `"n"`},
		{&text, `"behind a pointer"`},
		{(*string)(nil), "null"},
		{[]error{nil}, "[null]"},
		{map[int]string{1: "a"}, ""},
		{[]chan int{nil}, ""},
		{cyclic, ""},
		{[]any{struct{}{}}, ""},
		{map[string]any{"a": func() {}}, ""},
	} {
		v, err := bindings.ValueOf(c.x)
		if err != nil {
			if c.want != "" {
				t.Errorf("%v: %v", c.x, err)
			}
			continue
		}
		if got, err := v.MarshalJSON(); err != nil || string(got) != c.want {
			t.Errorf("%v is %s, %v; expected %s", c.x, got, err, c.want)
		}
	}
}

func TestUnmarshalJSONRejectsInvalidInput(t *testing.T) {
	for _, text := range []string{"", "{", "[1", "[1,", "[1,]", `{"a"`, `{"a":`, "nul", "1 2", "1e999",
		"9223372036854775808", `{"a": 1, "a": 2}`, `[{"a": {"b": 1, "b": null}}]`} {
		if v, err := parseJSON([]byte(text)); err == nil || err.Error() == "EOF" || !v.IsUndef() {
			t.Errorf("%q is %v, %v", text, v, err)
		}
		var e *bindings.Error
		if _, err := parseFacts([]byte(text), bindings.FactsOptions{}); !errors.As(err, &e) ||
			e.Code != "facts" {
			t.Errorf("%q as facts: %v", text, err)
		}
	}
}

// A value with damage inside is neither a match nor a mismatch of a type, because it cannot be
// read.
func TestCheckOfDamagedValueReportsDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	const arrayOfNoSuchTag = "\x09\x02\x01\x0b"
	if _, err := snapshot.Write(path, &snapshot.Content{
		Layers: []string{"site"},
		Keys:   []snapshot.Key{{Name: "damaged", Default: 0}},
		Values: []snapshot.Stored{{Bytes: arrayOfNoSuchTag}},
	}); err != nil {
		t.Fatal(err)
	}
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	req, err := snap.Request(nodeFacts(t, "n1"))
	if err != nil {
		t.Fatal(err)
	}
	v, found, err := req.Lookup("damaged")
	if err != nil || !found {
		t.Fatal(found, err)
	}
	for _, text := range []string{"Array", "Array[Integer]", "Integer"} {
		typ, err := bindings.ParseType(text)
		if err != nil {
			t.Fatal(err)
		}
		var damage *snapshot.DamageError
		if err := v.Check(typ); !errors.As(err, &damage) {
			t.Errorf("held to %s: %v", text, err)
		}
	}
	if err := snap.Verify(); err == nil {
		t.Error("Verify finds nothing")
	}
}
