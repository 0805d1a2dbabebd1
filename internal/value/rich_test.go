package value

import (
	"math"
	"testing"
)

// AppendRich writes plain JSON where possible, and otherwise objects that Puppet's FromDataConverter reads.
func TestAppendRichMarksValuesWithoutJSONForm(t *testing.T) {
	of := func(k, v Value) Value { return FromPairs(Pair{k, v}) }
	text := FromString
	for _, c := range []struct {
		v    Value
		want string
		rich bool
	}{
		{Value{}, `null`, false},
		{FromBool(true), `true`, false},
		{FromInt(math.MaxInt64), `9223372036854775807`, false},
		{FromFloat(1), `1.0`, false},
		{FromFloat(1e300), `1.0e+300`, false},
		{text("ä \"\n\u2028"), "\"ä \\\"\\n\u2028\"", false},
		{of(text("a"), FromSlice([]Value{FromInt(1), {}})), `{"a":[1,null]}`, false},
		{FromSlice(nil), `[]`, false},
		{FromPairs(Pair{text("b"), text("x")}, Pair{text("a"), FromInt(2)}), `{"b":"x","a":2}`, false},
		{TheDefault(), `{"__ptype":"Default"}`, true},
		{FromRegexp(`^a"\d`), `{"__ptype":"Regexp","__pvalue":"^a\"\\d"}`, true},
		{FromFloat(math.Inf(-1)), `{"__ptype":"Float","__pvalue":"-Infinity"}`, true},
		{FromFloat(math.NaN()), `{"__ptype":"Float","__pvalue":"NaN"}`, true},
		{text("\xff"), `{"__ptype":"Binary","__pvalue":"/w=="}`, true},
		{of(FromInt(1), text("x")), `{"__ptype":"Hash","__pvalue":[1,"x"]}`, true},
		{of(text("__ptype"), text("x")), `{"__ptype":"Hash","__pvalue":["__ptype","x"]}`, true},
		{of(text("__pvalue"), text("x")), `{"__pvalue":"x"}`, false},
		{FromSlice([]Value{of(text("a"), TheDefault())}), `[{"a":{"__ptype":"Default"}}]`, true},
	} {
		got, rich := AppendRich(nil, c.v)
		if string(got) != c.want || rich != c.rich {
			t.Errorf("%s, %v, expected %s, %v", got, rich, c.want, c.rich)
		}
	}
}
