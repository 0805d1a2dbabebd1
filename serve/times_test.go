package serve_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	bindings "bindc/runtime"
	"bindc/serve"
	"bindc/serve/client"
)

// events collects the events that a server reports.
type events struct {
	mu  sync.Mutex
	all []serve.Event
}

func (e *events) add(ev serve.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, ev)
}

// take returns the events since the last call, as text.
func (e *events) take() (out []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, ev := range e.all {
		text := ev.What
		if ev.Err != nil {
			text += ": " + ev.Err.Error()
		}
		out = append(out, text)
	}
	e.all = nil
	return out
}

// byClock runs a test with the snapshot at path and a synthetic clock.
func byClock(t *testing.T, path string, test func(t *testing.T)) {
	snap, err := bindings.Open(path, bindings.Options{})
	if err == nil {
		err = snap.Verify() // initializes global state outside the bubble of the test
	}
	if err != nil {
		t.Fatal(err)
	}
	snap.Close()
	synctest.Test(t, test)
}

// socket makes a server answer connections in the synthetic time of a test, and returns a function that connects.
func socket(t *testing.T, s *serve.Server) (dial func() (net.Conn, peer)) {
	l := &listener{conns: make(chan net.Conn), closed: make(chan struct{})}
	go s.Serve(l)
	t.Cleanup(s.Close)
	return func() (net.Conn, peer) {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { ours.Close() })
		l.conns <- theirs
		return ours, peer{TB: t, Client: client.New(ours, ours)}
	}
}

const late = "disconnected: the client was idle for too long or too slow"

// Pauses between questions, and slow answers of the server, do not time out. A pause within a frame does.
func TestConnectionTimesOutWithinAFrame(t *testing.T) {
	path := snap(t)
	build(t, path, site)
	byClock(t, path, func(t *testing.T) {
		var happened events
		dial := socket(t, server(t, path, func(o *serve.Options) {
			o.Idle, o.Snapshot.Interval = 10*time.Minute, time.Hour
			o.Report = func(e serve.Event) {
				happened.add(e)
				if e.What == serve.Opened {
					time.Sleep(time.Minute) // the answer takes longer than the time limit for a frame
				}
			}
		}))
		c, p := dial()
		for range 3 {
			time.Sleep(9 * time.Minute)
			p.node(1, nil)
		}
		c.Close()
		synctest.Wait()
		happened.take()
		for name, behave := range map[string]struct {
			do    func(net.Conn)
			after time.Duration
		}{
			"sends a byte":       {func(c net.Conn) { c.Write([]byte{0}) }, 30 * time.Second},
			"sends half a frame": {func(c net.Conn) { c.Write([]byte{0, 0, 0, 9, '{'}) }, 30 * time.Second},
			"reads no answer": {func(c net.Conn) {
				client.New(c, c).Send([]byte(`{"ask":"hello","protocol":1}`))
			}, 30 * time.Second},
			"sends nothing": {func(net.Conn) {}, 10 * time.Minute},
		} {
			c, _ := dial()
			behave.do(c)
			time.Sleep(behave.after - time.Second)
			synctest.Wait()
			if got := happened.take(); !slices.Equal(got, []string{"connected"}) {
				t.Errorf("%s: %q before the time limit", name, got)
			}
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if got := happened.take(); !slices.Equal(got, []string{late}) {
				t.Errorf("%s: %q, expected '%s'", name, got, late)
			}
		}
	})
}

// A session ends after it was unused for the idle time. A session in use on the same connection continues.
func TestUnusedSessionsEnd(t *testing.T) {
	path := snap(t)
	build(t, path, site)
	byClock(t, path, func(t *testing.T) {
		_, p := socket(t, server(t, path, func(o *serve.Options) {
			o.Idle, o.Snapshot.Interval = 10*time.Minute, time.Hour
		}))()
		p.node(1, nil)
		p.node(2, nil)
		keys := func(session int) string {
			return p.code(object{"ask": "keys", "session": session, "keys": []string{"top"}})
		}
		for range 3 {
			time.Sleep(6 * time.Minute)
			if got := keys(1); got != "" {
				t.Errorf("the used session: %s", got)
			}
		}
		if got := keys(2); got != "session" {
			t.Errorf("the unused session: %q", got)
		}
	})
}

