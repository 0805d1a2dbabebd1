package runtime_test

import (
	"reflect"
	"slices"
	"testing"

	bindings "bindc/runtime"
)

// What a value is, by the methods that ask for one kind, and as an ordinary Go value.
func TestValuesByKind(t *testing.T) {
	for _, c := range []struct {
		json  string
		bool  bool
		int   int64
		float float64
		text  string
		len   int
		any   any
	}{
		{"null", false, 0, 0, "", 0, nil},
		{"true", true, 0, 0, "", 0, true},
		{"false", false, 0, 0, "", 0, false},
		{"7", false, 7, 7, "", 0, int64(7)},
		{"2.5", false, 0, 2.5, "", 0, 2.5},
		{`"word"`, false, 0, 0, "word", 0, "word"},
		{"[1, [true]]", false, 0, 0, "", 2, []any{int64(1), []any{true}}},
		{`{"a": {"b": null}}`, false, 0, 0, "", 1, map[string]any{"a": map[string]any{"b": nil}}},
	} {
		v, err := bindings.ParseJSON([]byte(c.json))
		if err != nil {
			t.Fatal(err)
		}
		if v.Bool() != c.bool || v.Int() != c.int || v.Float() != c.float || v.Text() != c.text || v.Len() != c.len {
			t.Errorf("%s is %v, %v, %v, %q, of length %d", c.json, v.Bool(), v.Int(), v.Float(), v.Text(), v.Len())
		}
		if got := v.Interface(); !reflect.DeepEqual(got, c.any) {
			t.Errorf("%s is %#v, expected %#v", c.json, got, c.any)
		}
	}
}

func TestWalksOfValuesEndEarly(t *testing.T) {
	v, err := bindings.ParseJSON([]byte(`{"list": [1, 2, 3], "other": 4}`))
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for k := range v.Entries() {
		if keys = append(keys, k.Text()); k.Text() == "list" {
			break
		}
	}
	list, found := v.Get("list")
	var elems []int64
	for e := range list.Elems() {
		if elems = append(elems, e.Int()); e.Int() == 2 {
			break
		}
	}
	if !found || !slices.Equal(keys, []string{"list"}) || !slices.Equal(elems, []int64{1, 2}) {
		t.Errorf("%v, %v", keys, elems)
	}
	if _, found := v.Get("none"); found || list.Index(2).Int() != 3 || !list.Index(3).IsUndef() {
		t.Errorf("%v", v)
	}
}
