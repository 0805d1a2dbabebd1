package runtime_test

import (
	"reflect"
	"strings"
	"testing"

	"bindc/internal/value"
	bindings "bindc/runtime"
)

// Values converted from Go or JSON have the same nesting limit as bindings. A Go value that contains itself exceeds
// it.
func TestNestingOfConvertedValuesIsLimited(t *testing.T) {
	var itself any
	itself = &itself
	if v, err := bindings.ValueOf(itself); err == nil || !v.IsUndef() {
		t.Errorf("a pointer to itself: %v, %v", v, err)
	}
	for name, wrap := range map[string]func(any) any{
		"pointers": func(x any) any { return &x },
		"lists":    func(x any) any { return []any{x} },
		"hashes":   func(x any) any { return map[string]any{"a": x} },
	} {
		x := any(1)
		for range value.MaxDepth {
			x = wrap(x)
		}
		if _, err := bindings.ValueOf(x); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if v, err := bindings.ValueOf(wrap(x)); err == nil || !v.IsUndef() {
			t.Errorf("%s, one too deep: %v", name, err)
		}
	}
	for _, c := range []struct{ open, close string }{{"[", "]"}, {`{"a":`, "}"}} {
		for depth, want := range map[int]bool{value.MaxDepth: true, value.MaxDepth + 1: false} {
			text := strings.Repeat(c.open, depth) + "1" + strings.Repeat(c.close, depth)
			if v, err := parseJSON([]byte(text)); (err == nil) != want || v.IsUndef() == want {
				t.Errorf("%d levels of %s: %v", depth, c.open, err)
			}
		}
	}
}

func TestHashConvertsToMap(t *testing.T) {
	v, err := parseJSON([]byte(`{"a": 1, "b": [2, {"c": true, "d": null}], "e": {}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"a": int64(1), "b": []any{int64(2), map[string]any{"c": true, "d": nil}},
		"e": map[string]any{}}
	if got := ordinaryOf(v); !reflect.DeepEqual(got, want) {
		t.Errorf("%#v", got)
	}
}
