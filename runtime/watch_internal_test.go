package runtime

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bindc/snapshot"
)

// No call leaves a lock held, whether it succeeds or fails.
func TestCallsReleaseLocks(t *testing.T) {
	all, w := oneEnvironment(t), &Watcher{}
	free := func(after string) {
		for name, mu := range map[string]interface {
			TryLock() bool
			Unlock()
		}{"of the watcher": &w.mu, "of the environments": &all.mu, "of their program": &all.looking} {
			if !mu.TryLock() { // the next caller would wait forever, so the test ends here
				panic("the lock " + name + " is held after " + after)
			}
			mu.Unlock()
		}
	}
	for _, do := range []struct {
		what string
		call func()
	}{
		{"an invalid name", func() { all.watcher("") }},
		{"following", func() { w, _ = all.watcher("a") }},
		{"following an environment twice", func() { all.watcher("a") }},
		{"an unknown environment", func() { all.watcher("b") }},
		{"Watcher.Check", func() { w.Check() }},
		{"Environments.Check", func() { all.Check() }},
		{"dropping an environment that is not followed", func() { all.drop("b") }},
		{"dropping", func() { all.drop("a") }},
		{"Watcher.Check after Close", func() { w.Check() }},
		{"Watcher.Close", func() { w.Close() }},
		{"Environments.Close", func() { all.Close() }},
		{"Environments.Check after Close", func() { all.Check() }},
		{"following after Close", func() { all.watcher("a") }},
	} {
		do.call()
		free(do.what)
	}
}

// report is called at every tick, with its previous result, until stop.
func TestPollRunsUntilStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := "."
		stop := poll(time.Second, func(before string) string {
			if said = before + "."; len(said) > 10 {
				panic("polling does not end")
			}
			return said
		})
		time.Sleep(3500 * time.Millisecond)
		for range 2 {
			stop()
		}
		time.Sleep(time.Minute)
		if said != "..." {
			t.Errorf("%d looks in three seconds and a half", len(said))
		}
	})
}

// The reporter notifies of a new file and of an error whose text differs from the last one. It does not notify when
// an error ends, but does when the same error recurs.
func TestReporterNotifiesOfChanges(t *testing.T) {
	bad, worse := errors.New("bad"), errors.New("worse")
	type look struct {
		switched bool
		err      error
	}
	var now look
	var told []string
	check := func() (bool, error) { return now.switched, now.err }
	report := reporter(check, func(err error) { told = append(told, fmt.Sprint(err)) })
	silent := reporter(check, nil)
	before := ""
	for i, c := range []struct {
		look
		news string
	}{
		{look{false, nil}, ""}, {look{true, nil}, "<nil>"}, {look{false, nil}, ""}, {look{false, bad}, "bad"},
		{look{false, bad}, ""}, {look{true, bad}, "bad"}, {look{false, worse}, "worse"}, {look{false, nil}, ""},
		{look{false, worse}, "worse"}, {look{true, nil}, "<nil>"},
	} {
		now, told = c.look, nil
		without := silent(before)
		before = report(before)
		if got := strings.Join(told, " "); got != c.news || without != before {
			t.Errorf("poll %d: notified of %q, expected %q; %q is reported, and %q without Notify", i, got, c.news, before,
				without)
		}
	}
}

// A watcher may retire a snapshot between a request's read of Watcher.current and its acquire. This test calls both
// in that order, because a test from outside cannot hit that moment.
func TestAcquireFailsAfterRetire(t *testing.T) {
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

// A request that loads a retired snapshot tries again and uses the new one.
func TestRequestRetriesWhenSnapshotIsRetired(t *testing.T) {
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
	for !errors.Is(old.snap.Verify(), fs.ErrClosed) {
		goruntime.Gosched()
	}
	w.current.Store(next)
	<-done
	if err != nil || lease.Snapshot() != next.snap {
		t.Errorf("%v, of the file that comes: %t", err, err == nil && lease.Snapshot() == next.snap)
	}
}

// oneEnvironment opens a directory with the environment a.
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

// If Close runs between choosing an environment and following it, nothing is followed.
func TestFollowFailsAfterClose(t *testing.T) {
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

// If two requests follow an environment at once, or two polls drop it, the second call changes nothing.
func TestSecondFollowOrDropChangesNothing(t *testing.T) {
	all := oneEnvironment(t)
	defer all.Close()
	first, err := all.follow("a")
	if err != nil {
		t.Fatal(err)
	}
	if second, err := all.follow("a"); second != first || err != nil {
		t.Errorf("a second watcher follows the environment: %v", err)
	}
	first.Close()
	if switched, err := all.Check(); switched || err != nil {
		t.Errorf("an environment closed during a poll: %v, %v", switched, err)
	}
	for range 2 {
		all.drop("a")
	}
	if len(all.watchers) > 0 {
		t.Error("the dropped environment is still followed")
	}
}

// If a poll drops an environment while a request is choosing it, the request opens it again, because a new file may
// be there.
func TestRequestUsesReplacedEnvironment(t *testing.T) {
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
	for range 1000 { // enough for some requests to find the environment closed
		goruntime.Gosched()
	}
	all.drop("a")
	<-done
	if err != nil {
		t.Fatal(err)
	}
	lease.Close()
}
