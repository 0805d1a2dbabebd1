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

// Whatever a watcher was asked, it can be asked again.
func TestLocksAreGivenBack(t *testing.T) {
	all, w := oneEnvironment(t), &Watcher{}
	free := func(after string) {
		for name, mu := range map[string]interface {
			TryLock() bool
			Unlock()
		}{"of the watcher": &w.mu, "of the environments": &all.mu, "of their program": &all.looking} {
			if !mu.TryLock() { // whoever is next waits for ever: tests end here
				panic("the lock " + name + " is held after " + after)
			}
			mu.Unlock()
		}
	}
	for _, do := range []struct {
		what string
		call func()
	}{
		{"what is no name", func() { all.watcher("") }},
		{"following", func() { w, _ = all.watcher("a") }},
		{"following what is followed", func() { all.watcher("a") }},
		{"what there is not", func() { all.watcher("b") }},
		{"Watcher.Check", func() { w.Check() }},
		{"Environments.Check", func() { all.Check() }},
		{"dropping what nobody follows", func() { all.drop("b") }},
		{"dropping", func() { all.drop("a") }},
		{"Watcher.Check of what is closed", func() { w.Check() }},
		{"Watcher.Close", func() { w.Close() }},
		{"Environments.Close", func() { all.Close() }},
		{"Environments.Check of what is closed", func() { all.Check() }},
		{"following what is closed", func() { all.watcher("a") }},
	} {
		do.call()
		free(do.what)
	}
}

// A look is taken at every tick, with what the one before has reported, until the end.
func TestLooksAreTakenUntilTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := "."
		stop := poll(time.Second, func(before string) string {
			if said = before + "."; len(said) > 10 {
				panic("there is no end of looks")
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

// News are what is new, and an error that is another one; that there is none any more is no news, but begins anew.
func TestWhatIsNews(t *testing.T) {
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
			t.Errorf("look %d: told %q, expected %q; %q is reported, and %q if nobody is told", i, got, c.news, before,
				without)
		}
	}
}

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
	for !errors.Is(old.snap.Verify(), fs.ErrClosed) {
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

// Two requests may be the first of an environment, and two looks may find that its file is gone: the second of them
// finds it done.
func TestAnEnvironmentIsFollowedAndDroppedOnce(t *testing.T) {
	all := oneEnvironment(t)
	defer all.Close()
	first, err := all.follow("a")
	if err != nil {
		t.Fatal(err)
	}
	if second, err := all.follow("a"); second != first || err != nil {
		t.Errorf("another watcher follows what is followed: %v", err)
	}
	first.Close()
	if switched, err := all.Check(); switched || err != nil {
		t.Errorf("what is closed behind the back of a look: %v, %v", switched, err)
	}
	for range 2 {
		all.drop("a")
	}
	if len(all.watchers) > 0 {
		t.Error("what was dropped is followed")
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
