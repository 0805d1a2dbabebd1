package ship

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"bindc/internal/testmode"
)

// day returns the signing time of releases made on day n.
func day(n int) time.Time { return time.Date(2026, 5, n, 3, 0, 0, 0, time.UTC) }

// signedStore returns a directory with a store in which the signed releases one, two and three have been active.
func signedStore(t *testing.T) string {
	m := newMaster(t)
	m.pull.Checks.Origin = readsStatement
	for i, text := range []string{"one", "two", "three"} {
		m.offer(text, i+1)
		if _, err := m.pull.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return m.dir
}

// newSignedMaster returns a master with a copy of the signed store like. Its source offers a fourth release.
func newSignedMaster(t *testing.T, like string) *master {
	m := newMaster(t)
	m.pull.Checks.Origin = readsStatement
	if err := errors.Join(os.RemoveAll(m.dir), os.CopyFS(m.dir, os.DirFS(like))); err != nil {
		t.Fatal(err)
	}
	m.offer("four", 4)
	return m
}

// offer makes the source offer a release signed on a day, and sets the clock to that day.
func (m *master) offer(text string, on int) {
	m.now = day(on)
	m.shelf.set(func() { m.shelf.text, m.shelf.signed = text, signs(m.T, text, "production", m.now) })
}

func (m *master) pullNow() error {
	_, err := m.pull.Run(m.Context())
	return err
}

func (m *master) state() State {
	m.Helper()
	st, err := m.store.State("production")
	if err != nil {
		m.Fatal(err)
	}
	return st
}

func (m *master) active() Digest {
	m.Helper()
	d, err := m.store.Active("production")
	if err != nil {
		m.Fatal(err)
	}
	return d
}

// change is a change that a program makes to a store.
type change struct {
	name   string
	before func(*master)
	run    func(*master) error
	done   func(*master) bool // reports whether run took effect
	half   func(*master) bool // reports whether run took effect in part
}

func never(*master) bool { return false }

var changes = []change{
	{"pull", nil, (*master).pullNow,
		func(m *master) bool { return m.active() == sum("four") && m.state().Newest.Equal(day(4)) },
		func(m *master) bool { return m.active() == sum("four") && !m.state().Newest.Equal(day(4)) }},
	{"pull the first release", func(m *master) {
		var err error
		m.dir = m.TempDir()
		if m.store, err = OpenStore(m.dir); err != nil {
			m.Fatal(err)
		}
		m.pull.Store = m.store
	}, (*master).pullNow,
		func(m *master) bool { return m.active() == sum("four") && m.state().Newest.Equal(day(4)) }, never},
	{"pull a stored release", func(m *master) { m.offer("one", 5) }, (*master).pullNow,
		func(m *master) bool { return m.active() == sum("one") && m.state().Newest.Equal(day(5)) }, never},
	{"pull the active snapshot with a new signature", func(m *master) { m.offer("three", 5) }, (*master).pullNow,
		func(m *master) bool {
			st, err := m.store.Statement(sum("three"))
			return err == nil && st.Created.Equal(day(5)) && m.state().Newest.Equal(day(5))
		}, never},
	{"pull over a damaged file", func(m *master) {
		m.offer("three", 3)
		m.damage("three")
	}, (*master).pullNow,
		func(m *master) bool { exists, err := m.store.has(sum("three")); return exists && err == nil }, never},
	{"activate", nil, func(m *master) error { return m.change().Activate(sum("three")) },
		func(m *master) bool { return m.active() == sum("three") }, never},
	{"activate after a rollback", func(m *master) {
		if _, err := m.change().Back(""); err != nil {
			m.Fatal(err)
		}
	}, func(m *master) error { return m.change().Activate(sum("three")) },
		func(m *master) bool { return m.active() == sum("three") && !m.state().Pinned },
		func(m *master) bool { return m.active() == sum("three") && m.state().Pinned }},
	{"rollback", nil, func(m *master) error {
		_, err := m.change().Back("")
		return err
	}, func(m *master) bool { return m.active() == sum("two") && m.state().Pinned },
		func(m *master) bool { return (m.active() == sum("two")) != m.state().Pinned }},
	{"resume", func(m *master) {
		if _, err := m.change().Back(""); err != nil {
			m.Fatal(err)
		}
	}, func(m *master) error { return m.change().Resume() },
		func(m *master) bool { return !m.state().Pinned && m.state().Validator == "" },
		func(m *master) bool { return m.state().Pinned == (m.state().Validator == "") }},
	{"reset", nil, func(m *master) error { _, err := m.change().Reset(); return err },
		func(m *master) bool { return m.state().Validator == "" }, never},
	{"collect", nil, func(m *master) error {
		_, err := m.store.Collect(Keep{Last: 1}, time.Now().Add(time.Hour), false)
		return err
	}, func(m *master) bool {
		all, err := m.store.digests()
		return err == nil && slices.Equal(all, []Digest{sum("three")})
	}, never},
}

// damage flips a bit of a snapshot in the store.
func (m *master) damage(text string) {
	m.Helper()
	path := m.store.Path(sum(text))
	if err := errors.Join(os.Chmod(path, 0o644), os.WriteFile(path, []byte("\x01"+text[1:]), 0o644)); err != nil {
		m.Fatal(err)
	}
}

// sound checks the invariants of a store, which hold even after a crash.
func (m *master) sound(what string) {
	m.Helper()
	active := m.active()
	if active == "" {
		return
	}
	if exists, err := m.store.holds(active); !exists || err != nil {
		m.Errorf("%s: production.snap leads nowhere (%v)", what, err)
	}
	v, err := m.store.view("production")
	if err != nil {
		m.Errorf("%s: %v", what, err)
		return
	}
	last := ""
	var newest time.Time
	for _, e := range v.events {
		if !e.happened() {
			continue
		}
		last = string(e.Digest)
		if e.Action == Activate && e.Created.Before(newest) {
			m.Errorf("%s: a release signed at %v became active after one of %v", what, e.Created, newest)
		}
		newest = newer(newest, e.Created, e.Time)
	}
	if last != string(active) {
		m.Errorf("%s: the history ends with %.12s, and %s answers", what, last, active.Short())
	}
	if v.Newest.Before(newest) {
		m.Errorf("%s: newest %v, but %v has answered", what, v.Newest, newest)
	}
	if s := m.store.Status("production", m.now); s.Problem != "" || s.Since.IsZero() {
		m.Errorf("%s: status %+v", what, s)
	}
}

// repaired checks a store after a program has repaired it.
func (m *master) repaired(what string) {
	m.Helper()
	m.sound(what)
	st, _, err := m.store.savedState("production")
	if err != nil || st.Intent != nil || st.Adopting != nil {
		m.Errorf("%s: not repaired: %+v, %v", what, st, err)
	}
	events, lost, err := m.store.events("production")
	if err != nil || lost > 0 {
		m.Errorf("%s: history %+v, %d damaged, %v", what, events, lost, err)
	}
	seen := map[uint64]bool{}
	for _, e := range events {
		if e.Seq > 0 && seen[e.Seq] {
			m.Errorf("%s: the history has number %d twice", what, e.Seq)
		}
		seen[e.Seq] = true
	}
	// Releases older than the active one are still refused, unless a rollback went further back.
	if m.active() == "" {
		return
	}
	newest := m.state().Newest
	m.offer("replayed", 1)
	m.now = day(9)
	if err := m.change().Resume(); err != nil {
		m.Fatal(err)
	}
	var r *Refusal
	if err := m.pullNow(); newest.After(day(1)) && !errors.As(err, &r) {
		m.Errorf("%s: a release older than %v was accepted: %v", what, newest, err)
	}
}

// fails makes the n-th file system access fail. If dies is set, all later accesses fail, too, as if the program had
// been killed. The result counts the accesses.
func (m *master) fails(n int, dies bool, with error) *faults {
	f := &faults{}
	m.store.files.fault = func(op, path string) error {
		f.count++
		if f.count == n {
			f.op = op
		}
		if f.count == n || dies && f.count > n {
			return with
		}
		return nil
	}
	return f
}

// faults counts file system accesses and records which one failed.
type faults struct {
	count int
	op    string
}

// everyAccess is the distance between two accesses to try.
func everyAccess() int {
	if !testmode.Thorough() {
		return 11
	}
	return 1
}

// For each file system access of a change, the test makes it fail, alone or with all later ones. Afterwards the
// change has been made or not, and the next program repairs the rest.
func TestChangeIsAtomicIfAnyAccessFails(t *testing.T) {
	testmode.SkipUnderRace(t)
	tries, like := 0, signedStore(t)
	for _, c := range changes {
		for _, dies := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/dies=%v", c.name, dies), func(t *testing.T) {
				step := testmode.Number(4, 1)
				if dies {
					step = everyAccess()
				}
				for n := 1; ; n += step {
					m := newSignedMaster(t, like)
					if c.before != nil {
						c.before(m)
					}
					fault := m.fails(n, dies, syscall.ENOSPC)
					err := c.run(m)
					m.store.files.fault = nil
					what := fmt.Sprintf("access %d", n)
					if err == nil && !c.done(m) {
						t.Errorf("%s: no error, and nothing done", what)
					}
					// A pull that cannot read the active file at its start reads it again at its end.
					again := fault.op == "open" && !dies && c.done(m)
					silent := !errors.Is(err, syscall.ENOSPC) && fault.op != ""
					if silent && fault.op != "remove" && !again {
						t.Errorf("%s: the failure of '%s' is not reported: %v", what, fault.op, err)
					}
					if c.half(m) {
						t.Errorf("%s: half done: %v, state %+v", what, err, m.state())
					}
					m.sound(what)
					if fault.count < n {
						if err != nil {
							t.Errorf("without a fault: %v", err)
						}
						break
					}
					tries++
					if err := m.store.locked("production", m.now, func(*record) error { return nil }); err != nil {
						t.Fatalf("%s: the next program: %v", what, err)
					}
					m.repaired(what)
					if t.Failed() {
						return
					}
				}
			})
		}
	}
	t.Logf("%d faults", tries)
	if tries < testmode.Number(150, 500) {
		t.Errorf("%d faults, expected all accesses of all changes", tries)
	}
}