func TestIdleTimeOfOneNanosecondEndsSession(t *testing.T) {
	path := snap(t)
	build(t, path, site)
	byClock(t, path, func(t *testing.T) {
		p := connect(t, server(t, path, func(o *serve.Options) { o.Idle, o.Snapshot.Interval = 1, time.Hour }))
		p.node(1, nil)
		time.Sleep(time.Second)
		if got := p.code(object{"ask": "keys", "session": 1, "keys": []string{"top"}}); got != "session" {
			t.Error(got)
		}
	})
}

// Without an idle time, neither connections nor sessions end by themselves.
func TestSessionsWithoutIdleTimeDoNotEnd(t *testing.T) {
	path := snap(t)
	build(t, path, site)
	byClock(t, path, func(t *testing.T) {
		_, p := socket(t, server(t, path, func(o *serve.Options) { o.Snapshot.Interval = time.Hour }))()
		p.node(1, nil)
		time.Sleep(72 * time.Hour)
		if got := p.code(object{"ask": "keys", "session": 1, "keys": []string{"top"}}); got != "" {
			t.Error(got)
		}
	})
}

// After the snapshot is removed or damaged, the server answers from the previous one and reports the problem.
func TestPreviousSnapshotAnswersAfterRemovalOrDamage(t *testing.T) {
	path := snap(t)
	next := snap(t)
	build(t, path, generation(1))
	build(t, next, generation(2))
	byClock(t, path, func(t *testing.T) {
		var happened events
		p := connect(t, server(t, path, func(o *serve.Options) { o.Report = happened.add }))
		first := p.digest()
		happened.take()
		soon := func(what string, err error, digest string, want ...string) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			got := happened.take()
			for i := range got {
				got[i], _, _ = strings.Cut(got[i], ":")
			}
			if p.digest() != digest || !slices.Equal(got, want) {
				t.Errorf("%s: %q, expected %q", what, got, want)
			}
		}
		soon("removed", os.Remove(path), first, serve.Refused)
		soon("garbage", os.WriteFile(path, []byte("no snapshot"), 0o644), first, serve.Refused)
		second, err := bindings.Open(next, bindings.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer second.Close()
		soon("replaced", os.Rename(next, path), second.Digest(), serve.Switched)
	})
}

// An environment whose file was removed is unknown. Its open sessions continue.
func TestRemovedEnvironmentIsUnknown(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "production.snap")
	build(t, path, site)
	byClock(t, path, func(t *testing.T) {
		s := server(t, dir, func(o *serve.Options) { o.Snapshot.Interval = time.Second })
		p := connect(t, s)
		if p.node(1, nil); strings.Contains(p.digest(), "+") {
			t.Errorf("without a choice, the digest is %s", p.digest())
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if kept := s.Kept(); kept != 0 {
			t.Errorf("%d environments are followed", kept)
		}
		if got := p.code(hello()); got != "environment" {
			t.Errorf("hello: %q", got)
		}
		if got := p.code(object{"ask": "keys", "session": 1, "keys": []string{"top"}}); got != "" {
			t.Errorf("the session: %q", got)
		}
	})
}

// A replaced file is closed when its last session ends, whatever ends the session.
func TestReplacedFileIsClosedWithItsLastSession(t *testing.T) {
	path := snap(t)
	build(t, path, generation(0))
	s := server(t, path)
	facts, err := bindings.NewFacts(bindings.Value{}, bindings.FactsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for n, end := range []func(p peer){
		func(p peer) { p.ask(object{"ask": "end", "session": 2}) },
		func(p peer) { p.node(2, nil) }, // replaces the last session
		func(p peer) {
			p.conn.Close()
			<-p.ended
		},
	} {
		p, watching := connect(t, s), connect(t, s)
		p.node(1, nil)
		p.node(2, nil)
		old, digest := s.Answering(path), p.digest()
		build(t, path, generation(n+1))
		for watching.digest() == digest {
		}
		isOpen := func() bool {
			_, err := old.Request(facts)
			return !errors.Is(err, fs.ErrClosed)
		}
		if n < 2 {
			p.ask(object{"ask": "end", "session": 1})
		}
		if !isOpen() {
			t.Errorf("way %d: it is closed before its last session", n)
		}
		if end(p); isOpen() {
			t.Errorf("way %d: it is open after its last session", n)
		}
		if n < 2 {
			p.conn.Close()
			<-p.ended
		}
	}
}
