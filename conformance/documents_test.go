package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"bindc/internal/testmode"
)

// Documents are executed as a reader would try them. Each `## ` section begins in an empty directory. A fenced block of
// yaml, pp, go, sh or python whose first line is a comment with the name of a file is that file. A block of console has
// lines `$ command`, each followed by its output and errors. There, `…` matches any text, or any lines if it is alone
// on a line. With -update, the output of the programs is written into the documents.

// TestDocuments executes every example in docs/.
func TestDocuments(t *testing.T) {
	t.Parallel()
	testmode.SkipUnderRace(t)
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a shell")
	}
	paths, least := documents(t), 20
	if !*update && !testmode.Asked(t) {
		paths, least = testmode.Sample(t, paths, 3), 5
	}
	commands := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		doc := &document{t: t, path: path}
		doc.run(strings.Split(string(text), "\n"))
		commands += doc.commands
		if got := strings.Join(doc.out, "\n"); *update && got != string(text) {
			if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	if commands < least {
		t.Errorf("only %d commands were found in the documents", commands)
	}
}

// documents returns the paths of the documents in docs/ and docs/guide/.
func documents(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, pattern := range []string{"../docs/*.md", "../docs/guide/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s matches no document: %v", pattern, err)
		}
		paths = append(paths, found...)
	}
	return paths
}

// document is a document that is executed: its lines so far, with the output of the commands.
type document struct {
	t        *testing.T
	path     string
	dir      string
	out      []string
	commands int
}

var fileName = regexp.MustCompile(`^(?:#|//) ([\w./-]+\.(?:yaml|pp|go|sh|py))(?:$|[:,] )`)

func (d *document) run(lines []string) {
	for i := 0; i < len(lines); i++ {
		d.out = append(d.out, lines[i])
		if strings.HasPrefix(lines[i], "## ") || d.dir == "" {
			d.dir = d.t.TempDir()
		}
		kind, fenced := strings.CutPrefix(lines[i], "```")
		if !fenced {
			continue
		}
		end := i + 1 + slices.Index(lines[i+1:], "```")
		if end == i {
			d.t.Fatalf("%s:%d: the block does not end", d.path, i+1)
		}
		block := lines[i+1 : end]
		if kind == "console" {
			d.console(i+2, block)
		} else {
			d.file(block)
			d.out = append(d.out, block...)
		}
		d.out = append(d.out, lines[end])
		i = end
	}
}

// file writes a block to the file that it names.
func (d *document) file(block []string) {
	m := fileName.FindStringSubmatch(strings.Join(block[:min(1, len(block))], ""))
	if m == nil {
		return
	}
	path := filepath.Join(d.dir, filepath.FromSlash(m[1]))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(block, "\n")+"\n"), 0o666); err != nil {
		d.t.Fatal(err)
	}
	if strings.HasSuffix(path, ".go") {
		d.module()
	}
}

// module makes the directory a Go module that uses this one, as README.md describes.
func (d *document) module() {
	root, err := filepath.Abs("..")
	if err != nil {
		d.t.Fatal(err)
	}
	sums, err := os.ReadFile("../go.sum")
	if err != nil {
		d.t.Fatal(err)
	}
	text := "module example.org/program\n\ngo 1.26.0\n\nrequire bindc v0.0.0\n\nreplace bindc => " + root + "\n"
	for name, text := range map[string]string{"go.mod": text, "go.sum": string(sums)} {
		if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o666); err != nil {
			d.t.Fatal(err)
		}
	}
}

// console runs the commands of a block that begins at line n, and compares their output.
func (d *document) console(n int, block []string) {
	for i := 0; i < len(block); {
		command, ok := strings.CutPrefix(block[i], "$ ")
		if !ok {
			d.t.Fatalf("%s:%d: expected a line with '$ command'", d.path, n+i)
		}
		d.commands++
		next := i + 1
		for next < len(block) && !strings.HasPrefix(block[next], "$ ") {
			next++
		}
		want, got := block[i+1:next], d.execute(command)
		d.out = append(d.out, block[i])
		if printed(want).MatchString(strings.Join(got, "\n")) {
			d.out = append(d.out, want...)
		} else if d.out = append(d.out, got...); !*update {
			d.t.Errorf("%s:%d: %s\nprints\n%s\nnot\n%s\n(TestDocuments with -update writes it down)",
				d.path, n+i, command, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		i = next
	}
}

// execute runs a command and returns the lines of its output.
func (d *document) execute(command string) []string {
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = d.dir
	cmd.Env = append(newModuleEnv(), "NO_COLOR=1", "COLUMNS=80", "BINDQ_SNAPSHOT=", "GIT_CONFIG_GLOBAL=/dev/null")
	out, err := cmd.CombinedOutput()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		d.t.Fatal(err)
	}
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// printed reports whether the output matches the document.
func printed(lines []string) *regexp.Regexp {
	var text strings.Builder
	for i, line := range lines {
		if line == "…" {
			text.WriteString(`(?s:.*)`)
			continue
		}
		if i > 0 && lines[i-1] != "…" {
			text.WriteString("\n")
		}
		quoted := strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*")
		fmt.Fprintf(&text, "(?m:^%s$)", quoted)
	}
	return regexp.MustCompile(`\A` + text.String() + `\z`)
}
