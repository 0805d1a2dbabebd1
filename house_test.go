package bindc

import (
	"fmt"
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

// maxArchitecture is the most lines that ARCHITECTURE.md may have: it is read as a whole.
const maxArchitecture = 150

func TestArchitectureIsShort(t *testing.T) {
	if n := strings.Count(read(t, "ARCHITECTURE.md"), "\n"); n > maxArchitecture {
		t.Errorf("ARCHITECTURE.md has %d lines, at most %d: decisions belong in docs/decisions", n, maxArchitecture)
	}
}

// TestTablesNameEveryFolder checks that the table in ARCHITECTURE.md has every folder with Go code.
func TestTablesNameEveryFolder(t *testing.T) {
	architecture := read(t, "ARCHITECTURE.md")
	for dir := range goFiles(t) {
		top, rest, _ := strings.Cut(dir, "/")
		if dir == "." {
			continue
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

// TestDecisionsAreIndexed checks that docs/decisions/README.md links every page, and that its lines are short.
func TestDecisionsAreIndexed(t *testing.T) {
	const columns = 100
	pages, err := filepath.Glob("docs/decisions/[0-9]*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("no decisions:", err)
	}
	index := read(t, "docs/decisions/README.md")
	for i, page := range pages {
		name := filepath.Base(page)
		if !strings.Contains(index, "("+name+")") {
			t.Errorf("docs/decisions/README.md does not link %s", name)
		}
		if !strings.HasPrefix(name, fmt.Sprintf("%03d-", i+1)) {
			t.Errorf("%s: expected number %03d", name, i+1)
		}
		for n, line := range strings.Split(read(t, page), "\n") {
			if utf8.RuneCountInString(line) > columns {
				t.Errorf("%s:%d: more than %d columns", page, n+1, columns)
			}
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
