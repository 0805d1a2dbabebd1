package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"bindc/internal/testsite"
	"bindc/serve"
	"bindc/serve/client"
)

// The log of serve has a line for each event, with its known attributes.
func TestServeLogsEachEvent(t *testing.T) {
	var out strings.Builder
	report := (&serveFlags{log: true}).reporter(&out)
	report(serve.Event{What: "begins"})
	report(serve.Event{What: "asked", Connection: 1, Environment: "production", Digest: "d1"})
	report(serve.Event{What: "ends", Connection: 2, Err: errors.New("it broke")})
	want := `level=INFO msg=begins
level=INFO msg=asked connection=1 environment=production digest=d1
level=WARN msg=ends connection=2 error="it broke"
`
	if got := regexp.MustCompile(`(?m)^time=\S+ `).ReplaceAllString(out.String(), ""); got != want {
		t.Errorf("found\n%s\nwant\n%s", got, want)
	}
	if (&serveFlags{}).reporter(&out) != nil {
		t.Error("expected no log where nobody asks for one")
	}
}

// listen replaces only a socket on which no program answers.
func TestListenReplacesOnlyDeadSockets(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("sockets have no modes there")
	}
	t.Chdir(t.TempDir()) // the path of a socket may not be long
	l, err := listen("socket")
	if err != nil {
		t.Fatal(err)
	}
	if info := must(os.Stat("socket"))(t); info.Mode().Perm() != 0o600 {
		t.Errorf("the socket has the mode %v, expected one for its user alone", info.Mode())
	}
	_, err = listen("socket")
	if err == nil || !strings.Contains(err.Error(), "another program answers on this socket") {
		t.Errorf("expected a refusal of a socket that is answered, found %v", err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	if l, err = listen("socket"); err != nil {
		t.Fatalf("a dead socket is not replaced: %v", err)
	}
	l.Close()
	if err := os.WriteFile("file", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	long := must(filepath.Abs("socket"))(t) + strings.Repeat("x", 150) // longer than an address of a socket
	if l, err = listen("socket"); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Rename("socket", long); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"file":                             "file: expected a socket or nothing, found another kind of file",
		filepath.Join("nowhere", "socket"): "no such file or directory",
		filepath.Join("file", "socket"):    "not a directory",
		long:                               "invalid argument",
	} {
		if _, err := listen(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, expected %s", path, err, want)
		}
	}
}

// By default, serve maps snapshots and logs nothing.
func TestServeMapsSnapshotsAndLogsNothingByDefault(t *testing.T) {
	cmd := new(globals).serveCommand()
	for name, want := range map[string]string{"stdio": "false", "copy": "false", "keep": "false", "log": "false",
		"listen": "", "idle": idleTime.String()} {
		if got := cmd.Flags().Lookup(name).DefValue; got != want {
			t.Errorf("--%s is '%s', expected '%s'", name, got, want)
		}
	}
}

// With --keep, serve answers from the first file after it was replaced. Without it, serve answers from the new one.
func TestServeWithKeepAnswersFromFirstFile(t *testing.T) {
	t.Parallel() // it mostly waits
	path := filepath.Join(t.TempDir(), "site.snap")
	testsite.BuildBindings(t, "[generation, 1]", path)
	keeping := startServe(t, []string{"serve", "--stdio", "--keep", "-s", path})
	following := startServe(t, []string{"serve", "--stdio", "-s", path})
	first := keeping()
	if following() != first {
		t.Fatal("both serve the same file, but different snapshots")
	}
	testsite.BuildBindings(t, "[generation, 2]", path)
	end := time.Now().Add(10 * time.Second)
	for following() == first && time.Now().Before(end) {
		time.Sleep(50 * time.Millisecond)
	}
	if following() == first {
		t.Error("without --keep, serve still answers from the first file")
	}
	time.Sleep(1100 * time.Millisecond) // serve polls each second
	if keeping() != first {
		t.Error("with --keep, serve answers from the second file")
	}
}

// startServe runs serve, and returns a function that asks it for the digest of the active snapshot.
func startServe(t *testing.T, args []string) func() string {
	inReader, inWriter := io.Pipe()
	outReader, outWriter := io.Pipe()
	t.Cleanup(func() { inWriter.Close() })
	go func() {
		root := command(args)
		root.SetArgs(args)
		root.SetIn(inReader)
		root.SetOut(outWriter)
		err := fmt.Errorf("serve has ended with status %d", execute(root))
		outWriter.CloseWithError(err)
		inReader.CloseWithError(err)
	}()
	c := client.New(outReader, inWriter)
	return func() string {
		text, err := c.Ask(map[string]any{"ask": "hello", "protocol": serve.Protocol})
		var answer struct{ Snapshot struct{ Digest string } }
		if err = errors.Join(err, json.Unmarshal(text, &answer)); err != nil || answer.Snapshot.Digest == "" {
			t.Fatalf("%s, %v", text, err)
		}
		return answer.Snapshot.Digest
	}
}
