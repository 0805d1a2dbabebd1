package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindsMutantsOfEachKind(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	o := options{packages: []string{"./testdata/tiny"}, list: "testdata/equivalent.txt", jobs: 2}
	score, err := mutate(t.Context(), o, &out)
	if err != nil {
		t.Fatal(err)
	}
	want := `
testdata/tiny/tiny.go:28: survived: tiny.Clamp: n > 9 => >=
testdata/tiny/tiny.go:30: no test reaches: tiny.Clamp: n < 0 => false
testdata/tiny/tiny.go:30: no test reaches: tiny.Clamp: n < 0 => <=
testdata/tiny/tiny.go:30: survived: tiny.Clamp: 0 => 1
testdata/tiny/tiny.go:31: no test reaches: tiny.Clamp: 0 => 1 #2
testdata/tiny/tiny.go:43: no test reaches: tiny.untested: true => false
testdata/equivalent.txt: no such mutant: tiny.Gone: n > largest => >=

package          mutants  tried  killed equivalent  survived   score
bindc/tools/mutate/testdata/tiny      28     28      21          1         6  77.8 %
all                   28     28      21          1         6  77.8 %
`
	if got := "\n" + out.String(); got != want || score != 100*21./27 {
		t.Errorf("score %v:%s\nexpected %s", score, got, want)
	}
}

func TestAgainTriesOnlyMutantsThatSurvived(t *testing.T) {
	t.Parallel()
	former := filepath.Join(t.TempDir(), "report")
	text := "testdata/tiny/tiny.go:28: survived: tiny.Clamp: n > 9 => >=\n" +
		"tiny.go:1: no test reaches: tiny.untested: true => false\nbindc/tools/mutate/testdata/tiny 28 28\n"
	if err := os.WriteFile(former, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	o := options{packages: []string{"./testdata/tiny"}, list: "testdata/equivalent.txt", jobs: 2, again: former}
	score, err := mutate(t.Context(), o, &out)
	if err != nil {
		t.Fatal(err)
	}
	want := `
testdata/tiny/tiny.go:28: survived: tiny.Clamp: n > 9 => >=
testdata/tiny/tiny.go:43: no test reaches: tiny.untested: true => false

package          mutants  tried  killed equivalent  survived   score
bindc/tools/mutate/testdata/tiny      28      2       0          0         2   0.0 %
all                   28      2       0          0         2   0.0 %
`
	if got := "\n" + out.String(); got != want || score != 0 {
		t.Errorf("score %v:%s\nexpected %s", score, got, want)
	}
}

func TestChangedTriesOnlyChangedLines(t *testing.T) {
	t.Parallel()
	lines, err := hunks([]byte(`diff --git a/a.go b/a.go
--- a/a.go
+++ b/a.go
@@ -3,0 +4,2 @@ func f() {
+	one
+	two
@@ -9 +11 @@
-	was
+	is
@@ -20,2 +21,0 @@
-	gone
-	gone
`))
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[int]bool{3: false, 4: true, 5: true, 6: false, 11: true, 12: false, 21: false} {
		if got := within(lines["a.go"], line); got != want {
			t.Errorf("line %d changed: %v", line, got)
		}
	}
}

func TestRejectsEquivalentsWithoutReason(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"p.f: a => b\n  because\n":                         "",
		"p.f: a => b\np.f: c => d\n  because of both\n":    "",
		"p.f: a => b\n":                                    "no reason for p.f: a => b",
		"  because\n":                                      "a reason without a mutant",
		"p.f: a => b\n  because\n\np.f: a => b\n  again\n": "listed twice",
	} {
		path := filepath.Join(t.TempDir(), "equivalent.txt")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		list, err := readEquivalents(path)
		switch {
		case want == "" && (err != nil || !list.names("p.f: a => b")):
			t.Errorf("%q: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, expected %q", text, err, want)
		}
	}
}
