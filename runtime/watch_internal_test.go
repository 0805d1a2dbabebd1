package runtime

import (
	"errors"
	"io/fs"
	"path/filepath"
	goruntime "runtime"
	"testing"

	"bindc/snapshot"
)

// The moment between reading Watcher.current and counting a request is too short to be met in a test of the outside.
func TestARequestThatComesTooLateGoesElsewhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	if _, err := snapshot.Write(path, &snapshot.Content{Layers: []string{"site"}}); err != nil {
		t.Fatal(err)
	}
	snap, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &shared{snap: snap}
	if !s.acquire() {
		t.Fatal("a snapshot in use takes no request")
	}
	s.retire()
	if s.acquire() {
		t.Error("a retired snapshot takes a request while another goes on")
	}
	s.release()
	for range 2 {
		if s.acquire() {
			t.Error("an unmapped snapshot takes a request")
		}
	}
	if got := s.users.Load(); got != retired {
		t.Errorf("%d requests are left", got-retired)
	}
}

// A request that meets a file which is being replaced waits for the one that comes: it is of that.
func TestARequestGoesToTheFileThatComes(t *testing.T) {
	open := func() *Snapshot {
		path := filepath.Join(t.TempDir(), "site.bsnap")
		if _, err := snapshot.Write(path, &snapshot.Content{Layers: []string{"site"}}); err != nil {
			t.Fatal(err)
		}
		snap, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return snap
	}
	facts, err := NewFacts(Value{}, FactsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	old, next := &shared{snap: open()}, &shared{snap: open()}
	defer next.snap.Close()
	old.users.Store(retired) // a request that comes too late closes it
	w := &Watcher{stop: func() {}}
	w.current.Store(old)
	var lease *Lease
	done := make(chan struct{})
	go func() {
		lease, err = w.Request(facts)
		close(done)
	}()
	for !old.snap.closed.Load() {
		goruntime.Gosched()
	}
	w.current.Store(next)
	<-done
	if err != nil || lease.Snapshot() != next.snap {
		t.Errorf("%v, of the file that comes: %t", err, err == nil && lease.Snapshot() == next.snap)
	}
}

// oneEnvironment is a directory that has the environment a.
func oneEnvironment(t *testing.T) *Environments {
	t.Helper()
	dir := t.TempDir()
	if _, err := snapshot.Write(filepath.Join(dir, "a.snap"), &snapshot.Content{Layers: []string{"site"}}); err != nil {
		t.Fatal(err)
	}
	all, err := OpenEnvironments(dir, WatchOptions{Interval: -1})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The moment between choosing an environment and following it is as short: what is closed in it follows nothing.
func TestClosedEnvironmentsFollowNothing(t *testing.T) {
	all := oneEnvironment(t)
	if _, err := all.watcher("a"); err != nil {
		t.Fatal(err)
	}
	all.Close()
	if err := all.unknown("b"); err == nil || err.Error() != "there is no environment 'b'; there is 'a'" {
		t.Errorf("%v", err)
	}
	if w, err := all.watcher("a"); w != nil || !errors.Is(err, fs.ErrClosed) || len(all.watchers) > 0 {
		t.Errorf("%v, %v, %d are followed", w, err, len(all.watchers))
	}
}

// An environment that is closed behind a request's back, as its file was gone, is looked for again: another one may be
// there.
func TestARequestGoesToTheEnvironmentThatComes(t *testing.T) {
	all := oneEnvironment(t)
	defer all.Close()
	old, err := all.watcher("a")
	if err != nil {
		t.Fatal(err)
	}
	old.Close()
	facts, err := NewFacts(Value{}, FactsOptions{Environment: "a"})
	if err != nil {
		t.Fatal(err)
	}
	var lease *Lease
	begun, done := make(chan struct{}), make(chan struct{})
	go func() {
		close(begun)
		lease, err = all.Request(facts)
		close(done)
	}()
	<-begun
	for range 1000 { // in which the request meets the one that is closed
		goruntime.Gosched()
	}
	all.drop("a")
	<-done
	if err != nil {
		t.Fatal(err)
	}
	lease.Close()
}
