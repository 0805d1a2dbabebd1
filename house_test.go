package bindc

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// quoted is a text in a line: what a message says is not cut, so that it can be searched for.
var quoted = regexp.MustCompile("\"(\\\\.|[^\"\\\\])*\"|`[^`]*`")

// goFiles are the files of Go below the project, by folder.
func goFiles(t *testing.T) map[string][]string {
	t.Helper()
	files := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".go" {
			dir := filepath.ToSlash(filepath.Dir(path))
			files[dir] = append(files[dir], path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestLinesAreReadWithoutScrolling(t *testing.T) {
	const columns = 120 // a tab counts as 4
	for _, files := range goFiles(t) {
		for _, name := range files {
			for i, line := range strings.Split(read(t, name), "\n") {
				n := utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    "))
				if n > columns && !holdsText(line) {
					t.Errorf("%s:%d: %d columns, at most %d", name, i+1, n, columns)
				}
			}
		}
	}
}

// holdsText tells whether most of a line is text in quotes.
func holdsText(line string) bool { return len(quoted.ReplaceAllString(line, "")) < len(line)/2 }

// Who looks for something finds every folder in the tables.
func TestTablesNameEveryFolder(t *testing.T) {
	architecture, readme := read(t, "ARCHITECTURE.md"), read(t, "README.md")
	for dir := range goFiles(t) {
		top, rest, _ := strings.Cut(dir, "/")
		if dir == "." {
			continue
		}
		if top != "cmd" && !strings.Contains(readme, "| `"+top+"/`") {
			t.Errorf("the table in README.md does not name %s/", top)
		}
		name := top + "/`"
		if part, _, _ := strings.Cut(rest, "/"); top == "internal" || top == "cmd" {
			name = top + "/" + part + "`"
		}
		if !strings.Contains(architecture, "`"+name) {
			t.Errorf("the table in ARCHITECTURE.md does not name %s", strings.TrimSuffix(name, "`"))
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A link that leads out of the project is broken elsewhere, and so is a copy of the Puppet module that has it.
func TestLinksLeadIntoTheProject(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type() != fs.ModeSymlink {
			return err
		}
		target, err := os.Readlink(path)
		if err != nil {
			return err
		}
		if filepath.IsAbs(target) || !filepath.IsLocal(filepath.Join(filepath.Dir(path), target)) {
			t.Errorf("%s leads to %s: remove it, or let it lead to a file of the project", path, target)
		} else if _, err := os.Stat(path); err != nil {
			t.Errorf("%s leads to %s, which is not there: remove it", path, target)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
