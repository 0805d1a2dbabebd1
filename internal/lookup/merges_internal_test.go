package lookup

import (
	"fmt"
	"strings"
	"testing"

	"bindc/internal/value"
)

// A request caches merges while there is space. The cache is emptied when its facts change.
func TestMergesCacheIsLimited(t *testing.T) {
	const large = maxMerges / 4
	var m merges
	of := func(i int) mergeOf { return mergeOf{root: fmt.Sprint("key", i)} }
	kept := func() (n int) {
		for i := range 10 {
			if _, ok := m.get(of(i)); ok {
				n++
			}
		}
		return n
	}
	for i := range 10 {
		m.keep(of(i), value.FromString(strings.Repeat("x", large)))
		if !m.mu.TryLock() {
			t.Fatal("a cached merge is not found")
		}
		m.mu.Unlock()
	}
	m.get(of(0))
	if !m.mu.TryLock() {
		t.Fatal("a merge can no longer be cached")
	}
	m.mu.Unlock()
	if n := kept(); n < 3 || n > 4 {
		t.Errorf("%d values of %d bytes are kept in %d", n, large, maxMerges)
	}
	m.forget()
	if n := kept(); n != 0 {
		t.Errorf("%d values are kept of other facts", n)
	}
	m.keep(of(0), value.FromString("small"))
	if n := kept(); n != 1 {
		t.Errorf("%d values are kept of these facts", n)
	}
}
