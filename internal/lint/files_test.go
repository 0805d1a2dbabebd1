package lint

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/fsx"
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

// five is a hiera.yaml with two data files.
const five = "version: 5\nhierarchy:\n- {name: all, paths: [common.yaml, x.yaml]}\n"

// A check that has the results of the last one reports the same lints, for files that are unchanged, changed, or data
// of another kind now.
func TestSameLintsWithFilesOfLastCheck(t *testing.T) {
	dir, kept := t.TempDir(), &Files{}
	for i, s := range []site{
		{"hiera.yaml": five, "data/common.yaml": "a: yes\n", "data/x.yaml": "x: on\n"},
		{"data/x.yaml": "x: 1\ny: off\n"},
		{"data/common.yaml": "a: yes\n# bindc: ignore unknown\n"},
		{"data/common.yaml": "a: \"%{osfamily}\"\n"},
		{"hiera.yaml": "version: 2\n"},
	} {
		s.write(t, dir)
		loaded, content, _ := sound(t, dir)
		var want, got diag.List
		Check(loaded, content, Options{Codes: Codes()}, &want)
		Check(loaded, content, Options{Codes: Codes(), Files: kept}, &got)
		if !reflect.DeepEqual(got.Sorted(), want.Sorted()) {
			t.Errorf("check %d reports\n%v, expected\n%v", i, got.Sorted(), want.Sorted())
		}
	}
}

// Files whose content has not changed are not read again.
func TestReadsOnlyChangedFilesAgain(t *testing.T) {
	dir, kept := t.TempDir(), &Files{}
	site{"hiera.yaml": five, "data/common.yaml": "a: 1\n", "data/x.yaml": "x: 1\n"}.write(t, dir)
	check := func() []string {
		loaded, content, diags := sound(t, dir)
		seen := &fsx.Seen{}
		Check(loaded, content, Options{Codes: Codes(), Files: kept, Disk: fsx.Disk{Seen: seen}}, diags)
		var read []string
		for _, look := range seen.Looks() {
			if look.Op == fsx.Read {
				read = append(read, filepath.Base(look.Path))
			}
		}
		slices.Sort(read)
		return read
	}
	if got, want := check(), []string{"common.yaml", "hiera.yaml", "x.yaml"}; !slices.Equal(got, want) {
		t.Errorf("the first check reads %q, expected %q", got, want)
	}
	site{"data/x.yaml": "x: 2\n"}.write(t, dir)
	if got, want := check(), []string{"x.yaml"}; !slices.Equal(got, want) {
		t.Errorf("the second check reads %q, expected %q", got, want)
	}
}
