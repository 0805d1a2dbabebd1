package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// Each kind of lint has a test case: a message in a scenario, or a comparison of s.advice()["code"] in a test.
func TestEveryCodeHasATestCase(t *testing.T) {
	tested := map[string]bool{}
	expected := regexp.MustCompile(`: lint: .* \\?\[([a-z_]+)\\?\]|advice\(.*\)\["([a-z_]+)"\]`)
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
				tested[string(m[1])+string(m[2])] = true
			}
		}
	}
	for _, code := range Codes() {
		if !tested[string(code)] {
			t.Errorf("the lint '%s' has no test case", code)
		}
	}
}
