package bindc

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"bindc/internal/testmode"
)

// quoted matches text in quotes. Messages are not split, so that they can be searched for.
var quoted = regexp.MustCompile("\"(\\\\.|[^\"\\\\])*\"|`[^`]*`")

// goFiles returns the Go files of the project by folder.
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

func TestLinesAreShort(t *testing.T) {
	const columns = 120 // a tab counts as 4
	for _, files := range goFiles(t) {
		for _, name := range files {
			for i, line := range strings.Split(read(t, name), "\n") {
				n := utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    "))
				if n > columns && !holdsText(line) {
					t.Errorf("%s:%d: %d columns, at most %d: break the line", name, i+1, n, columns)
				}
			}
		}
	}
}

// holdsText reports whether a line consists mostly of quoted text.
func holdsText(line string) bool { return len(quoted.ReplaceAllString(line, "")) < len(line)/2 }

// maxArchitecture limits the length of ARCHITECTURE.md, which should be read as a whole.
const maxArchitecture = 150

func TestArchitectureIsShort(t *testing.T) {
	if n := strings.Count(read(t, "ARCHITECTURE.md"), "\n"); n > maxArchitecture {
		t.Errorf("ARCHITECTURE.md has %d lines, at most %d: decisions belong in docs/decisions", n, maxArchitecture)
	}
}

// TestFilesAndFunctionsStayShort limits the lengths of files and functions. Tests are exempt.
func TestFilesAndFunctionsStayShort(t *testing.T) {
	testmode.SkipUnderRace(t)
	const fileLines, functionLines = 400, 60
	for _, names := range goFiles(t) {
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			if lines := strings.Count(read(t, name), "\n"); lines > fileLines {
				t.Errorf("%s has %d lines, at most %d: split it by theme", name, lines, fileLines)
			}
			for function, lines := range functionLengths(t, name) {
				if lines > functionLines {
					t.Errorf("%s: %s has %d lines, at most %d: split it", name, function, lines, functionLines)
				}
			}
		}
	}
}

// functionLengths returns the number of lines of each function of a file.
func functionLengths(t *testing.T, name string) map[string]int {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	lengths := map[string]int{}
	for _, decl := range file.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok {
			lines := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1
			lengths[fn.Name.Name] = max(lines, lengths[fn.Name.Name])
		}
	}
	return lengths
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
			t.Errorf("the table in ARCHITECTURE.md does not name %s: add a row with its job", strings.TrimSuffix(name, "`"))
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

// A link that leads out of the project would be broken elsewhere, for instance in a copy of the
// Puppet module.
func TestLinksStayInTheProject(t *testing.T) {
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

// go build leaves a program in the current directory. It must not be committed.
func TestNoProgramIsCommitted(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		t.Skip("this is not a checkout of git")
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if text, err := os.ReadFile(name); err == nil && bytes.HasPrefix(text, []byte("\x7fELF")) {
			t.Errorf("%s is a program; remove it, and add it to .gitignore", name)
		}
	}
}

// .ci/run finds the tests that call SkipUnderRace, and runs them by name without the race detector. It would not find a
// call in another function, whose tests would never run.
func TestSkipUnderRaceIsCalledFirst(t *testing.T) {
	const call = "testmode.SkipUnderRace("
	first := regexp.MustCompile(`(?m)^func (?:Test|Fuzz)\w+\(\w \*testing\.\w\) \{\n(?:\tt\.Parallel\(\)\n)?\t` + regexp.QuoteMeta(call))
	all := 0
	for _, names := range goFiles(t) {
		for _, name := range names {
			if !strings.HasSuffix(name, "_test.go") || name == "house_test.go" {
				continue
			}
			text := read(t, name)
			calls := strings.Count(text, call)
			if all += calls; calls > len(first.FindAllString(text, -1)) {
				t.Errorf("%s: only the first line of a test, or the line after t.Parallel(), may call %s)", name, call)
			}
		}
	}
	if all == 0 {
		t.Error("no test calls " + call + ")")
	}
}
