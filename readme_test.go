package bindc

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeHasTheTestCommand checks that README.md has the command that runs the tests.
func TestReadmeHasTheTestCommand(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\n## Test\n\n    go test ./...\n") {
		t.Error("README.md has no section Test that begins with 'go test ./...'")
	}
}
