package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// Each kind of lint is reported in at least one scenario.
func TestEveryCodeIsReportedInAScenario(t *testing.T) {
	reported := map[string]bool{}
	message := regexp.MustCompile(`(?m): lint: .* \[([a-z_0-9]+)\]$`)
	for _, pattern := range []string{"testdata/*.txtar", "../../cmd/testdata/script/*.txtar"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no scenarios (%v)", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range message.FindAllSubmatch(text, -1) {
				reported[string(m[1])] = true
			}
		}
	}
	for _, code := range Codes() {
		if !reported[string(code)] {
			t.Errorf("no scenario reports the lint '%s'; add one to testdata", code)
		}
	}
}
