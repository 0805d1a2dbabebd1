package value_test

import (
	"strings"
	"testing"

	"bindc/internal/value"
)

func TestPlainTextHasNoByteThatJSONEscapes(t *testing.T) {
	for length := range 40 {
		if s := strings.Repeat("~", length); !value.IsPlain(s) {
			t.Fatalf("%q is not plain", s)
		}
		for at := range length {
			for c := range 256 {
				s := strings.Repeat("k", at) + string([]byte{byte(c)}) + strings.Repeat(" ", length-at-1)
				want := c >= 0x20 && c < 0x80 && c != '"' && c != '\\'
				if got := value.IsPlain(s); got != want {
					t.Fatalf("%q: plain is %t, want %t", s, got, want)
				}
			}
		}
	}
}
