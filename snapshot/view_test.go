package snapshot

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"bindc/internal/value"
)

// The fingerprint of a name equals that of a key once in 256 names. View.Lookup must then compare every byte, which it
// does eight at a time.
func TestViewFindsOnlyWholeKeys(t *testing.T) {
	for _, length := range []int{17, 24, 31, 32, 33, 40, 47, 48, 60} {
		key := strings.Repeat("k", length)
		s := open(t, &Content{Layers: []string{"site"}, Values: stored(value.FromInt(1)),
			Keys: []Key{{Name: key, Default: 0}}})
		var at Scopes
		if err := s.Resolve(nil, &at); err != nil {
			t.Fatal(err)
		}
		small := value.NewSource(func(ref uint64) (value.Value, error) { return s.Value(Ref(ref)) })
		v := NewView(s, &atomic.Bool{}, small, false, nil)
		v.Scopes = at
		if _, found, err := v.Lookup(key); !found || err != nil {
			t.Errorf("%s: found is %t, the error %v", key, found, err)
		}
		for from := range length - 2 {
			for n := range 1000 {
				name := key[:from] + fmt.Sprintf("%03d", n) + key[from+3:]
				if _, found, _ := v.Lookup(name); found {
					t.Fatalf("found %s, which is not a key; the key is %s", name, key)
				}
			}
		}
	}
}
