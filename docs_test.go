package bindc

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"bindc/internal/expr/stdlib"
	"bindc/internal/lint"
	"bindc/internal/testmode"
	"bindc/internal/types"
)

var (
	document = regexp.MustCompile("([a-zA-Z0-9_./-]*[a-zA-Z0-9_]\\.md)`?(\\]\\([^)]*\\))?" +
		`(, sections? ([0-9]+(?:, [0-9]+)*(?: (?:and|to) [0-9]+)?)|, "([^"]+)")?`)
	link   = regexp.MustCompile(`\]\(([^):]+)\)`)
	source = regexp.MustCompile("`([a-z][a-z0-9_]*/[a-z0-9_/]+\\.(?:go|txtar))`")
	number = regexp.MustCompile(`[0-9]+`)

	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

// Documents and sections that a comment or document refers to must exist.
func TestCitedDocumentsExist(t *testing.T) {
	testmode.SkipUnderRace(t)
	texts := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".go", ".md", ".txtar"}, filepath.Ext(path)) {
			return err
		}
		texts++
		text := read(t, path)
		for _, m := range document.FindAllStringSubmatch(prose(path, text), -1) {
			checkCited(t, path, m[1], number.FindAllString(m[4], -1), m[5])
		}
		if filepath.Ext(path) == ".md" {
			checkSources(t, path, text)
			for _, m := range link.FindAllStringSubmatch(text, -1) {
				checkLink(t, path, m[1])
			}
		}
		return nil
	})
	if err != nil || texts < 100 {
		t.Fatal(texts, "texts were read:", err)
	}
}

// checkLink reports a link in the document path to a file or a heading that does not exist.
func checkLink(t *testing.T, path, link string) {
	t.Helper()
	file, anchor, _ := strings.Cut(link, "#")
	target := path
	if file != "" {
		target = filepath.Join(filepath.Dir(path), file)
	}
	if _, err := os.Stat(target); err != nil {
		t.Errorf("%s: a link to %s, which does not exist", path, link)
	} else if anchor != "" && !slices.Contains(anchors(read(t, target)), anchor) {
		t.Errorf("%s: a link to %s, which has no such heading", path, link)
	}
}

// anchors returns the names by which links refer to the headings of a document.
func anchors(text string) (names []string) {
	for line := range strings.Lines(text) {
		if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && line[0] == '#' {
			names = append(names, strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(
				strings.TrimSpace(title)), ""), " ", "-"))
		}
	}
	return names
}

// checkSources reports references to missing sections, and source files cited by a path that does
// not exist.
func checkSources(t *testing.T, path, text string) {
	t.Helper()
	if strings.TrimSpace(text) == "" {
		t.Errorf("%s is empty", path)
	}
	for _, m := range source.FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat(m[1]); err != nil && path != "CHANGELOG.md" {
			t.Errorf("%s names %s, which does not exist", path, m[1])
		}
	}
}

// prose returns the text of path in one line: a document, or the comments of a program or scenario.
func prose(path, text string) string {
	mark := map[string]string{".go": "//", ".txtar": "#"}[filepath.Ext(path)]
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		if _, comment, ok := strings.Cut(line, mark); ok {
			lines = append(lines, strings.TrimSpace(comment))
		}
	}
	return strings.Join(lines, " ")
}

// checkCited reports references in path to documents, numbered sections and headings that do not exist. A document is
// cited by its path or, in docs/, by its name.
func checkCited(t *testing.T, path, cited string, sections []string, heading string) {
	t.Helper()
	for _, dir := range []string{filepath.Dir(path), ".", "docs"} {
		text, err := os.ReadFile(filepath.Join(dir, cited))
		if err != nil {
			continue
		}
		for _, n := range sections {
			if !strings.Contains(string(text), "\n## "+n+". ") {
				t.Errorf("%s cites section %s of %s, which has none", path, n, cited)
			}
		}
		if heading != "" && !strings.Contains(string(text), "# "+heading+"\n") {
			t.Errorf("%s cites %q in %s, which has no such heading", path, heading, cited)
		}
		return
	}
	t.Errorf("%s cites %s, which is not there", path, cited)
}

