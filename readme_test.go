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

// TestReadmeNamesTheYAMLParser checks that README.md says which library parses YAML. internal/yaml imports it.
func TestReadmeNamesTheYAMLParser(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.yaml.in/yaml/v4", "libyaml", "docs/decisions/001-yaml-library.md"} {
		if !strings.Contains(string(text), name) {
			t.Errorf("README.md does not name %s", name)
		}
	}
}
