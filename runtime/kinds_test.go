package runtime_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	bindings "bindc/runtime"
)

func TestValueAccessorsByKind(t *testing.T) {
	const none = "expected "
	for _, c := range []struct {
		json                   string
		bool, int, float, text string // "none" means an error
		len                    int
		any                    any
	}{
		{"null", none, none, none, none, 0, nil},
		{"true", "true", none, none, none, 0, true},
		{"false", "false", none, none, none, 0, false},
		{"7", none, "7", "7", none, 0, int64(7)},
		{"2.5", none, none, "2.5", none, 0, 2.5},
		{`"word"`, none, none, none, "word", 0, "word"},
		{"[1, [true]]", none, none, none, none, 2, []any{int64(1), []any{true}}},
		{`{"a": {"b": null}}`, none, none, none, none, 1, map[string]any{"a": map[string]any{"b": nil}}},
	} {
		v, err := parseJSON([]byte(c.json))
		if err != nil {
			t.Fatal(err)
		}
		for want, ask := range map[*string]func() (any, error){
			&c.bool:  func() (any, error) { return v.Bool() },
			&c.int:   func() (any, error) { return v.Int() },
			&c.float: func() (any, error) { return v.Float() },
			&c.text:  func() (any, error) { return v.Text() },
		} {
			got, err := ask()
			var mismatch *bindings.Error
			switch {
			case *want == none && (!errors.As(err, &mismatch) || mismatch.Code != bindings.CodeTypeMismatch ||
				!strings.HasSuffix(err.Error(), "found "+v.Kind().String())):
				t.Errorf("%s: %v, %v, expected an error of its type", c.json, got, err)
			case *want != none && (err != nil || fmt.Sprint(got) != *want):
				t.Errorf("%s: %v, %v, expected %s", c.json, got, err, *want)
			}
		}
		if v.Len() != c.len {
			t.Errorf("%s is of length %d", c.json, v.Len())
		}
		if got := ordinaryOf(v); !reflect.DeepEqual(got, c.any) {
			t.Errorf("%s is %#v, expected %#v", c.json, got, c.any)
		}
	}
}

func TestValueIteratorsStopEarly(t *testing.T) {
	v, err := parseJSON([]byte(`{"list": [1, 2, 3], "other": 4}`))
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for k := range v.Entries() {
		if keys = append(keys, textOf(k)); textOf(k) == "list" {
			break
		}
	}
	list, found := v.Get("list")
	var elems []int64
	for e := range list.Elems() {
		if elems = append(elems, intOf(e)); intOf(e) == 2 {
			break
		}
	}
	if !found || !slices.Equal(keys, []string{"list"}) || !slices.Equal(elems, []int64{1, 2}) {
		t.Errorf("%v, %v", keys, elems)
	}
	if _, found := v.Get("none"); found || intOf(list.Index(2)) != 3 || !list.Index(3).IsUndef() {
		t.Errorf("%v", v)
	}
}