// TestLanguageListsFunctionsAndTypes compares the lists in docs/language.md with the tables of the program.
func TestLanguageListsFunctionsAndTypes(t *testing.T) {
	if got, want := listed(t, "functions"), stdlib.Functions.Names(); !slices.Equal(got, want) {
		t.Errorf("the functions in docs/language.md, section 7, are not those of stdlib.Functions: add %v, remove %v",
			without(want, got), without(got, want))
	}
	inGuide := listed(t, "types")
	for _, name := range inGuide {
		if _, err := types.Named(name); err != nil {
			t.Errorf("docs/language.md lists a type: %v", err)
		}
	}
	for k := types.Any; k <= types.Callable; k++ {
		if name := types.Of(k).String(); !slices.Contains(inGuide, name) {
			t.Errorf("docs/language.md does not list the type %s", name)
		}
	}
}

// without returns the names that are not in others.
func without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}

// listed returns the sorted words of the fenced block of that kind in docs/language.md.
func listed(t *testing.T, kind string) []string {
	t.Helper()
	_, after, _ := strings.Cut(read(t, "docs/language.md"), "\n```"+kind+"\n")
	block, _, ok := strings.Cut(after, "\n```\n")
	if !ok {
		t.Fatalf("docs/language.md has no block of %s", kind)
	}
	return slices.Sorted(slices.Values(strings.Fields(block)))
}

// TestLintDocumentListsAllCodes checks that docs/lint.md has a row for each code of a lint.
func TestLintDocumentListsAllCodes(t *testing.T) {
	_, table, _ := strings.Cut(read(t, "docs/lint.md"), "\n## Codes\n")
	table, _, _ = strings.Cut(table, "\n## ")
	for _, code := range lint.Codes() {
		if !strings.Contains(table, "\n| `"+string(code)+"` |") {
			t.Errorf("docs/lint.md, \"Codes\", has no row for %s: add one that lists its findings and the cases it misses", code)
		}
	}
}

// TestDocumentLinesAreShort checks that prose in documents has at most 100 columns. Tables, code, and lines with a
// link or an address may be longer.
func TestDocumentLinesAreShort(t *testing.T) {
	const columns = 100
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		code := false
		for i, line := range strings.Split(read(t, path), "\n") {
			trimmed := strings.TrimSpace(line)
			if strings.HasPrefix(trimmed, "```") {
				code = !code
			}
			exempt := code || strings.HasPrefix(line, "    ") || strings.HasPrefix(trimmed, "|") ||
				strings.Contains(line, "](") || strings.Contains(line, "://")
			if utf8.RuneCountInString(line) > columns && !exempt {
				t.Errorf("%s:%d: more than %d columns: break the line", path, i+1, columns)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDocumentedTestsExist checks that each test that a document names, or selects with -run, exists.
func TestDocumentedTestsExist(t *testing.T) {
	testmode.SkipUnderRace(t)
	tests := map[string][]string{}
	all, declared := []string{}, regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)`)
	for dir, files := range goFiles(t) {
		for _, name := range files {
			for _, m := range declared.FindAllStringSubmatch(read(t, name), -1) {
				tests[dir], all = append(tests[dir], m[1]), append(all, m[1])
			}
		}
	}
	named := regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z]\\w+)`")
	selected := regexp.MustCompile(`go test \./(\w[\w/]*) -run '?([A-Z][\w\\|]*)`)
	selections := 0
	for _, path := range documentPaths(t) {
		text := read(t, path)
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(all, m[1]) {
				t.Errorf("%s names the test %s, which does not exist", path, m[1])
			}
		}
		for _, m := range selected.FindAllStringSubmatch(text, -1) {
			for part := range strings.SplitSeq(strings.ReplaceAll(m[2], `\|`, "|"), "|") {
				selections++
				if !slices.ContainsFunc(tests[m[1]], func(name string) bool { return strings.Contains(name, part) }) {
					t.Errorf("%s: -run %s selects no test of ./%s", path, part, m[1])
				}
			}
		}
	}
	if selections < 10 {
		t.Errorf("only %d selections of tests were found in the documents", selections)
	}
}

// documentPaths returns the paths of all documents.
func documentPaths(t *testing.T) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// Codes that the guide explains must exist.
func TestGuideExplainsExistingCodes(t *testing.T) {
	_, tables, _ := strings.Cut(read(t, "docs/guide/find-out-why.md"), "\n## What does an error mean?\n")
	codes := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(tables, -1)
	if len(codes) < 10 {
		t.Fatalf("the guide explains %d codes", len(codes))
	}
	var code strings.Builder
	for dir, files := range goFiles(t) {
		for _, name := range files {
			if !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(dir, "bench") {
				code.WriteString(read(t, name))
			}
		}
	}
	for _, m := range codes {
		if !strings.Contains(code.String(), `"`+m[1]+`"`) {
			t.Errorf("the guide explains the code %s, which no program uses", m[1])
		}
	}
}
