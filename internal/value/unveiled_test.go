package value_test

import (
	"errors"
	"testing"

	. "bindc/internal/value"
)

// A sensitive value inside another is neither undef nor equal to the plain value.
func TestUnveiledRemovesNestedMarks(t *testing.T) {
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
		t.Error("the unmarked value differs from the original")
	}
	again := FromString("tuna").Sensitive()
	if !Identical(secret, again) || string(AppendDistinct(nil, secret)) != string(AppendDistinct(nil, again)) {
		t.Error("one secret is the same as the other")
	}
	if secret.IsUndef() || !secret.Truthy() {
		t.Error("a marked value equals a plain one")
	}
	if out, sensitive, err := want.Unveiled(); err != nil || sensitive || !Identical(out, want) {
		t.Errorf("%v, %v, %v", out, sensitive, err)
	}
	failed := errors.New("it cannot be read")
	broken := NewSource(func(uint64) (Value, error) { return Value{}, failed }).Value(1).Sensitive()
	if _, _, err := FromSlice([]Value{broken}).Unveiled(); err != failed {
		t.Errorf("%v", err)
	}
}
