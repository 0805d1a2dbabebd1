package lint

import (
	"strings"
	"testing"
)

// A comment without effect is reported at the wrong word. Its correct words still silence lints.
func TestReportsIgnoreCommentWithoutEffect(t *testing.T) {
	for comment, want := range map[string]string{
		"# bindc: ignore near_key":           "",
		"# bindc: ignore near_key, no_node":  "",
		"# bindc: ignore near_kee":           "3:10: this comment has no effect: unknown lint code 'near_kee'; did you mean 'near_key'? [ignored_code]",
		"  # bindc: ignore near_key, unkown": "3:12: this comment has no effect: unknown lint code 'unkown' [ignored_code]",
		"# bindc: ignor near_key":            "3:10: this comment has no effect: expected '# bindc: ignore CODE' [ignored_code]",
		"# bindc: ignore":                    "3:10: this comment has no effect: expected '# bindc: ignore CODE' [ignored_code]",
		"# bindc compiles this file":         "",
	} {
		t.Run(comment, func(t *testing.T) {
			s := site{"hiera.yaml": "version: 2", "data/common.yaml": "a: 1\nb: 2\n" + comment + "\nc: 3\n"}
			var got []string
			for _, d := range s.diagnostics(t, Options{}) {
				text := strings.TrimPrefix(d.Pos.String(), "data/common.yaml:") + ": " + d.Message
				if d.Hint != "" {
					text += "; " + d.Hint
				}
				got = append(got, text+" ["+string(d.Code)+"]")
			}
			if text := strings.Join(got, "\n"); text != want {
				t.Errorf("advises %q, expected %q", text, want)
			}
		})
	}
}
