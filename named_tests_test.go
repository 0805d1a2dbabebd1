package bindc

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bindc/internal/testmode"
)

var (
	testCommand = regexp.MustCompile("go test (\\./[\\w/]+)[^\n`]*? -run ('[^']+'|\"[^\"]+\"|[^\\s`;]+)")
	testName    = regexp.MustCompile(`\bTest[A-Z]\w+`)
	testFunc    = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)
)

// `go test -run PATTERN` succeeds if no test matches. This test finds commands in documents and scripts whose pattern
// matches no test, for example after a test was renamed.
func TestNamedTestsExist(t *testing.T) {
	testmode.SkipUnderRace(t)
	files, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, path := range append(files, "CONTRIBUTING.md", "faults/long") {
		for _, m := range testCommand.FindAllStringSubmatch(readText(t, path), -1) {
			pattern := strings.ReplaceAll(strings.Trim(m[2], `'"`), `\|`, "|")
			if strings.Contains(pattern, "$1") || pattern == "^$" {
				continue // the script inserts a name, or runs no test
			}
			commands++
			for _, one := range alternatives(pattern) {
				if !matchesTest(t, m[1], one) {
					t.Errorf("%s: 'go test %s -run %s': no test matches '%s'", path, m[1], pattern, one)
				}
			}
		}
	}
	if commands < 10 {
		t.Errorf("only %d commands were found", commands)
	}
	for path, dir := range map[string]string{"faults/long": "faults,compile,loader", "bench/cmd/deploy/main.go": "faults,ship"} {
		for _, name := range testName.FindAllString(readText(t, path), -1) {
			if !matchesTest(t, dir, "^"+name) {
				t.Errorf("%s: no test in %s is called %s", path, dir, name)
			}
		}
	}
}

// alternatives splits a pattern at the bars between its alternatives: the whole pattern or its bracketed text.
// It leaves out the names of subtests.
func alternatives(pattern string) (out []string) {
	before, inner, ok := strings.Cut(pattern, "(")
	if !ok {
		before, inner = "", pattern
	}
	for one := range strings.SplitSeq(strings.TrimSuffix(inner, ")"), "|") {
		test, _, _ := strings.Cut(one, "/")
		out = append(out, before+test)
	}
	return out
}

// matchesTest reports whether a pattern matches a test in one of the directories, separated by commas.
func matchesTest(t *testing.T, dirs, pattern string) bool {
	t.Helper()
	matches := regexp.MustCompile(pattern).MatchString
	for dir := range strings.SplitSeq(dirs, ",") {
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			for _, m := range testFunc.FindAllStringSubmatch(readText(t, path), -1) {
				if matches(m[1]) {
					return true
				}
			}
		}
	}
	return false
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
