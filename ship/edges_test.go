package ship

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofrs/flock"

	"bindc/origin"
)

// If the history no longer contains the activation of a rollback's target, the rollback begins a new tenure.
func TestRollbackToSnapshotNotInHistoryBeginsTenure(t *testing.T) {
	at := func(minute int) time.Time { return time.Unix(0, 0).Add(time.Duration(minute) * time.Minute) }
	all := tenures([]Event{
		{Time: at(0), Action: Activate, Digest: "b", Result: resultOK},
		{Time: at(5), Action: Rollback, Digest: "a", Result: resultOK},
		{Time: at(7), Action: Activate, Digest: "c", Result: resultOK},
	})
	want := []tenure{{"b", at(0), 5 * time.Minute}, {"a", at(5), 2 * time.Minute}, {"c", at(7), 0}}
	if !slices.Equal(all, want) {
		t.Errorf("%+v, expected %+v", all, want)
	}
}

func TestJitteredPauseIsHalfToOneAndAHalf(t *testing.T) {
	const d = time.Hour
	least, most := 2*d, time.Duration(0)
	for range 2000 {
		pause := jittered(d)
		least, most = min(least, pause), max(most, pause)
	}
	if least < d/2 || least > d*11/20 || most > d*3/2 || most < d*29/20 {
		t.Errorf("pauses of %v to %v", least, most)
	}
}

// A pull fails if a disk error prevents looking for the release in the store, whether the release is signed or not.
func TestDiskErrorInStoreFailsPull(t *testing.T) {
	for _, isSigned := range []bool{true, false} {
		m := newSignedMaster(t, signedStore(t))
		if !isSigned {
			m.pull.Checks.Origin = nil
		}
		m.store.files.fault = func(op, path string) error {
			if op == "open" && strings.Contains(path, string(sum("four"))) {
				return syscall.EIO
			}
			return nil
		}
		if err := m.pullNow(); !errors.Is(err, syscall.EIO) || ReasonOf(err) != Disk {
			t.Errorf("%v (%s)", err, ReasonOf(err))
		}
		m.store.files.fault = nil
		if n := m.shelf.reads; n != 0 {
			t.Errorf("%d downloads", n)
		}
	}
}

