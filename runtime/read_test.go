package runtime_test

import (
	"math"

	bindings "bindc/runtime"
)

// textOf returns the text of v, "" if v is undef, and otherwise the error.
func textOf(v bindings.Value) string {
	text, err := v.Text()
	if err != nil && !v.IsUndef() {
		return "<" + err.Error() + ">"
	}
	return text
}

// viewOf is textOf with TextView.
func viewOf(v bindings.Value) string {
	text, err := v.TextView()
	if err != nil {
		return "<" + err.Error() + ">"
	}
	return text
}

// intOf returns v as an integer, or math.MinInt64, which no test expects.
func intOf(v bindings.Value) int64 {
	n, err := v.Int()
	if err != nil {
		return math.MinInt64
	}
	return n
}

func boolOf(v bindings.Value) bool {
	b, err := v.Bool()
	return b && err == nil
}

// ordinaryOf returns v as an ordinary Go value, or the error.
func ordinaryOf(v bindings.Value) any {
	out, err := v.Interface()
	if err != nil {
		return err
	}
	return out
}
