package value_test

import (
	"errors"
	"testing"

	. "bindc/internal/value"
)

// Unveiled makes nested sensitive values plain. Before, they are neither undef nor identical to plain values.
func TestUnveiledRemovesNestedSensitiveMarks(t *testing.T) {
	secret := FromString("tuna").Sensitive()
	in := FromPairs(Pair{Key: FromString("a"), Value: FromSlice([]Value{FromInt(1), secret})},
		Pair{Key: FromString("b"), Value: FromPairs()})
	out, sensitive, err := in.Unveiled()
	want := FromPairs(Pair{Key: FromString("a"), Value: FromSlice([]Value{FromInt(1), FromString("tuna")})},
		Pair{Key: FromString("b"), Value: FromPairs()})
	if err != nil || !sensitive || !Identical(out, want) {
		t.Errorf("%v, %v, %v", out, sensitive, err)
	}
	if Identical(in, want) || string(AppendDistinct(nil, in)) == string(AppendDistinct(nil, want)) {
		t.Error("a nested sensitive value is identical to the plain value")
	}
	again := FromString("tuna").Sensitive()
	if !Identical(secret, again) || string(AppendDistinct(nil, secret)) != string(AppendDistinct(nil, again)) {
		t.Error("two equal sensitive values are not identical")
	}
	if secret.IsUndef() || !secret.Truthy() {
		t.Error("a sensitive value counts as undef or false")
	}
	if out, sensitive, err := want.Unveiled(); err != nil || sensitive || !Identical(out, want) {
		t.Errorf("%v, %v, %v", out, sensitive, err)
	}
	failed := errors.New("it cannot be read")
	broken := NewSource("", func(uint64) (Value, error) { return Value{}, failed }).Value(1).Sensitive()
	if _, _, err := FromSlice([]Value{broken}).Unveiled(); err != failed {
		t.Errorf("%v", err)
	}
}
