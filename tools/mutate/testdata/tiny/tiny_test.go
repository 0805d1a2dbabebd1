package tiny

import "testing"

func TestLargest(t *testing.T) {
	if got := Largest([]int{1, 3, 2}); got != 3 {
		t.Error(got)
	}
	if got := Largest(nil); got != 0 {
		t.Error(got)
	}
}

func TestHalvings(t *testing.T) {
	for n, want := range map[int]int{1: 0, 2: 1, 9: 3} {
		if got := Halvings(n); got != want {
			t.Error(n, got)
		}
	}
}

func TestClamp(t *testing.T) {
	for n, want := range map[int]int{5: 5, 9: 9, 10: 9} {
		t.Run("not below", func(t *testing.T) {
			if got := Clamp(n); got != want {
				t.Error(n, got)
			}
		})
	}
}

func TestSizes(t *testing.T) {
	if n, ok := Sizes(); n != 6 || !ok {
		t.Error(n, ok)
	}
}
