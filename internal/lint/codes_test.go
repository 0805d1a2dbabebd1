package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// Each kind of lint has a test case: a scenario or a Go test expects a message with its code in brackets.
func TestEveryCodeHasATestCase(t *testing.T) {
	tested := map[string]bool{}
	expected := regexp.MustCompile(`\["?([a-z_]+)"?\\?\]`) // [code], \[code\] or ["code"]
	for _, pattern := range []string{"*_test.go", "testdata/*.txtar", "../../cmd/testdata/script/*.txtar"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files (%v)", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range expected.FindAllSubmatch(text, -1) {
				tested[string(m[1])] = true
			}
		}
	}
	for _, code := range Codes() {
		if !tested[string(code)] {
			t.Errorf("the lint '%s' has no test case", code)
		}
	}
}
