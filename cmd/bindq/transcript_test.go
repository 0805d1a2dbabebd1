package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"bindc/compile"
	"bindc/diag"
	"bindc/loader"
	"bindc/snapshot"
)

// TestTranscripts runs the sessions in testdata/transcripts. A session is an archive: it begins with commands and what
// they print, as in a terminal, and has the files that they read.
//
//	$ NAME=VALUE bindq lookup key -s site.bsnap < input
//	a line of standard output
//	! a line of standard error
//	[2]
//
// The last line is the exit status, unless it is 0. Comments begin with # after an empty line. Single quotes hold words
// together. A word digest:FILE is the digest of a file, shortened as bindq prints it. Digests, times and the directory
// are shown as DIGEST, TIME and DIR.
//
// Besides bindq there are
//
//	build SITE -o FILE      compiles a site
//	truncate FILE           leaves the first half of a file
//	damage FILE SECTION     inverts the bytes of a section and corrects the checksums
func TestTranscripts(t *testing.T) {
	sessions, err := filepath.Glob("testdata/transcripts/*.txtar")
	if err != nil || len(sessions) == 0 {
		t.Fatal("expected sessions, found none:", err)
	}
	for _, path := range sessions {
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { runTranscript(t, path) })
	}
}

func runTranscript(t *testing.T, path string) {
	session, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.CopyFS(dir, must(txtar.FS(session))(t)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"BINDQ_SNAPSHOT", "BINDSYNC_STORE", "BINDSYNC_CONFIG", "BINDQ_FACTS_DIR", "BINDQ_IDENTITY",
		"BINDQ_EYAML_KEY"} {
		t.Setenv(name, "")
	}
	var found strings.Builder
	comment := true
	for line := range strings.Lines(string(session.Comment)) {
		switch {
		case strings.HasPrefix(line, "$ "):
			found.WriteString(line)
			found.WriteString(answerOf(t, dir, words(line[len("$ "):])))
			comment = false
		case strings.HasPrefix(line, "# "):
			if !comment {
				found.WriteString("\n")
			}
			found.WriteString(line)
			comment = true
		}
	}
	if *update {
		session.Comment = []byte(found.String())
		if err := os.WriteFile(path, txtar.Format(session), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, got := strings.Split(string(session.Comment), "\n"), strings.Split(found.String(), "\n")
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || want[i] != got[i] {
			t.Fatalf("%s:%d: from here on found\n%s", path, i+1, strings.Join(got[min(i, len(got)):], "\n"))
		}
	}
}

// words splits a command line.
func words(line string) (out []string) {
	for _, word := range regexp.MustCompile(`('[^']*'|[^\s'])+`).FindAllString(line, -1) {
		out = append(out, strings.ReplaceAll(word, "'", ""))
	}
	return out
}

// answerOf runs one command of a session and returns what a transcript has of it.
func answerOf(t *testing.T, dir string, args []string) string {
	t.Helper()
	for ; strings.Contains(args[0], "="); args = args[1:] {
		name, val, _ := strings.Cut(args[0], "=")
		defer os.Setenv(name, os.Getenv(name))
		os.Setenv(name, val)
	}
	for i, word := range args {
		if path, ok := strings.CutPrefix(word, "digest:"); ok {
			args[i] = fmt.Sprintf("%x", sha256.Sum256(must(os.ReadFile(path))(t)))[:12]
		}
	}
	var in []byte
	if n := len(args); n > 2 && args[n-2] == "<" {
		in, args = must(os.ReadFile(args[n-1]))(t), args[:n-2]
	}
	var stdout, stderr bytes.Buffer
	status := 0
	switch args[0] {
	case "bindq":
		root := command(nil)
		root.SetArgs(args[1:])
		root.SetIn(bytes.NewReader(in))
		root.SetOut(&stdout)
		root.SetErr(&stderr)
		status = execute(root)
	case "build":
		buildSite(t, args[1], args[3])
		makeOld(t, args[3])
	case "truncate":
		text := must(os.ReadFile(args[1]))(t)
		if err := os.WriteFile(args[1], text[:len(text)/2], 0o666); err != nil {
			t.Fatal(err)
		}
		makeOld(t, args[1])
	case "damage":
		damageSection(t, args[1], args[2])
	default:
		t.Fatalf("unknown command '%s'", args[0])
	}
	out := ended(stdout.String())
	for line := range strings.Lines(ended(stderr.String())) {
		out += "! " + line
	}
	if status != 0 {
		out += fmt.Sprintf("[%d]\n", status)
	}
	return withoutChance(strings.ReplaceAll(out, dir, "DIR"))
}

// ended returns text with an end of its last line, which is shown if it is missing.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "(no newline)\n"
}

// chance has what differs from run to run, and what stands for it.
var chance = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "DIGEST"},
	{regexp.MustCompile(`\b[0-9a-f]{12}\b`), "SHORTDIGEST"},
	{regexp.MustCompile(`\.\d+\.tmp\b`), ".N.tmp"},
	{regexp.MustCompile(`\b20\d\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?`), "TIME"},
	{regexp.MustCompile(`"(seconds|age)": [\d.e-]+`), `"$1": N`},
	{regexp.MustCompile(`"validator": "\d+ \d+ \d+"`), `"validator": "V"`},
	{regexp.MustCompile(` +` + regexp.QuoteMeta(byWhom()) + ` +`), "  USER  "},
}

func withoutChance(text string) string {
	for _, c := range chance {
		text = c.pattern.ReplaceAllString(text, c.name)
	}
	return text
}

// makeOld makes a file an hour old: a source trusts the times of a file only when that has not changed for seconds.
func makeOld(t *testing.T, path string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

// damageSection inverts the bytes of a section of a snapshot. The checksums fit, so that it can be opened.
func damageSection(t *testing.T, path, section string) {
	t.Helper()
	text := must(os.ReadFile(path))(t)
	f := must(snapshot.Open(path))(t)
	defer f.Close()
	for _, s := range f.Info().Sections {
		if s.Name == section {
			for i := range s.Bytes {
				text[s.Offset+i] ^= 0xff
			}
		}
	}
	if err := os.WriteFile(path+".new", resum(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	makeOld(t, path)
}

// buildSite compiles the site in dir into the snapshot at path.
func buildSite(t *testing.T, dir, path string) {
	t.Helper()
	var diags diag.List
	content := compile.Compile(loader.Load(dir, loader.Options{}, &diags), compile.Options{}, &diags)
	if diags.Failed() {
		t.Fatal(diags.Sorted())
	}
	if _, err := snapshot.Write(path, content); err != nil {
		t.Fatal(err)
	}
}