// If another program changes the store at any point during a change, the outcome is as if one had run after the
// other.
func TestConcurrentChangesAreSerializable(t *testing.T) {
	like := signedStore(t)
	for _, a := range changes {
		for _, b := range changes {
			if a.name == "pull the first release" || b.before != nil || b.name == "pull the first release" {
				continue
			}
			t.Run(a.name+" while "+b.name, func(t *testing.T) {
				for n := 0; ; {
					m := newSignedMaster(t, like)
					if a.before != nil {
						a.before(m)
					}
					var otherErr error
					ran, count := false, 0
					m.store.files.fault = func(string, string) error {
						if count++; count > n && !ran && m.unlocked() {
							ran, n = true, count-1+everyAccess()
							other := *m
							store := *m.store
							store.files.fault = nil
							pull := *m.pull
							pull.Store = &store
							other.store, other.pull = &store, &pull
							otherErr = b.run(&other)
						}
						return nil
					}
					err := a.run(m)
					m.store.files.fault = nil
					what := fmt.Sprintf("at access %d", n)
					m.sound(what)
					if !ran || t.Failed() {
						break
					}
					m.agree(what, a, b, err, otherErr)
				}
			})
		}
	}
}

// unlocked reports whether no program holds the lock.
func (m *master) unlocked() bool {
	l := flock.New(filepath.Join(m.dir, "lock"))
	defer l.Close()
	got, err := l.TryLock()
	if err != nil {
		m.Fatal(err)
	}
	return got
}

// agree checks that the outcome of two successful changes is the outcome of running them in one of the two orders.
func (m *master) agree(what string, a, b change, err, otherErr error) {
	m.Helper()
	var r *Refusal
	for _, err := range []error{err, otherErr} {
		collected := errors.Is(err, errGone) || err != nil && strings.Contains(err.Error(), "that was active for more")
		if err != nil && !errors.As(err, &r) && !collected {
			m.Errorf("%s: %v", what, err)
		}
	}
	rolledBack := a.name == "rollback" && err == nil || b.name == "rollback" && otherErr == nil
	ends := func(c change) bool { return strings.HasPrefix(c.name, "activate") || c.name == "resume" }
	if rolledBack && !ends(a) && !ends(b) && !m.state().Pinned {
		m.Errorf("%s: the rollback is not pinned: %+v", what, m.state())
	}
	if rolledBack && !ends(a) && !ends(b) && m.active() == sum("four") {
		history, _ := m.store.History("production")
		m.Errorf("%s: the rollback was undone: %+v", what, history)
	}
}
