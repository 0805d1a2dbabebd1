package serve_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"bindc/serve"
)

// While one environment is being opened, the server opens others and answers for them. Concurrent questions for the
// same environment wait, and the file is read once.
func TestOpeningAnEnvironmentDoesNotBlockOthers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"slow", "early", "late"} {
		build(t, filepath.Join(dir, name+".snap"), "bindings_version: 1\nname: default\nbind: [[a, "+name+"]]\n")
	}
	begun, goOn := make(chan bool), make(chan bool)
	var opened atomic.Int32
	s := server(t, dir, func(o *serve.Options) {
		o.Snapshot.Accept = func(path string, _ [32]byte) error {
			if strings.HasSuffix(path, "slow.snap") {
				opened.Add(1)
				begun <- true
				<-goOn
			}
			return nil
		}
	})
	of := func(name string) object { return object{"ask": "hello", "protocol": 1, "environment": name} }
	p := connect(t, s)
	p.ask(of("early"))
	answers := make(chan string)
	for range 2 {
		waits := connect(t, s)
		go func() { answers <- waits.code(of("slow")) }()
	}
	<-begun
	others := make(chan string)
	go func() { others <- p.code(of("early")) + p.code(of("late")) }()
	select {
	case code := <-others:
		if code != "" {
			t.Errorf("the others answer %s", code)
		}
	case <-time.After(10 * time.Second):
		t.Error("other environments wait for the one that is being opened")
	}
	close(goOn)
	for range 2 {
		if code := <-answers; code != "" || opened.Load() != 1 {
			t.Errorf("the waiting question got %q; the file was opened %d times", code, opened.Load())
		}
	}
}

// After a snapshot could not be opened, it is neither read nor reported again until the file changes or some time has
// passed.
func TestOpenFailureIsRemembered(t *testing.T) {
	path := snap(t)
	build(t, path, site)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	writeAt := func(text string, modified time.Time) {
		t.Helper()
		err := os.WriteFile(path, []byte(text), 0o666)
		if err = errors.Join(err, os.Chtimes(path, modified, modified)); err != nil {
			t.Fatal(err)
		}
	}
	var read, refused atomic.Int32
	s := server(t, path, func(o *serve.Options) {
		o.Snapshot.Accept = func(string, [32]byte) error { read.Add(1); return nil }
		o.Report = func(e serve.Event) {
			if e.What == serve.Refused {
				refused.Add(1)
			}
		}
	})
	s.SetRetryAfter(time.Hour)
	p, now := connect(t, s), time.Now()
	holds := func(what, want string, reads, reports int32) {
		t.Helper()
		for range 3 {
			if got := p.code(hello()); got != want {
				t.Errorf("%s: %q, expected %q", what, got, want)
			}
		}
		if read.Load() != reads || refused.Load() != reports {
			t.Errorf("%s: read %d times, refused %d times", what, read.Load(), refused.Load())
		}
	}
	writeAt(flipped(string(whole), len(whole)-70), now)
	holds("damaged", "snapshot_damaged", 1, 1)
	writeAt(flipped(string(whole), len(whole)-71), now.Add(time.Minute))
	holds("at another time", "snapshot_damaged", 2, 2)
	writeAt(flipped(string(whole), len(whole)-71)+strings.Repeat("\x00", 64), now.Add(time.Minute))
	holds("of another size", "snapshot_damaged", 2, 3) // the damage is found before Accept is called
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := p.code(hello()); got != "snapshot_missing" {
		t.Errorf("removed: %q", got)
	}
	writeAt(flipped(string(whole), len(whole)-70), now)
	if got := p.code(hello()); got != "snapshot_damaged" {
		t.Errorf("there again: %q", got)
	}
	writeAt(string(whole), now) // as if a program had overwritten the file and restored its time
	if got := p.code(hello()); got != "snapshot_damaged" {
		t.Errorf("repaired with the same size and time: %q", got)
	}
	s.SetRetryAfter(0)
	p.node(1, nil)

	writeAt(flipped(string(whole), len(whole)-70), now)
	p = connect(t, server(t, path))
	if got := p.code(hello()); got != "snapshot_damaged" {
		t.Errorf("damaged, for another server: %q", got)
	}
	err = errors.Join(os.WriteFile(path+".new", whole, 0o666), os.Chtimes(path+".new", now, now),
		os.Rename(path+".new", path))
	if err != nil {
		t.Fatal(err)
	}
	p.node(1, nil) // another file with the same size and time
}

// After Close, neither old nor new connections get answers. The server finishes an answer in progress.
func TestNoAnswersAfterClose(t *testing.T) {
	path := snap(t)
	build(t, path, site)
	s := server(t, path)
	p := connect(t, s)
	p.node(1, nil)
	s.Close()
	for _, q := range []object{{"ask": "keys", "session": 1, "keys": []string{"a"}}, hello()} {
		if text, err := p.Ask(q); err == nil {
			t.Errorf("%v is answered: %s", q, text)
		}
	}
	if err := <-p.ended; err != nil {
		t.Errorf("Answer returns %v", err)
	}
	var out bytes.Buffer
	question := `{"ask": "hello", "protocol": 1}`
	frame := append([]byte{0, 0, 0, byte(len(question))}, question...)
	if err := s.Answer(bytes.NewReader(frame), &out); err != nil || out.Len() > 0 {
		t.Errorf("a closed server: %v, %q", err, out.Bytes())
	}
}

// Close waits for an answer in progress.
func TestCloseWaitsForAnswerInProgress(t *testing.T) {
	path := snap(t)
	build(t, path, site)
	begun, goOn := make(chan bool), make(chan bool)
	s := server(t, path, func(o *serve.Options) {
		o.Snapshot.Accept = func(string, [32]byte) error { begun <- true; <-goOn; return nil }
	})
	p, answer, closed := connect(t, s), make(chan string, 1), make(chan bool)
	go func() { answer <- p.code(hello()) }()
	<-begun
	go func() { s.Close(); close(closed) }()
	select {
	case <-closed:
		t.Error("it does not wait")
	case <-time.After(50 * time.Millisecond):
	}
	close(goOn)
	if code := <-answer; code != "" {
		t.Errorf("the earlier question got %q", code)
	}
	<-closed
}

// A question that is not UTF-8 is refused, because encoding/json would silently ask for another key.
func TestRejectsQuestionThatIsNotUTF8(t *testing.T) {
	path := snap(t)
	build(t, path, site)
	for _, text := range []string{"{\"ask\": \"keys\", \"session\": 1, \"keys\": [\"a\xff\"]}", "\xff"} {
		p := connect(t, server(t, path))
		p.node(1, nil)
		err := p.Send([]byte(text))
		answer, failed := p.Receive()
		if err = errors.Join(err, failed); err != nil || !strings.Contains(string(answer), `"code":"protocol"`) ||
			!strings.Contains(string(answer), "UTF-8") {
			t.Errorf("%q: %s, %v", text, answer, err)
		}
		if err := <-p.ended; err != nil {
			t.Errorf("%q: the connection ends with %v", text, err)
		}
		if _, err := p.Receive(); err != io.EOF && err != io.ErrClosedPipe {
			t.Errorf("%q: the connection goes on: %v", text, err)
		}
	}
}
