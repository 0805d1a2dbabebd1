package diag

import "testing"

func TestReplacesUnsafeCharactersByEscapes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"köln, 日本", "köln, 日本"},
		{"\x1b[31mred", `\x1b[31mred`},
		{"a\nb\tc\r\x7f", `a\x0ab\x09c\x0d\x7f`},
		{"\u009b31m", `\u009b31m`},                                 // the same escape as a single character
		{"abc\u202edef\u2066x\u2028", `abc\u202edef\u2066x\u2028`}, // changes of direction, and a line separator
		{"\xffx", `\xffx`},                                         // invalid UTF-8
		{"\ufffd\x1b", "\ufffd\\x1b"},                              // a real replacement character
	} {
		if got := Visible(c.text); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
