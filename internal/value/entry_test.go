package value_test

import (
	"math"
	"strings"
	"testing"

	"bindc/internal/value"
)

// entries returns a hash with entries of all kinds, and with keys and values of all sizes.
func entries() value.Value {
	var b value.Builder
	long := strings.Repeat("x", 200)
	for i, v := range []value.Value{{}, value.TheDefault(), value.FromBool(true), value.FromInt(63), value.FromInt(-1),
		value.FromInt(math.MinInt64), value.FromFloat(1.5), value.FromString(""), value.FromString(long),
		value.FromRegexp("a+"), value.Strings("a", long), value.FromSlice(nil)} {
		b.Set(value.FromInt(int64(i)), value.FromString("key"))
		b.Set(value.FromString(strings.Repeat("k", 20*i)), v)
	}
	b.Set(value.FromFloat(2), value.Value{})
	var inner value.Builder
	inner.Set(value.FromString("last"), value.FromInt(1))
	b.Set(value.FromString("inner"), inner.Hash())
	b.Set(value.FromString("last"), value.FromString("end"))
	return b.Hash()
}

func TestGetFindsTheSameInAnEncodedHash(t *testing.T) {
	built := entries()
	bytes := string(value.Append(nil, built))
	encoded, _, err := value.View(bytes)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range built.Pairs() {
		if v, ok := encoded.Get(k); !ok || !value.Identical(v, want) {
			t.Errorf("key %s: found %t, %s", value.Append(nil, k), ok, value.Append(nil, v))
		}
		if k.Kind() != value.String {
			continue
		}
		at, ok := value.Entry(bytes, 0, k.Text())
		if v, _, err := value.View(bytes[at:]); !ok || err != nil || !value.Identical(v, want) {
			t.Errorf("key %q: Entry returned %t, position %d, %v", k.Text(), ok, at, err)
		}
	}
	for _, key := range []string{"k", "key", "inne", "3", "lastX"} {
		if v, ok := encoded.Get(value.FromString(key)); ok {
			t.Errorf("%s is not a key, found %s", key, value.Append(nil, v))
		}
	}
}

// A cut encoding must not be read beyond its end.
func TestEntryOfACutHashIsNotFound(t *testing.T) {
	for _, whole := range []value.Value{entries(), value.Strings("a", "b")} {
		bytes := string(value.Append(nil, whole))
		for n := range len(bytes) {
			if at, ok := value.Entry(strings.Clone(bytes[:n]), 0, "last"); ok {
				t.Fatalf("the first %d of %d bytes have the entry, at %d", n, len(bytes), at)
			}
		}
	}
	for _, b := range []string{"\x0a\x00\x00", "\x0a\x02\x01\x3f", "\x0a\x02\x02\x84last",
		"\x0a\x03\x01\x0b\x84last\x00"} {
		if at, ok := value.Entry(b, 0, "last"); ok {
			t.Errorf("%q has the entry, at %d", b, at)
		}
	}
}