// One program completes both an interrupted adoption and an interrupted switch.
func TestNextProgramCompletesBothInterruptedChanges(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	later := signs(t, "three", "production", day(4))
	var r *record
	err := m.store.locked("production", day(4), func(is *record) error {
		r = is
		r.Adopting = &adoption{sum("three"), later.Text, later.Signature}
		r.Intent = &intent{Event: Event{Seq: 99, Time: day(4), Action: Activate, Digest: sum("two"), Result: resultOK},
			To: sum("two")}
		return r.save()
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.store.locked("production", day(5), func(is *record) error { r = is; return nil }); err != nil {
		t.Fatal(err)
	}
	if r.Adopting != nil || r.Intent != nil {
		t.Errorf("adopting %+v, intent %+v", r.Adopting, r.Intent)
	}
	if st, err := m.store.Statement(sum("three")); err != nil || !st.Created.Equal(day(4)) {
		t.Errorf("statement %+v, %v", st, err)
	}
	if h := m.history(); h[len(h)-1].Result != errInterrupted.Error() {
		t.Errorf("history ends with %+v", h[len(h)-1])
	}
}

// If an unsigned active snapshot is added to the history, its event has neither a revision nor a signing time.
func TestUnsignedSnapshotAddedToHistoryHasNoSigningTime(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	if err := os.Remove(m.store.eventsOf("production")); err != nil {
		t.Fatal(err)
	}
	if err := m.pullNow(); err != nil {
		t.Fatal(err)
	}
	h := m.history()
	if len(h) != 1 || h[0].Action != Repair || h[0].Digest != sum("one") || !h[0].Created.IsZero() {
		t.Errorf("history %+v", h)
	}
}

// The result of a pull whose release is rejected does not report an activation.
func TestResultOfRejectedReleaseReportsNoActivation(t *testing.T) {
	m := newMaster(t)
	m.pull.Checks.Gate = func(string, string) error { return &Refusal{"shut"} }
	r, err := m.release("one")
	if err == nil || r.Activated || !r.Downloaded || r.Digest != sum("one") {
		t.Errorf("%+v, %v", r, err)
	}
}

// A pull adds a statement to a stored snapshot that is unsigned or whose statement is damaged. It does not replace a
// newer statement with an older one.
func TestPullAddsNewerStatementToStoredSnapshot(t *testing.T) {
	for name, c := range map[string]struct {
		before func(m *master)
		want   int
	}{
		"unsigned": {func(*master) {}, 3},
		"damaged": {func(m *master) {
			path := m.store.Path(sum("one")) + origin.StatementSuffix
			if err := os.WriteFile(path, []byte("{"), 0o644); err != nil {
				m.Fatal(err)
			}
		}, 3},
		"of another form": {func(m *master) {
			path := m.store.Path(sum("one")) + origin.StatementSuffix
			if err := os.WriteFile(path, []byte(`{"created": "2026-05-09T00:00:00Z", "name": 5}`), 0o644); err != nil {
				m.Fatal(err)
			}
		}, 3},
		"older": {func(m *master) {
			signed := signs(m.T, "one", "production", day(2))
			if err := m.store.writeSigned(m.store.Path(sum("one")), *signed); err != nil {
				m.Fatal(err)
			}
		}, 3},
		"newer": {func(m *master) {
			signed := signs(m.T, "one", "production", day(4))
			if err := m.store.writeSigned(m.store.Path(sum("one")), *signed); err != nil {
				m.Fatal(err)
			}
		}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMaster(t)
			m.mustRelease("one")
			c.before(m)
			m.offer("one", 3)
			if err := m.pullNow(); err != nil {
				t.Fatal(err)
			}
			if st, err := m.store.Statement(sum("one")); err != nil || st == nil || !st.Created.Equal(day(c.want)) {
				t.Errorf("%+v, %v; expected that of day %d", st, err, c.want)
			}
		})
	}
}

// A signed text that is not a statement is rejected even if signatures are not checked.
func TestSignedTextThatIsNotAStatementIsRejected(t *testing.T) {
	m := newMaster(t)
	m.shelf.signed = &origin.Signed{Text: []byte("no JSON")}
	var r *Refusal
	if _, err := m.release("one"); !errors.As(err, &r) || !strings.Contains(err.Error(),
		"is not a valid origin statement") {
		t.Error(err)
	}
}

// If root changes the store of another user, that user also owns the links.
func TestLinksBelongToTheOwnerOfTheStore(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	store, err := OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := &Pull{Store: store, Name: "n", Source: &shelf{text: "one"}, MaxBytes: 100, Now: time.Now}
	if _, err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(filepath.Join(dir, "n.snap"))
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := ownerOf(info); ok && got != store.owner {
		t.Errorf("the link belongs to %+v, the store to %+v", got, store.owner)
	}
}

// If a server fails at any request of a pull, the reason is Network.
func TestServerFailureAtAnyRequestHasReasonNetwork(t *testing.T) {
	for n := 1; ; n++ {
		s := newWeb(t)
		s.pull.Checks.Origin = readsStatement
		s.put("", "one", time.Time{})
		s.sign("one", day(1))
		s.pullNow()
		s.answers("one")
		s.put("", "two", time.Time{})
		s.sign("two", day(2))
		asked := 0
		client := s.pull.Source.(*HTTP).Client
		client.Transport = failing{http.DefaultTransport, &asked, n}
		err := s.pullNow()
		if asked < n {
			if err != nil {
				t.Error(err)
			}
			s.answers("two")
			break
		}
		if !errors.Is(err, io.ErrUnexpectedEOF) || ReasonOf(err) != Network {
			t.Errorf("request %d: %v (%s)", n, err, ReasonOf(err))
		}
		s.answers("one")
	}
}

// failing is a server that fails at one request.
type failing struct {
	http.RoundTripper
	asked *int
	at    int
}

func (f failing) RoundTrip(r *http.Request) (*http.Response, error) {
	if *f.asked++; *f.asked == f.at {
		return nil, io.ErrUnexpectedEOF
	}
	return f.RoundTripper.RoundTrip(r)
}

// A snapshot with a signature but without a statement is not signed.
func TestSignatureWithoutStatementIsRejected(t *testing.T) {
	s := newWeb(t)
	s.pull.Checks.Origin = readsStatement
	s.put("", "one", time.Time{})
	s.put(origin.SignatureSuffix, "signature", time.Time{})
	if err := s.pullNow(); ReasonOf(err) != Signature || !strings.HasSuffix(err.Error(), "it is not signed") {
		t.Errorf("%v (%s)", err, ReasonOf(err))
	}
}

// The counters include the bytes of a failed download.
func TestBytesOfFailedDownloadAreCounted(t *testing.T) {
	m := newMaster(t)
	m.shelf.breaks = io.ErrUnexpectedEOF
	if _, err := m.release("snapshot"); err == nil {
		t.Fatal("half a snapshot was taken")
	}
	if c := m.state().Counts; c.Bytes != uint64(len("snapshot")/2) || c.Downloads != 1 {
		t.Errorf("%+v", c)
	}
}

// Reset only considers the signing times of releases that were active.
func TestResetIgnoresRejectedReleases(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	m.pull.Checks.Gate = func(string, string) error { return &Refusal{"shut"} }
	if err := m.pullNow(); ReasonOf(err) != Gate {
		t.Fatal(err)
	}
	if newest, err := m.change().Reset(); err != nil || !newest.Equal(day(3)) {
		t.Errorf("%v, %v; expected the time of the last that answered", newest, err)
	}
}

func TestPersistedIsFalseWithoutActiveSnapshot(t *testing.T) {
	m := newMaster(t)
	m.shelf.fails = io.ErrUnexpectedEOF
	m.pullNow()
	if s := m.store.Status("production", m.now); s.Persisted || s.Active != "" || s.Age != -1 {
		t.Errorf("%+v", s)
	}
}

// If a source fails while the snapshot itself is read, the reason is Network.
func TestFailureWhileReadingSnapshotHasReasonNetwork(t *testing.T) {
	m := newMaster(t)
	m.shelf.text = "one"
	m.pull.Source = bodiless{m.shelf}
	if err := m.pullNow(); !errors.Is(err, io.ErrClosedPipe) || ReasonOf(err) != Network {
		t.Errorf("%v (%s)", err, ReasonOf(err))
	}
	if c := m.state().Counts; c.Bytes != 0 || c.Downloads != 1 || c.Polls["network"] != 1 {
		t.Errorf("%+v", c)
	}
}

type bodiless struct{ *shelf }

func (b bodiless) Look(ctx context.Context, validator string) (*Offer, error) {
	o, err := b.shelf.Look(ctx, validator)
	if err == nil {
		o.Body = func(context.Context) (io.ReadCloser, error) { return nil, io.ErrClosedPipe }
	}
	return o, err
}

// A statement without a valid digest is rejected.
func TestStatementWithoutDigestIsRejected(t *testing.T) {
	m := newMaster(t)
	m.pull.Checks.Origin = func(string, origin.Signed, [32]byte) (origin.Origin, error) {
		t.Error("the signature was checked")
		return origin.Origin{}, nil
	}
	m.shelf.silent = true
	for _, digest := range []string{strings.Repeat("x", 64), strings.Repeat("a", 62), "",
		strings.Repeat("a", 64) + `", "name": ["not a text"], "": "`} {
		m.shelf.signed = &origin.Signed{Text: []byte(`{"sha256": "` + digest + `"}`)}
		if _, err := m.release("one"); ReasonOf(err) != Signature {
			t.Errorf("'%s': %v (%s)", digest, err, ReasonOf(err))
		}
	}
}

// If an older version accepted a statement from the future for the active snapshot, later releases are still accepted.
func TestFutureStatementOfActiveSnapshotDoesNotBlockReleases(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	if err := m.store.writeSigned(m.store.Path(sum("three")), *signs(t, "three", "production", day(9))); err != nil {
		t.Fatal(err)
	}
	m.offer("three", 4)
	if err := m.pullNow(); err != nil {
		t.Fatal(err)
	}
	if newest := m.state().Newest; !newest.Equal(day(3)) {
		t.Errorf("releases have to be newer than %v", newest)
	}
}

func TestSweepRemovesOldFiles(t *testing.T) {
	m := newMaster(t)
	for _, name := range []string{"a", "b", "c"} {
		path := filepath.Join(m.store.incoming(), name)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, m.now, m.now)); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.store.sweep(m.now.Add(stale)); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(m.store.incoming()); err != nil || len(left) != 3 {
		t.Errorf("%d files are left of those that may be in use, %v", len(left), err)
	}
	if err := m.store.sweep(m.now.Add(stale + time.Second)); err != nil {
		t.Fatal(err)
	}
	m.clean()
}

