package lookup

import (
	"strings"
	"testing"
)

// Values that are taken as they are must be those that folding leaves alone: each byte alone decides, wherever it
// stands, be it in eight bytes or in what is left of the text.
func TestOneByteDecidesWhetherAValueIsFolded(t *testing.T) {
	for _, length := range []int{1, 7, 8, 9, 16, 21} {
		for at := range length {
			for c := range 256 {
				text := strings.Repeat("z", at) + string([]byte{byte(c)}) + strings.Repeat("a", length-at-1)
				want := c < 0x80 && strings.ToLower(text) == text
				if got := isFolded(text); got != want {
					t.Fatalf("isFolded(%q) is %t, want %t", text, got, want)
				}
			}
		}
	}
	if !isFolded("") {
		t.Error("the empty text is not folded")
	}
}
