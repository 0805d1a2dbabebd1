package ship

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"bindc/internal/fsx"
)

func (m *master) notices() *[]string {
	var all []string
	m.store.Notice = func(text string) { all = append(all, text) }
	return &all
}

func (m *master) history() []Event {
	m.Helper()
	all, err := m.store.History("production")
	if err != nil {
		m.Fatal(err)
	}
	return all
}

// A rollback during the checks of a pull stays in effect, and so does its pin.
func TestRollbackDuringPullStays(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one", "two")
	m.pull.Checks.Gate = func(string, string) error {
		m.pull.Checks.Gate = nil
		_, err := m.change().Back("")
		return err
	}
	r, err := m.release("three")
	if err != nil || r.Activated || !r.Pinned {
		t.Errorf("the pull: %+v, %v; expected that it is pinned", r, err)
	}
	m.answers("one")
	if !m.state().Pinned {
		t.Error("the pin of the rollback is gone")
	}
}

// A resume while a pull finds the name pinned is not lost: the next poll activates the release of the source.
func TestResumeDuringPullIsNotLost(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one", "two")
	if _, err := m.change().Back(""); err != nil {
		t.Fatal(err)
	}
	looks := m.shelf
	m.pull.Source = resuming{looks, func() {
		if err := m.change().Resume(); err != nil {
			t.Error(err)
		}
	}}
	if _, err := m.release("three"); err != nil {
		t.Fatal(err)
	}
	m.pull.Source = m.shelf
	if err := m.pullNow(); err != nil {
		t.Fatal(err)
	}
	m.answers("three")
}

// resuming is a source that calls a function when its offer is closed.
type resuming struct {
	*shelf
	resume func()
}

func (r resuming) Look(ctx context.Context, validator string) (*Offer, error) {
	o, err := r.shelf.Look(ctx, validator)
	if o != nil {
		o.Close = func() error { r.resume(); return nil }
	}
	return o, err
}

// The gate compares with the snapshot that is active at the time of the switch, although that has changed since its
// first call.
func TestGateComparesWithTheSnapshotActiveAtTheSwitch(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one", "two")
	var saw []string
	m.pull.Checks.Gate = func(path, active string) error {
		before, err := os.ReadFile(active)
		if saw = append(saw, string(before)); len(saw) == 1 {
			other := *m.change()
			other.Checks, other.Source = Checks{}, "another pull"
			return other.Activate(sum("one"))
		}
		return err
	}
	if _, err := m.release("three"); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(saw, []string{"two", "one"}) {
		t.Errorf("the gate saw %q", saw)
	}
	m.answers("three")
}

func TestDamagedStateIsRebuiltFromTheHistory(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"truncated": func(path string) error { return os.Truncate(path, 40) },
		"empty":     func(path string) error { return os.Truncate(path, 0) },
		"removed":   os.Remove,
		"not JSON":  func(path string) error { return os.WriteFile(path, []byte("{]"), 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			m := newSignedMaster(t, signedStore(t))
			if _, err := m.change().Back(""); err != nil {
				t.Fatal(err)
			}
			if err := damage(m.store.stateOf("production")); err != nil {
				t.Fatal(err)
			}
			s := m.store.Status("production", m.now)
			if s.Active != sum("two") || s.Since.IsZero() || !strings.Contains(s.Problem, "rebuilds it") {
				t.Errorf("status %+v", s)
			}
			told := m.notices()
			if err := m.pullNow(); err != nil { // only stores the release, because the name is pinned
				t.Fatal(err)
			}
			m.answers("two")
			st := m.state()
			if !st.Pinned || !st.Newest.Equal(day(3)) || st.Source != "shelf" || st.Activated.OK.IsZero() {
				t.Errorf("the state was rebuilt as %+v", st)
			}
			if len(*told) != 1 || !strings.Contains((*told)[0], "it was rebuilt from the history") ||
				strings.Contains((*told)[0], errLost.Error()) {
				t.Errorf("told %q", *told)
			}
			if i := slices.IndexFunc(m.history(), func(e Event) bool { return e.Action == Repair }); i < 0 {
				t.Errorf("the history does not have the repair: %+v", m.history())
			}
			m.sound(name)
			m.repaired(name)
		})
	}
}