// If another program never releases the lock, changes to the store fail after a minute.
func TestChangeFailsIfLockIsNeverReleased(t *testing.T) {
	m := newMaster(t)
	l := flock.New(m.store.lock())
	if got, err := l.TryLock(); !got || err != nil {
		t.Fatal(err)
	}
	defer l.Unlock()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		err := m.store.exclusively(func() error { t.Error("locked twice"); return nil })
		if err == nil || !strings.Contains(err.Error(), "another program has held "+m.store.lock()+" for 1m0s") {
			t.Error(err)
		}
		if took := time.Since(begun); took < lockWait || took > lockWait+time.Second {
			t.Errorf("after %v", took)
		}
	})
}

func TestDamagedStateErrorContainsCause(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	if err := os.WriteFile(m.store.stateOf("production"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	var syntax *json.SyntaxError
	if _, err := m.store.State("production"); !errors.As(err, &syntax) {
		t.Error(err)
	}
}

// A program that adds the active snapshot to the history reports a damaged statement of the snapshot.
func TestRepairReportsDamagedStatement(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	path := m.store.Path(sum("three")) + origin.StatementSuffix
	err := errors.Join(os.Remove(m.store.eventsOf("production")), os.WriteFile(path, []byte("{"), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.change().Resume(); err != nil {
		t.Fatal(err)
	}
	if h := m.history(); !strings.Contains(h[0].Note, "; its statement is damaged: "+path) {
		t.Errorf("%+v", h[0])
	}
}
