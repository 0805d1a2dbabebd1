package value

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Large hashes have an index. They must find the same entries as a linear search.
func TestLargeHashFindsSameEntriesAsSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	key := func() Value {
		n := int64(r.IntN(60))
		switch r.IntN(6) {
		case 0:
			return FromString(string(rune('a' + n)))
		case 1:
			return FromInt(n)
		case 2:
			return FromFloat(float64(n))
		case 3:
			return FromSlice([]Value{FromInt(n), FromString("x")})
		case 4:
			return FromPairs(Pair{FromString("a"), FromInt(n)}, Pair{FromString("b"), FromInt(1)})
		}
		return FromPairs(Pair{FromString("b"), FromInt(1)}, Pair{FromString("a"), FromInt(n)})
	}
	for range 200 {
		var b Builder
		var want []Pair
		for i := range r.IntN(200) {
			p := Pair{key(), FromInt(int64(i))}
			known := false
			for j := range want {
				if Identical(want[j].Key, p.Key) {
					want[j].Value, known = p.Value, true
				}
			}
			if !known {
				want = append(want, p)
			}
			b.Set(p.Key, p.Value)
		}
		h := b.Hash()
		if h.Len() != len(want) {
			t.Fatalf("%d entries, expected %d", h.Len(), len(want))
		}
		i := 0
		for k, v := range h.Pairs() {
			got, ok := h.Get(want[i].Key)
			if !Identical(k, want[i].Key) || !Identical(v, want[i].Value) || !ok || !Identical(got, v) {
				t.Fatalf("entry %d is not %v", i, want[i])
			}
			i++
		}
	}
}

func TestHashKeepsAllNaNKeys(t *testing.T) {
	for _, n := range []int{2, 100} {
		var b Builder
		for range n {
			b.Set(FromFloat(math.NaN()), FromInt(1))
		}
		if h := b.Hash(); h.Len() != n {
			t.Errorf("%d entries, expected %d", h.Len(), n)
		}
	}
}
