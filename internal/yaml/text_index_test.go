package yaml

import (
	"fmt"
	"testing"

	"bindc/internal/value"
)

// An index finds each of its keys, also after it has grown. After clear, it finds none of the earlier keys.
func TestTextIndexFindsKeysOfThisMapping(t *testing.T) {
	var x textIndex
	for _, count := range []int{3, 5 * keptTexts, 100} {
		x.clear()
		var kids []Node
		for i := range count {
			kids = append(kids, Node{Value: value.FromString(fmt.Sprint(count, " key ", i))}, Node{})
			x.add(kids, 2*i)
		}
		for i := range count {
			if at, ok := x.find(kids, fmt.Sprint(count, " key ", i)); !ok || at != 2*i {
				t.Fatalf("key %d of %d is at %d, %t", i, count, at, ok)
			}
		}
		if at, ok := x.find(kids, "3 key 4"); ok {
			t.Errorf("a key that %d keys do not have is at %d", count, at)
		}
	}
}
