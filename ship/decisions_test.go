package ship

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"bindc/origin"
)

// A rollback runs no gate, because it is used after a bad release has passed the gates.
func TestRollbackRunsNoGate(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one", "two")
	s := m.change()
	s.Checks.Gate = func(string, string) error { t.Error("the gate ran"); return &Refusal{"shut"} }
	if _, err := s.Back(sum("one")); err != nil {
		t.Error(err)
	}
	m.answers("one")
}

// A pull reads no snapshot while it holds the lock, because that would delay all other names.
func TestPullReadsNoSnapshotUnderTheLock(t *testing.T) {
	m := newMaster(t)
	m.store.files.fault = func(op, path string) error {
		if op == "open" && !m.unlocked() {
			t.Errorf("%s is read under the lock", path)
		}
		return nil
	}
	m.mustRelease("one", "two", "two", "one")
}

// If the only event of the active snapshot is a failed activation, the next program adds the snapshot to the history.
func TestActiveSnapshotWithOnlyAFailedActivationIsAddedToHistory(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	err := m.store.locked("production", m.now, func(r *record) error {
		r.events = nil
		return r.note(Event{Seq: r.Seq, Time: m.now, Action: Activate, Digest: r.active, Result: "failed"})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.pullNow(); err != nil {
		t.Fatal(err)
	}
	if h := m.history(); len(h) != 2 || h[1].Action != Repair || h[1].Digest != sum("one") {
		t.Errorf("history %+v", h)
	}
}

// If the first release of a name is rejected at each poll, the history records that once.
func TestRepeatedRejectionOfFirstReleaseIsRecordedOnce(t *testing.T) {
	m := newMaster(t)
	s := m.change()
	s.Checks.Gate = func(string, string) error { return &Refusal{"shut"} }
	m.pull.Hold = true
	if _, err := m.release("one"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		m.now = m.now.Add(time.Minute)
		if err := s.Activate(sum("one")); ReasonOf(err) != Gate {
			t.Fatal(err)
		}
	}
	if h := m.history(); len(h) != 1 || h[0].Result != "shut" {
		t.Errorf("history %+v", h)
	}
}

// If the source gets a newer release while a pull waits for its turn, the pull fetches the newer one.
func TestPullFetchesReleaseThatIsNewAfterItsWait(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	m.pull.Turns = make(chan struct{}, 1)
	m.pull.Turns <- struct{}{}
	freed := false
	m.pull.Source = resuming{m.shelf, func() { // the pull closes its connection before it waits
		if m.shelf.set(func() { m.shelf.text = "three" }); !freed {
			freed = true
			<-m.pull.Turns
		}
	}}
	if r, err := m.release("two"); err != nil || r.Digest != sum("three") || !r.Activated {
		t.Errorf("%+v, %v", r, err)
	}
	m.answers("three")
}

// gc keeps the last active snapshots of a name. It removes a snapshot that was only ever rejected.
func TestGCRemovesRejectedSnapshot(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one", "two")
	m.pull.Checks.Gate = func(string, string) error { return &Refusal{"shut"} }
	if _, err := m.release("three"); ReasonOf(err) != Gate {
		t.Fatal(err)
	}
	gone, err := m.store.Collect(Keep{Last: 2}, time.Now().Add(time.Hour), false)
	if err != nil || !slices.Equal(gone, []Digest{sum("three")}) {
		t.Errorf("collected %v, %v", gone, err)
	}
}

// Activating a snapshot by hand for a name that was never polled does not pin the name, so that the first poll
// activates the release of the source.
func TestActivationOfNameWithoutSourceDoesNotPin(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	s := m.change()
	s.Name = "staging"
	if err := s.Activate(sum("one")); err != nil || s.Pinned {
		t.Errorf("pinned %v, %v", s.Pinned, err)
	}
	if st, err := m.store.State("staging"); err != nil || st.Pinned {
		t.Errorf("state %+v, %v", st, err)
	}
}

// A release of the same statement with the signature of another key replaces the stored signature.
func TestSignatureByAnotherKeyReplacesStoredOne(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	m.offer("three", 3)
	text := m.shelf.signed.Text
	m.shelf.signed = &origin.Signed{Text: text, Signature: []byte("another key's")}
	m.pull.Source = anew{m.shelf}
	if err := m.pullNow(); err != nil {
		t.Fatal(err)
	}
	signed, err := m.store.signed(sum("three"))
	if err != nil || string(signed.Text) != string(text) || string(signed.Signature) != "another key's" {
		t.Errorf("%+v, %v", signed, err)
	}
}

// anew is a shelf that ignores validators, so that every poll gets an offer.
type anew struct{ *shelf }

func (a anew) Look(ctx context.Context, _ string) (*Offer, error) { return a.shelf.Look(ctx, "") }

// join puts the errors of several steps on one line and skips steps without an error.
func TestJoinPutsErrorsOnOneLine(t *testing.T) {
	a, b := errors.New("a"), errors.New("b")
	if err := join(nil, a, nil, b); err == nil || err.Error() != "a; b" || !errors.Is(err, a) || !errors.Is(err, b) {
		t.Error(err)
	}
	if err := join(nil, nil); err != nil {
		t.Error(err)
	}
}

// If gc or a user removes a snapshot while a pull checks it, the pull fetches it again.
func TestSnapshotRemovedDuringPullIsFetchedAgain(t *testing.T) {
	for name, remove := range map[string]func(m *master, path string){
		"by the gate": func(m *master, path string) {
			m.pull.Checks.Gate = func(string, string) error { m.pull.Checks.Gate = nil; return os.RemoveAll(path) }
		},
		"while its statement is read": func(m *master, path string) {
			m.store.files.fault = func(op, file string) error {
				if op != "read" || filepath.Dir(file) != path {
					return nil
				}
				m.store.files.fault = nil
				return errors.Join(os.RemoveAll(path), syscall.ESTALE)
			}
		},
	} {
		m := newSignedMaster(t, signedStore(t))
		remove(m, m.store.entry(sum("four")))
		r, err := m.pull.Run(t.Context())
		if err != nil || !r.Activated || m.shelf.looks != 2 {
			t.Errorf("%s: %+v, %v, %d looks", name, r, err, m.shelf.looks)
		}
		m.answers("four")
	}
}

// A pull that cannot read the store does not try again.
func TestPullWithUnreadableStoreDoesNotRetry(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	m.offer("two", 5)
	m.store.files.fault = func(op, path string) error {
		if (op == "read" || op == "stat") && strings.Contains(path, string(sum("two"))) {
			return syscall.EIO
		}
		return nil
	}
	if err := m.pullNow(); !errors.Is(err, syscall.EIO) || errors.Is(err, errGone) || m.shelf.looks != 1 {
		t.Errorf("%v, %d looks", err, m.shelf.looks)
	}
}

// If the snapshot disappears during the checks of a switch by hand, the error contains its digest.
func TestSwitchErrorNamesRemovedSnapshot(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one", "two")
	s := m.change()
	s.Checks.Gate = func(string, string) error { return os.RemoveAll(m.store.entry(sum("one"))) }
	if err := s.Activate(sum("one")); !errors.Is(err, errGone) || !strings.HasPrefix(err.Error(), sum("one").Short()) {
		t.Error(err)
	}
	m.answers("two")
}

// Activating a snapshot by hand that is not the release of the source pins the name and sets Pinned.
func TestActivatingAnotherSnapshotPinsName(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one", "two")
	for text, pins := range map[string]bool{"one": true, "two": false} {
		s := m.change()
		if err := s.Activate(sum(text)); err != nil || s.Pinned != pins || m.state().Pinned != pins {
			t.Errorf("%s: pinned %v, state %+v, %v", text, s.Pinned, m.state(), err)
		}
	}
}

// For the first release of a name, the gate gets an empty path for the active snapshot.
func TestGateOfFirstReleaseGetsNoActiveSnapshot(t *testing.T) {
	m := newMaster(t)
	m.pull.Checks.Gate = func(path, active string) error {
		if active != "" || path != m.store.Path(sum("one")) {
			t.Errorf("the gate got %s and '%s'", path, active)
		}
		return nil
	}
	m.mustRelease("one")
}

// If somebody switches a link with ln, the status shows the new snapshot, and the next pull adds it to the history.
func TestSnapshotLinkedByHandIsAddedToHistory(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	m.pull.Hold = true
	if _, err := m.release("two"); err != nil {
		t.Fatal(err)
	}
	link := m.store.linkOf("production")
	err := errors.Join(os.Remove(link), os.Symlink("store/sha256/"+string(sum("two"))+"/site.snap", link))
	if err != nil {
		t.Fatal(err)
	}
	if s := m.store.Status("production", m.now); s.Active != sum("two") || !s.Since.IsZero() {
		t.Errorf("status %+v", s)
	}
	if err := m.pullNow(); err != nil {
		t.Fatal(err)
	}
	if h := m.history(); h[len(h)-1].Action != Repair || h[len(h)-1].Digest != sum("two") {
		t.Errorf("history %+v", h)
	}
	if s := m.store.Status("production", m.now); !s.Since.Equal(m.now) {
		t.Errorf("status %+v", s)
	}
}

// The counters include all bytes that a source sent, however the download fails.
func TestBytesOfFailedDownloadsAreCounted(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(m *master, sent *int)
		bytes uint64
	}{
		"more than announced": {func(m *master, sent *int) { m.pull.Source = lying{m.shelf, sent} }, 9},
		"too large":           {func(m *master, _ *int) { m.pull.MaxBytes, m.shelf.silent = 5, true }, 6},
		"cut":                 {func(m *master, _ *int) { m.shelf.breaks = io.EOF }, 4},
		"another digest":      {func(m *master, _ *int) { m.shelf.wrong = sum("else") }, 8},
	} {
		m := newMaster(t)
		c.spoil(m, new(int))
		if _, err := m.release("snapshot"); err == nil {
			t.Errorf("%s: it was accepted", name)
		}
		if got := m.state().Counts.Bytes; got != c.bytes {
			t.Errorf("%s: %d bytes, expected %d", name, got, c.bytes)
		}
	}
}

// A pull closes the body of the offer.
func TestPullClosesBodyOfOffer(t *testing.T) {
	m := newMaster(t)
	closed := 0
	m.pull.Source = closing{m.shelf, &closed}
	m.mustRelease("one")
	m.shelf.breaks = io.ErrUnexpectedEOF
	if _, err := m.release("two"); err == nil || closed != 2 {
		t.Errorf("%v, %d closed", err, closed)
	}
}

// closing counts the bodies that are closed.
type closing struct {
	*shelf
	closed *int
}

func (c closing) Look(ctx context.Context, validator string) (*Offer, error) {
	o, err := c.shelf.Look(ctx, validator)
	if err != nil {
		return nil, err
	}
	body := o.Body
	o.Body = func(ctx context.Context) (io.ReadCloser, error) {
		r, err := body(ctx)
		return &closer{r, c.closed}, err
	}
	return o, nil
}

type closer struct {
	io.ReadCloser
	closed *int
}

func (c *closer) Close() error { *c.closed++; return c.ReadCloser.Close() }
