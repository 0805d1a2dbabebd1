package conformance

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"bindc/internal/testmode"
	"bindc/internal/testprograms"
	"bindc/serve/client"
)

var update = flag.Bool("update", false, "write the output of the programs into the scenarios")

// TestMain builds the programs once and adds them to PATH.
func TestMain(m *testing.M) {
	testmode.TempInMemory()
	os.Exit(testprograms.Run(m.Run))
}

// A result of these tests is only cached as long as the sources of the programs do not change.
func TestSourcesOfProgramsAreNoted(t *testing.T) { testprograms.NoteSources(t) }

// TestScripts runs the scenarios in cmd/testdata/script, each named after the behaviour it shows. `go test ./...` runs
// a sample, as testmode.Sample says. .ci/run and tools/mutate run all of them.
func TestScripts(t *testing.T) {
	t.Parallel()
	testmode.SkipUnderRace(t)
	example, err := filepath.Abs("../testdata")
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob("../cmd/testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if !*update {
		scripts = testmode.Sample(t, scripts, 8)
	}
	testscript.Run(t, testscript.Params{
		Files:               scripts,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("TESTDATA", example)
			env.Setenv("COLUMNS", "80")
			env.Setenv("MUTANT", os.Getenv("MUTANT")) // for tools/mutate
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"ask":      ask,
			"exits":    exits,
			"damage":   damage,
			"same":     sameBytes,
			"terminal": onTerminal,
		},
	})
}

// exits runs a program and checks its exit status, as in `exits 1 bindq lookup nope`.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s exits with status %d, expected %d", args[1], got, want)
	}
}

// damage changes one byte of a file, at an offset from the start or, if negative, from the end.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: damage FILE OFFSET")
	}
	path := ts.MkAbs(args[0])
	src, err := os.ReadFile(path)
	ts.Check(err)
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	if at < 0 {
		at += len(src)
	}
	src[at] ^= 0xff
	ts.Check(os.WriteFile(path, src, 0o666))
}

// sameBytes compares binary files. `! same` requires them to differ.
func sameBytes(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: same FILE FILE")
	}
	a, b := ts.ReadFile(args[0]), ts.ReadFile(args[1])
	if (a == b) == neg {
		ts.Fatalf("%s and %s: same bytes is %v", args[0], args[1], a == b)
	}
}

// ask sends each line of a file as a question to bindq serve, and prints the answers. It starts the server or connects
// to it: `ask QUESTIONS unix:PATH` or `ask QUESTIONS bindq serve --stdio -s FILE`. DIGEST in a question is the digest
// of the last snapshot in an answer.
func ask(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: ask QUESTIONS unix:PATH or PROGRAM ARG...")
	}
	questions := strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n")
	if path, ok := strings.CutPrefix(args[1], "unix:"); ok {
		conn, err := net.Dial("unix", ts.MkAbs(path))
		for range 1000 { // the server may not have started yet
			if err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
			conn, err = net.Dial("unix", ts.MkAbs(path))
		}
		ts.Check(err)
		defer conn.Close()
		converse(ts, client.New(conn, conn), questions)
		return
	}
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Dir, cmd.Stderr = ts.MkAbs("."), ts.Stderr()
	in, err := cmd.StdinPipe()
	ts.Check(err)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	converse(ts, client.New(out, in), questions)
	in.Close()
	ts.Check(cmd.Wait())
}

var digestOf = regexp.MustCompile(`"digest":"([0-9a-f]+)"`)

func converse(ts *testscript.TestScript, c *client.Client, questions []string) {
	digest := ""
	for _, q := range questions {
		ts.Check(c.Send([]byte(strings.ReplaceAll(q, "DIGEST", digest))))
		text, err := c.Receive()
		if err == io.EOF {
			fmt.Fprintln(ts.Stdout(), "closed")
			return
		}
		ts.Check(err)
		if m := digestOf.FindSubmatch(text); m != nil {
			digest = string(m[1])
		}
		fmt.Fprintf(ts.Stdout(), "%s\n", text)
	}
}
