package serve

import (
	"bindc/internal/value"
	"bindc/snapshot"
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"bindc/internal/lookup"
	bindings "bindc/runtime"
)

// The server frees the buffer of a large question with the next frame.
func TestLargeBuffersAreFreed(t *testing.T) {
	question := func(n int) string {
		return string([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}) + strings.Repeat(" ", n)
	}
	f := frames{in: bufio.NewReader(strings.NewReader(question(keptBytes*3) + question(10)))}
	for range 2 {
		if _, err := f.read(); err != nil {
			t.Fatal(err)
		}
	}
	if n := f.buf.Cap(); n > keptBytes {
		t.Errorf("%d bytes are kept for questions", n)
	}
	f.buf = *bytes.NewBuffer(make([]byte, 0, keptBytes))
	f.in = bufio.NewReader(strings.NewReader(question(10)))
	if _, err := f.read(); err != nil || f.buf.Cap() != keptBytes {
		t.Errorf("room of %d bytes was not kept for questions: %d, %v", keptBytes, f.buf.Cap(), err)
	}
	f.answer = make([]byte, 0, keptBytes)
	if f.resetAnswer(); cap(f.answer) != keptBytes {
		t.Errorf("room of %d bytes was not kept for answers", keptBytes)
	}
	f.answer = make([]byte, keptBytes+1)
	if f.resetAnswer(); cap(f.answer) > keptBytes || len(f.answer) != headBytes {
		t.Errorf("%d bytes are kept for answers", cap(f.answer))
	}
}

// forget removes only the given environment, not a later one with the same path.
func TestForgetKeepsALaterEnvironment(t *testing.T) {
	is, was := &environment{path: "x"}, &environment{path: "x"}
	e := environments{open: map[string]*environment{"x": is}}
	if e.forget(was); e.open["x"] != is {
		t.Error("the later environment is gone")
	}
	if e.forget(is); len(e.open) != 0 {
		t.Error("the environment is still there")
	}
}

// An environment whose file was damaged when it was opened drops the reports of its watcher.
func TestReportsOfUnfollowedWatcherAreDropped(t *testing.T) {
	env := &environment{}
	env.forward(nil, func(error) { t.Error("somebody is told") })
	env.watcher = new(bindings.Watcher)
	told := false
	if env.forward(errors.New("x"), func(err error) { told = err != nil }); !told {
		t.Error("nobody is told")
	}
}

func TestAnswerPartsAreCommaSeparated(t *testing.T) {
	var w valueWriter
	for _, key := range []string{"a", "b"} {
		if err := w.add(key, lookup.Value{}, false, &bindings.Error{Code: "x", Message: key}); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.HasPrefix(w.errors, []byte(`"a":{"code":"x","message":"a"},"b":{`)) {
		t.Errorf("%s", w.errors)
	}
	other := errors.New("the session has ended")
	if err := w.add("c", lookup.Value{}, false, other); err != other {
		t.Error(err)
	}
}

// newTestConn returns a connection of a server that calls report for each event.
func newTestConn(report func(Event)) *conn { return newConn(New(Options{Report: report}), nil, nil, 1) }

func TestErrorReplacesPartialAnswer(t *testing.T) {
	c := newTestConn(nil)
	c.resetAnswer()
	c.answer = append(c.answer, `{"candidates":[`...)
	c.answerError(failed(codeTooLarge, "no"))
	if got := string(c.answer[headBytes:]); got != `{"error":{"code":"too_large","message":"no"}}` {
		t.Error(got)
	}
	c.resetAnswer()
	c.appendNeeds(&snapshotInfo{locations: 12})
	if got := string(c.answer); !strings.HasSuffix(got, `"locations":12}}`) {
		t.Error(got)
	}
}

// The timer of an ended session does not end a later session with the same number.
func TestTimerDoesNotEndALaterSession(t *testing.T) {
	c := newTestConn(nil)
	c.sessions[1] = &session{}
	if c.endSession(1, &session{}); len(c.sessions) != 1 {
		t.Error("the timer of the earlier session ended it")
	}
	c.endAll()
	if c.endAll(); len(c.sessions) != 0 {
		t.Error("the session outlives its connection")
	}
}

// Messages of errors count towards the size of an answer.
func TestErrorsCountTowardsAnswerSize(t *testing.T) {
	w := valueWriter{errors: make([]byte, maxAnswer)}
	if err := w.add("a", lookup.Value{}, false, &bindings.Error{}); err == nil {
		t.Error("it fits")
	}
}

// An environment does not follow a closed watcher. It surveys a followed file once.
func TestServerDropsClosedWatcher(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.snap")
	value := snapshot.Stored{Bytes: string(value.Append(nil, value.FromInt(1)))}
	if _, err := snapshot.Write(path, &snapshot.Content{Layers: []string{"site"}, Values: []snapshot.Stored{value},
		Keys: []snapshot.Key{{Name: "a"}}}); err != nil {
		t.Fatal(err)
	}
	watcher, err := bindings.Watch(path, bindings.WatchOptions{Interval: -1})
	if err != nil {
		t.Fatal(err)
	}
	env := &environment{name: "a", path: path}
	if err := env.startFollowing(watcher); err != nil || !env.isOpen() {
		t.Fatal(err)
	}
	first, err := env.currentInfo()
	if again, _ := env.currentInfo(); err != nil || again != first {
		t.Errorf("%p, %p, %v", first, again, err)
	}
	watcher.Close()
	if _, err := env.currentInfo(); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	if next := (&environment{}); !errors.Is(next.startFollowing(watcher), fs.ErrClosed) || next.isOpen() {
		t.Error("a closed watcher is followed")
	}
	var told []Event
	e := &environments{opts: &Options{Report: func(e Event) { told = append(told, e) }}}
	if e.onChange(env, nil); len(told) != 1 || !errors.Is(told[0].Err, fs.ErrClosed) {
		t.Errorf("told %+v", told)
	}
}

// An environment does not follow a damaged file. The error for a file without read permission does not say that the
// file is missing.
func TestUnusableFilesAreNotFollowed(t *testing.T) {
	other := &fs.PathError{Op: "open", Path: "allowed_signers", Err: fs.ErrPermission}
	for path, want := range map[string]bindings.Code{"allowed_signers": codeMissing, "a.snap": codeRefused} {
		if got := unusable(path, other).code; got != want {
			t.Errorf("%s: %s, expected %s", path, got, want)
		}
	}
}
