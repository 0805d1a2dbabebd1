package value_test

import (
	"strings"
	"testing"

	"bindc/internal/value"
)

func TestPlainEndsAtTheFirstByteThatJSONEscapes(t *testing.T) {
	for length := range 40 {
		for at := range length + 1 {
			for c := range 256 {
				s := strings.Repeat("k", length)
				want := length
				if at < length {
					s = s[:at] + string([]byte{byte(c)}) + "\"\\\n\x80"[at%5%4:][:1] + strings.Repeat("~", length-at-1)
					want = at
					if c >= 0x20 && c < 0x80 && c != '"' && c != '\\' {
						want++
					}
				}
				if got := value.Plain(s); got != want {
					t.Fatalf("%q: %d bytes, want %d", s, got, want)
				}
			}
		}
	}
}