// A history without the active snapshot is a problem of the name. The rest of its state is still shown, and the next
// pull repairs the history.
func TestStatusReportsHistoryWithoutActiveSnapshot(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	if err := os.Remove(m.store.eventsOf("production")); err != nil {
		t.Fatal(err)
	}
	s := m.store.Status("production", m.now)
	if !strings.Contains(s.Problem, "does not have the active snapshot") || s.Source != "shelf" || s.Active == "" {
		t.Errorf("status %+v", s)
	}
	m.notices()
	if err := m.pullNow(); err != nil {
		t.Fatal(err)
	}
	if s := m.store.Status("production", m.now); s.Problem != "" {
		t.Errorf("after the repair, status %+v", s)
	}
}

// A snapshot that is a file next to the links is listed. Links and other files are not.
func TestForeignListsSnapshotsThatAreNoLinks(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	for _, name := range []string{"copied.snap", "notes.txt", ".snap"} {
		if err := os.WriteFile(m.store.path(name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found, err := m.store.Foreign()
	if err != nil || !slices.Equal(found, []string{m.store.path("copied.snap")}) {
		t.Errorf("found %q, %v", found, err)
	}
}

// Vet applies the checks to the active snapshot and changes nothing.
func TestVetChecksActiveSnapshot(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	before := m.state()
	if err := m.pull.Vet(); err != nil {
		t.Errorf("the checks that it has passed reject it: %v", err)
	}
	active := m.store.Path(m.active())
	m.pull.Checks.Gate = func(path, before string) error {
		if path != active || before != "" {
			t.Errorf("the gate sees %s and %s", path, before)
		}
		return refused("too many changes")
	}
	if err := m.pull.Vet(); err == nil || ReasonOf(err) != Gate || !strings.Contains(err.Error(), "too many changes") {
		t.Errorf("found %v", err)
	}
	m.pull.Checks.Gate = nil
	m.pull.SignedAs = "other"
	if err := m.pull.Vet(); err == nil || ReasonOf(err) != Signature {
		t.Errorf("found %v", err)
	}
	if after := m.state(); !reflect.DeepEqual(after, before) {
		t.Errorf("the state has changed from %+v to %+v", before, after)
	}
	m.pull.Name = "unknown"
	if err := m.pull.Vet(); err != nil {
		t.Errorf("a name without an active snapshot: %v", err)
	}
}

// If a process died after it switched the link, its intent is completed. Otherwise the intent is recorded as a failure.
func TestIntentOfDeadProcessIsResolved(t *testing.T) {
	like := signedStore(t)
	for _, switched := range []bool{true, false} {
		t.Run(fmt.Sprint("switched=", switched), func(t *testing.T) {
			m := newSignedMaster(t, like)
			dead := errors.New("killed")
			before := len(m.history())
			m.store.files.fault = func(op, path string) error {
				linked := op == "rename" && filepath.Base(path) == "production.snap"
				if dead == nil || linked && !switched || op == "rename" && strings.HasSuffix(path, ".jsonl") {
					dead = nil
					return errors.New("killed")
				}
				return nil
			}
			if _, err := m.change().Back(sum("one")); err == nil {
				t.Fatal("the rollback did not notice that it died")
			} else if !switched == strings.Contains(err.Error(), "the next bindsync command records it") {
				t.Errorf("the error is %v", err)
			}
			m.store.files.fault = nil
			st, _, err := m.store.savedState("production")
			if err != nil || st.Intent == nil || st.Pinned {
				t.Fatalf("the state is %+v, %v; expected an intent", st, err)
			}
			if m.state().Pinned != switched || (m.active() == sum("one")) != switched {
				t.Errorf("pinned %v, %s answers", m.state().Pinned, m.active().Short())
			}
			if s := m.store.Status("production", m.now); s.Pinned != switched || s.Since.Equal(m.now) != switched {
				t.Errorf("status %+v", s)
			}
			if err := m.change().Resume(); err != nil {
				t.Fatal(err)
			}
			h := m.history()
			if len(h) != before+2 || h[before].Action != Rollback || (h[before].Result == resultOK) != switched ||
				!switched && h[before].Result != errInterrupted.Error() || h[before+1].Action != Resume {
				t.Errorf("history %+v", h)
			}
			a := m.state().Activated
			if (a.Error == errInterrupted.Error()) == switched || a.Took != 0 {
				t.Errorf("the activation ended with '%s' after %v s", a.Error, a.Took)
			}
		})
	}
}

// An active snapshot that is not in the history is added to it. Older versions left such snapshots.
func TestActiveSnapshotIsAddedToHistory(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	for _, path := range []string{m.store.eventsOf("production"), m.store.stateOf("production")} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	told := m.notices()
	if err := m.change().Resume(); err != nil {
		t.Fatal(err)
	}
	h := m.history()
	if len(h) != 2 || h[0].Action != Repair || h[0].Digest != sum("three") || h[0].Revision != "r-three" ||
		!h[0].Created.Equal(day(3)) || !m.state().Newest.Equal(day(3)) {
		t.Errorf("history %+v, state %+v", h, m.state())
	}
	if len(*told) != 1 {
		t.Errorf("told %q", *told)
	}
	m.repaired("history lost")
}

func TestDamagedHistoryLinesAreRemovedAndReported(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	text, err := os.ReadFile(m.store.eventsOf("production"))
	if err != nil {
		t.Fatal(err)
	}
	text = append([]byte("{}\nnonsense\n"), text...)
	if err := os.WriteFile(m.store.eventsOf("production"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	told := m.notices()
	all := m.history()
	if len(all) != 1 || len(*told) != 1 || !strings.Contains((*told)[0], "(2 lines are not events)") {
		t.Errorf("history %+v, told %q", all, *told)
	}
	*told = nil
	m.mustRelease("two")
	if len(*told) != 1 || !strings.Contains((*told)[0], "had 2 damaged lines, which were removed") {
		t.Errorf("told %q", *told)
	}
	if _, lost, err := m.store.events("production"); lost > 0 || err != nil {
		t.Errorf("%d damaged lines, %v", lost, err)
	}
}

// A history truncates long strings, records repeated failures once, and keeps only the latest events.
func TestHistoryIsBounded(t *testing.T) {
	m := newMaster(t)
	m.shelf.revision = strings.Repeat("ä", 35_000)
	m.mustRelease("one")
	e := m.history()[0]
	if len(e.Revision) > maxText || !strings.HasSuffix(e.Revision, "ää… (70000 bytes)") {
		t.Errorf("a revision of %d bytes: %.20q", len(e.Revision), e.Revision)
	}
	m.shelf.revision = ""
	why := "shut"
	asked := 0
	m.pull.Checks.Rules = func() string { asked++; return fmt.Sprint(asked) } // makes each poll check again
	m.pull.Checks.Gate = func(string, string) error { return &Refusal{why} }
	for range 3 {
		if _, err := m.release("two"); err == nil {
			t.Fatal("the gate let it through")
		}
	}
	if h := m.history(); len(h) != 2 || h[1].Result != "shut" {
		t.Errorf("history %+v, expected the refusal once", h)
	}
	why = strings.Repeat("no ", 1000)
	if _, err := m.release("two"); err == nil {
		t.Fatal("the gate let it through")
	}
	if h := m.history(); len(h) != 3 || len(h[2].Result) > maxText {
		t.Errorf("history %+v, expected the second refusal, cut", h)
	}
	if e := m.state().Activated.Error; len(e) > maxText || !strings.HasSuffix(e, "… (3000 bytes)") {
		t.Errorf("the error in the state has %d bytes", len(e))
	}

	var long []Event
	for i := range 3 * maxEvents {
		long = append(long, Event{Seq: uint64(i + 1), Result: []string{resultOK, "refused", "failed"}[i%3]})
	}
	kept := compacted(long)
	failures := 0
	for _, e := range kept {
		if e.Result != resultOK {
			failures++
		}
	}
	if len(kept) != maxEvents || failures != maxFailures || kept[len(kept)-1].Seq != 3*maxEvents {
		t.Errorf("%d events are left, %d failures, the last one %d", len(kept), failures, kept[len(kept)-1].Seq)
	}
	short := []Event{{Seq: 1, Result: "refused"}, {Seq: 2, Result: resultOK}}
	if kept := compacted(slices.Clone(short)); !slices.Equal(kept, short) {
		t.Errorf("a short history became %+v", kept)
	}
	if exact := strings.Repeat("x", maxText); bounded(exact) != exact || len(bounded(exact+"x")) != maxText {
		t.Error("a text of as many bytes as it may have is cut, or a longer one is not")
	}
}

func TestStatementFromTheFutureIsRejected(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	m.now = day(4)
	ahead := func(by time.Duration) error {
		m.shelf.text, m.shelf.signed = "ahead", signs(t, "ahead", "production", m.now.Add(by))
		return m.pullNow()
	}
	var r *Refusal
	if err := ahead(clockSkew + time.Second); !errors.As(err, &r) || !strings.Contains(err.Error(),
		"more than 5m0s ahead of this machine's clock, which shows 2026-05-04T03:00:00Z") {
		t.Errorf("signed in the future: %v", err)
	}
	m.answers("three")
	if err := ahead(clockSkew); err != nil {
		t.Errorf("signed within the allowance: %v", err)
	}
	m.answers("ahead")
}

// If an older version accepted a release from the future, later releases are rejected as too old until Reset.
func TestResetAllowsReleasesAfterOneFromTheFuture(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	future := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	err := m.store.locked("production", m.now, func(r *record) error {
		then := r.State
		then.Newest = future
		return r.carryOut(intent{To: r.active, Then: then, Event: Event{Time: m.now, Action: Activate, Digest: r.active,
			Created: future, Result: resultOK}}, nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	var r *Refusal
	if err := m.pullNow(); !errors.As(err, &r) || !strings.Contains(err.Error(), "run 'bindsync reset production'") {
		t.Errorf("after a release from the future: %v", err)
	}
	newest, err := m.change().Reset()
	if err != nil || !newest.Equal(day(3)) {
		t.Errorf("reset to %v, %v", newest, err)
	}
	if err := m.pullNow(); err != nil {
		t.Error(err)
	}
	m.answers("four")
	m.offer("replayed", 2)
	m.now = day(5)
	if err := m.pullNow(); !errors.As(err, &r) || !strings.Contains(err.Error(), "use rollback") {
		t.Errorf("reset accepts a release older than the others: %v", err)
	}
	os.Remove(m.store.stateOf("production"))
	if err := m.change().Resume(); err != nil || !m.state().Newest.Equal(day(4)) {
		t.Errorf("rebuilt after a reset: %v, %+v", err, m.state())
	}
	other := *m.change()
	other.Name = "prodction"
	for _, err := range []error{other.Resume(), func() error { _, err := other.Reset(); return err }()} {
		if err == nil || !strings.Contains(err.Error(), "its only name is 'production'") {
			t.Errorf("an unknown name: %v", err)
		}
	}
	if names, err := m.store.Names(); err != nil || !slices.Equal(names, []string{"production"}) {
		t.Errorf("names %q, %v", names, err)
	}
}

// If the active snapshot is signed again later, releases that were signed in between are too old.
func TestLaterSignatureOfActiveSnapshotCounts(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	m.offer("three", 6)
	if err := m.pullNow(); err != nil {
		t.Fatal(err)
	}
	m.offer("between", 5)
	m.now = day(7)
	var r *Refusal
	if err := m.pullNow(); !errors.As(err, &r) {
		t.Errorf("a release signed before the latest signature of the active snapshot: %v", err)
	}
}

// A pull fetches a damaged active file again although the source has nothing new. It does so at once if the file's size
// or time has changed, otherwise within an hour.
func TestDamagedActiveSnapshotIsFetchedAgain(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	if err := m.pullNow(); err != nil || m.shelf.reads != 1 {
		t.Fatalf("%v, %d reads", err, m.shelf.reads)
	}
	m.damage("one")
	if err := m.pullNow(); err != nil || m.shelf.reads != 2 {
		t.Errorf("%v, %d reads, expected a second", err, m.shelf.reads)
	}
	m.answers("one")
	if err := m.pullNow(); err != nil {
		t.Fatal(err)
	}
	m.damage("one") // the file keeps its size and time
	id, _ := fsx.FileIDAt(m.store.Path(sum("one")))
	m.pull.sound.file = id
	m.now = m.now.Add(reverify - time.Second)
	if err := m.pullNow(); err != nil || m.shelf.reads != 2 {
		t.Errorf("%v, %d reads, expected no other", err, m.shelf.reads)
	}
	m.now = m.now.Add(time.Second)
	if err := m.pullNow(); err != nil || m.shelf.reads != 3 {
		t.Errorf("%v, %d reads, expected a third", err, m.shelf.reads)
	}
	m.answers("one")
	info, err := os.Stat(m.store.Path(sum("one")))
	if err != nil || info.Mode() != 0o444 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	m.clean()
}

// If the source does not have the damaged active snapshot, every pull fails until another snapshot is active.
func TestDamageFailsPullsIfSourceLacksTheSnapshot(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one", "two")
	if _, err := m.change().Back(""); err != nil {
		t.Fatal(err)
	}
	m.damage("one")
	told := m.notices()
	for range 2 {
		if err := m.pullNow(); err == nil || !strings.Contains(err.Error(), "run 'bindsync rollback production'") {
			t.Errorf("a damaged file that the source does not have: %v", err)
		}
		s := m.store.Status("production", m.now)
		if !strings.Contains(s.Damaged, "does not have the SHA-256") || s.Checked.Error != "" || len(*told) > 0 {
			t.Errorf("status %+v, told %q", s, *told)
		}
	}
	if err := m.change().Activate(sum("two")); err != nil {
		t.Fatal(err)
	}
	if s := m.store.Status("production", m.now); s.Damaged != "" {
		t.Errorf("after another activation: %+v", s)
	}
	if err := m.pullNow(); err != nil {
		t.Error(err)
	}
}

// Damage of one name does not affect another.
func TestDamageOfOneNameDoesNotAffectOthers(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	staging := *m.pull
	staging.Name = "staging"
	if _, err := staging.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	link := m.store.linkOf("staging")
	if err := errors.Join(os.Remove(link), os.WriteFile(link, []byte("mine"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if s := m.store.Status("staging", m.now); !strings.Contains(s.Problem, "expected a symbolic link into the store") {
		t.Errorf("status %+v", s)
	}
	if s := m.store.Status("production", m.now); s.Problem != "" || s.Active != sum("one") {
		t.Errorf("status %+v", s)
	}
	if err := os.WriteFile(m.store.Path(sum("one"))+".meta.json", []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if s := m.store.Status("production", m.now); !strings.Contains(s.Problem, "meta.json") || s.Active != sum("one") {
		t.Errorf("status %+v", s)
	}
	names, err := m.store.Names()
	if err != nil || !slices.Equal(names, []string{"production", "staging"}) {
		t.Errorf("names %q, %v", names, err)
	}
}

// A state written by an older version has neither numbers nor an intent.
func TestReadsStateOfOlderVersion(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one", "two")
	text, err := json.Marshal(m.state())
	if err != nil {
		t.Fatal(err)
	}
	var old strings.Builder
	for _, e := range m.history() {
		e.Seq = 0
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		old.Write(append(line, '\n'))
	}
	if err := errors.Join(os.WriteFile(m.store.stateOf("production"), text, 0o644),
		os.WriteFile(m.store.eventsOf("production"), []byte(old.String()), 0o644)); err != nil {
		t.Fatal(err)
	}
	told := m.notices()
	m.mustRelease("three")
	if d, err := m.change().Back(""); err != nil || d != sum("two") {
		t.Errorf("back to %s, %v", d.Short(), err)
	}
	if len(*told) > 0 {
		t.Errorf("told %q", *told)
	}
}

func TestStoreWritableByAllIsRejected(t *testing.T) {
	m := newMaster(t)
	for _, dir := range append([]string{m.dir}, m.store.dirs()...) {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		for _, open := range []func(string) (*Store, error){OpenStore, FindStore} {
			if _, err := open(m.dir); err == nil || !strings.Contains(err.Error(), "run 'chmod o-w "+dir+"'") {
				t.Errorf("%s is open to all: %v", dir, err)
			}
		}
		if err := os.Chmod(dir, 0o775); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenStore(m.dir); err != nil {
			t.Errorf("%s is open to its group: %v", dir, err)
		}
	}
}

// The permissions of files follow from the permissions of the store's directory, whatever the umask.
func TestPermissionsFollowTheStore(t *testing.T) {
	for mode, want := range map[os.FileMode][3]os.FileMode{
		0o755: {0o755, 0o644, 0o440}, 0o750: {0o750, 0o640, 0o440}, 0o775: {0o775, 0o664, 0o440},
		0o700: {0o700, 0o600, 0o400},
	} {
		m := newMaster(t)
		m.dir = filepath.Join(t.TempDir(), "store")
		if err := errors.Join(os.Mkdir(m.dir, 0o700), os.Chmod(m.dir, mode)); err != nil {
			t.Fatal(err)
		}
		store, err := OpenStore(m.dir)
		if err != nil {
			t.Fatal(err)
		}
		m.store, m.pull.Store = store, store
		m.pull.Checks.Inspect = func(string) (bool, error) { return true, nil }
		m.shelf.signed = signs(t, "one", "production", m.now)
		m.mustRelease("one")
		for path, want := range map[string]os.FileMode{store.entry(sum("one")): want[0], store.path("history"): want[0],
			store.stateOf("production"): want[1], store.eventsOf("production"): want[1],
			store.Path(sum("one")) + ".sig": want[1], store.Path(sum("one")): want[2],
			store.lock(): want[1] & 0o660} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("in a store of %o %s has %o (%v), expected %o", mode, path, info.Mode().Perm(), err, want)
			}
		}
	}
}

// A state is rebuilt from the successful events of the history. Failed events are ignored.
func TestRebuiltStateIgnoresFailedEvents(t *testing.T) {
	at := func(n int) time.Time { return time.Date(2026, 5, n, 12, 0, 0, 0, time.UTC) }
	event := func(n int, action, text string, created time.Time) Event {
		e := Event{Seq: uint64(n), Time: at(n), Action: action, Created: created, Result: resultOK}
		if text != "" {
			e.Digest, e.Source = sum(text), "from "+text
		}
		return e
	}
	failed := func(e Event) Event { e.Result = "failed"; return e }
	one, two := event(1, Activate, "one", day(1)), event(2, Activate, "two", day(2))
	back, resume := event(3, Rollback, "one", day(1)), event(4, Resume, "", time.Time{})
	for name, c := range map[string]struct {
		then   []Event
		pinned bool
		newest time.Time
	}{
		"activations":                {nil, false, day(2)},
		"a rollback":                 {[]Event{back}, true, day(2)},
		"a rollback that failed":     {[]Event{failed(back)}, false, day(2)},
		"a resume":                   {[]Event{back, resume}, false, day(2)},
		"a resume that failed":       {[]Event{back, failed(resume)}, true, day(2)},
		"an activation":              {[]Event{back, event(4, Activate, "one", day(4))}, false, day(4)},
		"a release that was refused": {[]Event{failed(event(3, Activate, "three", day(3)))}, false, day(2)},
		"one from the future":        {[]Event{event(3, Activate, "one", day(30))}, false, day(2)},
		"a reset":                    {[]Event{event(3, Reset, "", day(1))}, false, day(1)},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMaster(t)
			m.mustRelease("one", "two")
			r := &record{store: m.store, name: "production", now: at(5), active: sum("two"),
				events: append([]Event{one, two}, c.then...)}
			n := len(r.events)
			if err := r.rebuild("a test"); err != nil {
				t.Fatal(err)
			}
			if r.Pinned != c.pinned || !r.Newest.Equal(c.newest) || r.Activated.OK.IsZero() || r.Activated.Took != 0 ||
				!strings.HasPrefix(r.Source, "from ") || r.Seq != uint64(n+2) {
				t.Errorf("rebuilt %+v, number %d; expected pinned %v, newest %v", r.State, r.Seq, c.pinned, c.newest)
			}
			last := r.events[len(r.events)-1]
			if len(r.events) != n+1 || last.Action != Repair || last.Note != "a test" || last.Digest != "" {
				t.Errorf("the repair is noted as %+v", last)
			}
		})
	}
}
