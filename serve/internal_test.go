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

// Large buffers are let go of with the next frame, as one large question is no reason to keep the memory for it.
func TestLargeBuffersAreNotKept(t *testing.T) {
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
	if f.begin(); cap(f.answer) != keptBytes {
		t.Errorf("room of %d bytes was not kept for answers", keptBytes)
	}
	f.answer = make([]byte, keptBytes+1)
	if f.begin(); cap(f.answer) > keptBytes || len(f.answer) != headBytes {
		t.Errorf("%d bytes are kept for answers", cap(f.answer))
	}
}

// An environment is forgotten by the one who followed it, and not by somebody who followed an earlier one.
func TestOnlyTheEnvironmentItselfIsForgotten(t *testing.T) {
	is, was := &environment{path: "x"}, &environment{path: "x"}
	e := environments{open: map[string]*environment{"x": is}}
	if e.forget(was); e.open["x"] != is {
		t.Error("the later one is forgotten")
	}
	if e.forget(is); len(e.open) != 0 {
		t.Error("it is not forgotten")
	}
}

// A watcher that an environment does not follow, as its file is damaged, tells nobody anything.
func TestWatcherThatIsNotFollowed(t *testing.T) {
	env := &environment{}
	env.notified(nil, func(error) { t.Error("somebody is told") })
	env.watcher = new(bindings.Watcher)
	told := false
	if env.notified(errors.New("x"), func(err error) { told = err != nil }); !told {
		t.Error("nobody is told")
	}
}

// Members are separated by commas in every part of an answer.
func TestPartsOfAnAnswer(t *testing.T) {
	var w valueWriter
	for _, key := range []string{"a", "b"} {
		o := lookup.Outcome{Err: &bindings.Error{Code: "x", Message: key}}
		if err := w.add(key, o); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.HasPrefix(w.errors, []byte(`"a":{"code":"x","message":"a"},"b":{`)) {
		t.Errorf("%s", w.errors)
	}
	other := errors.New("the session has ended")
	if err := w.add("c", lookup.Outcome{Err: other}); err != other {
		t.Error(err)
	}
}

// newTestConn is a connection whose server reports to told.
func newTestConn(told func(Event)) *conn { return newConn(New(Options{Report: told}), nil, nil, 1) }

// The answer of an error has nothing of the answer that had begun.
func TestErrorReplacesWhatWasBegun(t *testing.T) {
	c := newTestConn(nil)
	c.begin()
	c.answer = append(c.answer, `{"candidates":[`...)
	c.fail(failed(codeTooLarge, "no"))
	if got := string(c.answer[headBytes:]); got != `{"error":{"code":"too_large","message":"no"}}` {
		t.Error(got)
	}
	c.begin()
	c.snapshot(&known{locations: 12})
	if got := string(c.answer); !strings.HasSuffix(got, `"locations":12}}`) {
		t.Error(got)
	}
}

// The timer of a session ends that session, and not the next one of its number.
func TestSessionThatTookTheNumberOfAnother(t *testing.T) {
	c := newTestConn(nil)
	c.sessions[1] = &session{}
	if c.end(1, &session{}); len(c.sessions) != 1 {
		t.Error("the timer of the former ended it")
	}
	c.endAll()
	if c.endAll(); len(c.sessions) != 0 {
		t.Error("it goes on after the connection")
	}
}

// An error that says much fills an answer as values do.
func TestErrorsThatAreTooLarge(t *testing.T) {
	w := valueWriter{errors: make([]byte, maxAnswer)}
	if err := w.add("a", lookup.Outcome{Err: &bindings.Error{}}); err == nil {
		t.Error("it fits")
	}
}

// An environment is not followed if its watcher has ended, and what is known of one that is followed is found out once.
func TestWatcherThatHasEnded(t *testing.T) {
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
	if err := env.begin(watcher); err != nil || !env.follows() {
		t.Fatal(err)
	}
	first, err := env.known()
	if again, _ := env.known(); err != nil || again != first {
		t.Errorf("%p, %p, %v", first, again, err)
	}
	watcher.Close()
	if _, err := env.known(); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	if next := (&environment{}); !errors.Is(next.begin(watcher), fs.ErrClosed) || next.follows() {
		t.Error("a watcher that has ended is followed")
	}
	var told []Event
	e := &environments{opts: &Options{Report: func(e Event) { told = append(told, e) }}}
	if e.changed(env, nil); len(told) != 1 || !errors.Is(told[0].Err, fs.ErrClosed) {
		t.Errorf("told %+v", told)
	}
}

// A damaged file is not followed, and a file that another program cannot read is refused, not missing.
func TestFilesThatAreNotFollowed(t *testing.T) {
	other := &fs.PathError{Op: "open", Path: "allowed_signers", Err: fs.ErrPermission}
	for path, want := range map[string]bindings.Code{"allowed_signers": codeMissing, "a.snap": codeRefused} {
		if got := unusable(path, other).code; got != want {
			t.Errorf("%s: %s, expected %s", path, got, want)
		}
	}
}
