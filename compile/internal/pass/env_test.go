package pass

import (
	"testing"

	"bindc/internal/syntax"
	"bindc/loader"
)

// A layer without a name has a number, unless it is the only one.
func TestInLayerNamesOrNumbersLayer(t *testing.T) {
	for want, layers := range map[string][]loader.Layer{
		"": {{}}, " in layer 'a'": {{Name: "a"}}, " in layer 2": {{Name: "a"}, {}}} {
		e := Env{Site: &loader.Site{Layers: layers}}
		if got := e.InLayer(len(layers) - 1); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Relations compare folded values, so they do not apply to exact dimensions.
func TestExactDimensionsAreUnrelated(t *testing.T) {
	a, errs := syntax.ParseString("${a}")
	xa, more := syntax.ParseString("x-${a}")
	if len(errs)+len(more) > 0 {
		t.Fatal(errs, more)
	}
	for exact, want := range map[bool]bool{true: true, false: false} {
		left := newEffort(1000)
		r := relationsOf([]loader.Dimension{{Name: "a", Category: -1, Guard: true, Value: a, Exact: exact},
			{Name: "xa", Category: 0, Value: xa}}, left)
		both := loader.Condition{{Dimension: 0, Value: "X"}, {Dimension: 1, Value: "x-y"}}
		if got := r.Possible(both); got != want {
			t.Errorf("exact %t: that both hold is possible: %t", exact, got)
		}
		if !exact && left.Left == left.Limit {
			t.Error("the comparison took no effort")
		}
	}
}
