package lookup

import (
	"strings"
	"testing"
)

// isFolded only accepts values that folding does not change. The test puts each byte at each position, in a block of
// eight bytes and in the rest of the text.
func TestIsFoldedChecksEveryByte(t *testing.T) {
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
