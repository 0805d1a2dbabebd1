package testsite

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// Program runs a program in this process and returns its exit status.
type Program func(args []string, in io.Reader, out, errs io.Writer) int

type session struct {
	*testing.T
	name    string // name by which commands invoke the program
	program Program
	dir     string
}

// RunSessions runs the sessions in testdata/transcripts, which are files with commands and their expected output.
// Commands invoke program by the given name. If update is set, RunSessions replaces the expected output by the current
// output.
//
// A session is a txtar archive. Its comment contains the commands, and its files are those that the commands read:
//
//	$ NAME=VALUE bindq lookup key -s site.snap < input
//	a line of standard output
//	! a line of standard error
//	[2]
//
// The last line is the exit status; it is omitted if the status is 0. A line that begins with # after an empty line is
// a comment. Single quotes keep words together. A word digest:FILE is replaced by the short form of the file's digest.
// In the output, digests, times and the directory are replaced by DIGEST, TIME and DIR.
//
// There are some commands in addition to the program:
//
//	build SITE -o FILE      compiles a site
//	slice FILE TERM OUT     cuts from a snapshot what requests with the term CATEGORY=VALUE can reach
//	truncate FILE           leaves the first half of a file
//	damage FILE SECTION     inverts the bytes of a section and corrects the checksums
func RunSessions(t *testing.T, name string, program Program, update bool) {
	paths, err := filepath.Glob("testdata/transcripts/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("expected sessions, found none:", err)
	}
	for _, path := range paths {
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			s := &session{T: t, name: name, program: program, dir: t.TempDir()}
			s.run(path, update)
		})
	}
}

// run runs the session in a file and reports an error if the output is not as expected.
func (s *session) run(path string, update bool) {
	archive, err := txtar.ParseFile(path)
	s.check(err)
	s.Chdir(s.dir)
	files, err := txtar.FS(archive)
	s.check(err)
	s.check(os.CopyFS(s.dir, files))
	for _, name := range []string{"BINDQ_SNAPSHOT", "BINDSYNC_STORE", "BINDSYNC_CONFIG", "BINDQ_FACTS_DIR",
		"BINDQ_IDENTITY", "BINDQ_EYAML_KEY"} {
		s.Setenv(name, "")
	}
	s.Setenv("COLUMNS", "80")
	found := s.withOutput(string(archive.Comment))
	if update {
		archive.Comment = []byte(found)
		s.check(os.WriteFile(path, txtar.Format(archive), 0o666))
	}
	want, got := strings.Split(string(archive.Comment), "\n"), strings.Split(found, "\n")
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || want[i] != got[i] {
			s.Fatalf("%s:%d: from here on found\n%s", path, i+1, strings.Join(got[min(i, len(got)):], "\n"))
		}
	}
}

// withOutput runs the commands of a session. It returns the session with their current output.
func (s *session) withOutput(text string) string {
	var found strings.Builder
	comment := true
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "$ "):
			found.WriteString(line)
			found.WriteString(s.outputOf(words(line[len("$ "):])))
			comment = false
		case strings.HasPrefix(line, "# "):
			if !comment {
				found.WriteString("\n")
			}
			found.WriteString(line)
			comment = true
		}
	}
	return found.String()
}

func (s *session) check(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// words splits a command line at spaces outside single quotes.
func words(line string) (out []string) {
	for _, word := range regexp.MustCompile(`('[^']*'|[^\s'])+`).FindAllString(line, -1) {
		out = append(out, strings.ReplaceAll(word, "'", ""))
	}
	return out
}

// outputOf runs a command. It returns the output as it appears in a session.
func (s *session) outputOf(args []string) string {
	s.Helper()
	for ; strings.Contains(args[0], "="); args = args[1:] {
		name, val, _ := strings.Cut(args[0], "=")
		defer os.Setenv(name, os.Getenv(name))
		os.Setenv(name, val)
	}
	for i, word := range args {
		if path, ok := strings.CutPrefix(word, "digest:"); ok {
			args[i] = fmt.Sprintf("%x", sha256.Sum256(s.read(path)))[:12]
		}
	}
	var in []byte
	if n := len(args); n > 2 && args[n-2] == "<" {
		in, args = s.read(args[n-1]), args[:n-2]
	}
	var stdout, stderr bytes.Buffer
	status := 0
	switch args[0] {
	case s.name:
		status = s.program(args[1:], bytes.NewReader(in), &stdout, &stderr)
	case "build":
		Build(s.T, args[1], args[3])
	case "slice":
		cutSlice(s.T, args[1], args[2], args[3])
	case "truncate":
		truncate(s.T, args[1])
	case "damage":
		damage(s.T, args[1], args[2])
	default:
		s.Fatalf("unknown command '%s'", args[0])
	}
	out := withFinalNewline(stdout.String())
	for line := range strings.Lines(withFinalNewline(stderr.String())) {
		out += "! " + line
	}
	if status != 0 {
		out += fmt.Sprintf("[%d]\n", status)
	}
	return withoutVariableParts(strings.ReplaceAll(out, s.dir, "DIR"))
}

func (s *session) read(path string) []byte {
	s.Helper()
	text, err := os.ReadFile(path)
	s.check(err)
	return text
}

// withFinalNewline returns text unchanged if it is empty or ends with a newline. Otherwise it
// appends a note and a newline.
func withFinalNewline(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "(no newline)\n"
}

// variableParts lists parts of the output that differ from run to run, and what replaces them.
var variableParts = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "DIGEST"},
	{regexp.MustCompile(`\b[0-9a-f]{12}\b`), "SHORTDIGEST"},
	{regexp.MustCompile(`\.\d+\.tmp\b`), ".N.tmp"},
	{regexp.MustCompile(`\b20\d\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?`), "TIME"},
	{regexp.MustCompile(`"(seconds|age)": ?[\d.e-]+`), `"$1": N`},
	{regexp.MustCompile(`"validator": ?"\d+ \d+ \d+"`), `"validator": "V"`},
	{regexp.MustCompile(` +` + regexp.QuoteMeta(userName()) + ` +`), "  USER  "},
}

// userName returns the name of the current user as it appears in the history of a store.
func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return strconv.Itoa(os.Getuid())
}

func withoutVariableParts(text string) string {
	for _, c := range variableParts {
		text = c.pattern.ReplaceAllString(text, c.name)
	}
	return text
}
