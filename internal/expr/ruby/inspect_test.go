package ruby_test

import (
	"testing"

	"bindc/internal/expr/ruby"
	"bindc/internal/value"
)

// The expected strings come from Ruby 3.1.
func TestInspectShowsSameCharactersAsRuby(t *testing.T) {
	for text, want := range map[string]string{
		"\u00a0\u2003\u3000": "\"\u00a0\u2003\u3000\"",
		"\u00ad\u200b\ue000": "\"\u00ad\u200b\ue000\"",
		"\u0085":             "\"\u0085\"",
		"\u0084\u2028\u0378": `"\u0084\u2028\u0378"`,
		"\U0010ffff":         `"\u{10FFFF}"`,
		"#$x #x \"":          `"\#$x #x \""`,
	} {
		if got := ruby.Inspect(value.FromString(text)); got != want {
			t.Errorf("%q is %s, expected %s", text, got, want)
		}
	}
	if got := ruby.Inspect(value.Strings("x").Sensitive()); got != "#<Sensitive [value redacted]>" {
		t.Errorf("a sensitive value is shown as %s", got)
	}
}
