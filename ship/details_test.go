package ship

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"bindc/origin"
)

func TestNamesAreLimitedInLength(t *testing.T) {
	for n, fits := range map[int]bool{0: false, 1: true, maxName: true, maxName + 1: false} {
		if err := CheckName(strings.Repeat("n", n)); (err == nil) != fits {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// A state without a number and without any time is older than a name with an active snapshot. States written by older
// versions have times instead of numbers.
func TestLacksDetectsStateOlderThanHistory(t *testing.T) {
	at := Step{At: day(1)}
	for name, c := range map[string]struct {
		state  saved
		events []Event
		active Digest
		lacks  bool
	}{
		"empty, with an active snapshot":    {saved{}, nil, "a", true},
		"empty, without an active snapshot": {saved{}, nil, "", false},
		"polled":                            {saved{State: State{Checked: at}}, nil, "a", false},
		"activated":                         {saved{State: State{Activated: at}}, nil, "a", false},
		"adopting":                          {saved{Adopting: &adoption{}}, nil, "a", false},
		"with a number":                     {saved{Seq: 1}, nil, "a", false},
		"as new as the history":             {saved{Seq: 2}, []Event{{Seq: 1}, {Seq: 2}}, "a", false},
		"older than the history": {saved{Seq: 1, State: State{Checked: at}}, []Event{{Seq: 2}, {Seq: 1}}, "",
			true},
		"the history of an older version": {saved{State: State{Checked: at}}, []Event{{}}, "a", false},
	} {
		if got := c.state.lacks(c.events, c.active); got != c.lacks {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A rollback removes the tenures after the one that it goes back to. An activation of an earlier snapshot begins a new
// tenure.
func TestRollbackRemovesLaterTenures(t *testing.T) {
	for name, want := range map[string]string{"a b c": "a b c", "a b c -a": "a", "a b c -a d": "a d", "a b a": "a b a",
		"a b a -b d": "a b d", "a b -c d": "a b c d", "a b c -b -a d e": "a d e"} {
		var history []Event
		for text := range strings.FieldsSeq(name) {
			e := Event{Action: Activate, Result: resultOK, Digest: Digest(strings.TrimPrefix(text, "-"))}
			if strings.HasPrefix(text, "-") {
				e.Action = Rollback
			}
			history = append(history, e)
		}
		var got []string
		for _, tenure := range tenures(history) {
			got = append(got, string(tenure.digest))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, expected %s", name, got, want)
		}
	}
}

// Last-Modified is only a validator if it is at least two seconds old, because a file may change twice in a second.
func TestTimeOfRecentlyChangedFileIsNoValidator(t *testing.T) {
	const changed = "Mon, 04 May 2026 03:00:00 GMT"
	for date, want := range map[string]string{"Mon, 04 May 2026 03:00:01 GMT": tooNew, "": tooNew,
		"Mon, 04 May 2026 03:00:02 GMT": byTime + changed} {
		resp := &http.Response{Header: http.Header{"Last-Modified": {changed}, "Date": {date}}}
		if got := validatorOf(resp); got != want {
			t.Errorf("at %s: '%s', expected '%s'", date, got, want)
		}
	}
}

// The history records the signing time of the snapshot of a rollback.
func TestHistoryRecordsSigningTimeOfRollback(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	if _, err := m.change().Back(sum("one")); err != nil {
		t.Fatal(err)
	}
	if h := m.history(); !h[len(h)-1].Created.Equal(day(1)) {
		t.Errorf("the history ends with %+v", h[len(h)-1])
	}
}

// Other users can read a snapshot unless it contains sensitive values.
func TestOnlySensitiveSnapshotIsUnreadableForOthers(t *testing.T) {
	for sensitive, want := range map[bool]os.FileMode{true: 0o440, false: 0o444} {
		m := newMaster(t)
		m.pull.Checks.Inspect = func(string) (bool, error) { return sensitive, nil }
		m.mustRelease("one")
		if info, err := os.Stat(m.store.Path(sum("one"))); err != nil || info.Mode() != want {
			t.Errorf("sensitive %v: mode %v, %v", sensitive, info.Mode(), err)
		}
	}
}

// A snapshot that is not in the store is not checked, and no statement is stored for it.
func TestMissingSnapshotIsNotChecked(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	s := m.change()
	s.Checks.Inspect = func(string) (bool, error) { t.Error("it was checked"); return false, nil }
	if err := s.Activate(sum("nowhere")); !errors.Is(err, errGone) {
		t.Error(err)
	}
	for _, want := range []error{errGone, syscall.EIO} {
		err := m.store.locked("production", m.now, func(r *record) error {
			if want == syscall.EIO {
				m.failsAt("stat", string(sum("nowhere")), want)
			}
			err := r.adopt(sum("nowhere"), &origin.Signed{})
			if r.Adopting != nil {
				t.Errorf("adopting %+v", r.Adopting)
			}
			return err
		})
		if !errors.Is(err, want) {
			t.Errorf("%v, expected %v", err, want)
		}
	}
}

// hand does not change the owner of a file that already belongs to the owner of the store.
func TestFilesOfStoreOwnerKeepTheirOwner(t *testing.T) {
	m := newMaster(t)
	m.failsAt("chown", "", syscall.EPERM)
	m.mustRelease("one")
}

// A snapshot of exactly MaxBytes bytes is accepted.
func TestSnapshotOfMaximumSizeIsAccepted(t *testing.T) {
	for _, silent := range []bool{true, false} {
		m := newMaster(t)
		m.shelf.silent, m.pull.MaxBytes = silent, 3
		m.mustRelease("one")
		if _, err := m.release("four"); ReasonOf(err) != Content {
			t.Errorf("silent %v: %v", silent, err)
		}
	}
}

// createLock succeeds if another program creates the lock at the same moment. Any other failure is an error.
func TestCreateLockAcceptsLockCreatedByAnotherProgram(t *testing.T) {
	for _, fault := range []error{fs.ErrExist, syscall.EIO} {
		m := newMaster(t)
		if err := os.Remove(m.store.lock()); err != nil {
			t.Fatal(err)
		}
		m.failsAt("link", "", fault)
		if err := m.store.createLock(); (err == nil) != (fault == fs.ErrExist) {
			t.Errorf("%v: %v", fault, err)
		}
		m.clean()
	}
}

// The error of a rollback without a target lists only snapshots that were active.
func TestRollbackErrorOmitsRejectedSnapshots(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	back := func() {
		t.Helper()
		_, err := m.change().Back("")
		if err == nil || !strings.Contains(err.Error(), "it has no other snapshot of this name at all") {
			t.Error(err)
		}
	}
	back()
	m.pull.Checks.Gate = func(string, string) error { return &Refusal{"shut"} }
	if _, err := m.release("two"); ReasonOf(err) != Gate {
		t.Fatal(err)
	}
	back()
}

// A reader reads the state again if it is older than the history, because another program may have just replaced it.
func TestStateReplacedDuringReadIsReadAgain(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	path := m.store.stateOf("production")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m.mustRelease("two")
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, before, 0o644); err != nil {
		t.Fatal(err)
	}
	m.store.files.fault = func(op, file string) error {
		if op == "read" && file == m.store.eventsOf("production") {
			return os.WriteFile(path, after, 0o644)
		}
		return nil
	}
	if st := m.state(); st.Offered != sum("two") {
		t.Errorf("state %+v", st)
	}
}

// A pull fails if it cannot sync a directory, for a new snapshot and for one that replaces a damaged file.
func TestPullSyncsDirectoriesOfSnapshot(t *testing.T) {
	m := newMaster(t)
	for _, part := range []string{m.store.incoming(), m.store.entries()} {
		m.failsAt("syncdir", part, syscall.EIO)
		if _, err := m.release("one"); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", part, err)
		}
	}
	m.store.files.fault = nil
	m.mustRelease("one", "two")
	m.damage("one")
	m.failsAt("syncdir", m.store.entry(sum("one")), syscall.EIO)
	if _, err := m.release("one"); !errors.Is(err, syscall.EIO) {
		t.Errorf("a damaged file: %v", err)
	}
}

// A directory at the path of a snapshot is an error, and not a snapshot.
func TestDirectoryInPlaceOfSnapshotIsAnError(t *testing.T) {
	m := newMaster(t)
	if err := os.MkdirAll(m.store.Path(sum("one")), 0o755); err != nil {
		t.Fatal(err)
	}
	if exists, err := m.store.has(sum("one")); err == nil {
		t.Errorf("it is there: %v", exists)
	}
}

// The client that watches for stalls does not add a body to a request without one.
func TestRequestWithoutBodyStaysWithoutBody(t *testing.T) {
	for _, body := range []io.ReadCloser{nil, http.NoBody} {
		client := impatient{seen{t, body}, time.Minute}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Body = body
		client.RoundTrip(req)
	}
}

// seen checks the body of a request.
type seen struct {
	*testing.T
	body io.ReadCloser
}

func (s seen) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != s.body {
		s.Errorf("the body is %v, expected %v", r.Body, s.body)
	}
	return nil, io.ErrUnexpectedEOF
}

// The history records every resume, even if it changes nothing. It only omits repeated failures.
func TestHistoryRecordsRepeatedResumes(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	if err := errors.Join(m.change().Resume(), m.change().Resume()); err != nil {
		t.Fatal(err)
	}
	if h := m.history(); len(h) != 3 {
		t.Errorf("history %+v", h)
	}
}

// A pull with Hold runs no gate, so it stores a release that a gate has rejected.
func TestHoldStoresReleaseRejectedByGate(t *testing.T) {
	r := newRefusing(t, func(c *Checks, ask func() error) { c.Gate = func(string, string) error { return ask() } })
	r.poll(Gate, 1, 1)
	r.pull.Hold = true
	if result, err := r.pull.Run(t.Context()); err != nil || result.Digest != sum("new") || r.asked != 1 {
		t.Errorf("%+v, %v, %d checks", result, err, r.asked)
	}
	r.pull.Hold = false
	r.poll(Gate, 2, 1)
}

// The state of a name records the source even if the first release is rejected.
func TestStateRecordsSourceOfRejectedRelease(t *testing.T) {
	m := newMaster(t)
	m.pull.Checks.Gate = func(string, string) error { return &Refusal{"shut"} }
	if _, err := m.release("one"); ReasonOf(err) != Gate {
		t.Fatal(err)
	}
	if got := m.state().Source; got != "shelf" {
		t.Errorf("source '%s'", got)
	}
}

// If the source does not answer, the result does not report the pin of a pinned name.
func TestFailedPollDoesNotReportPin(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one", "two")
	if _, err := m.change().Back(""); err != nil {
		t.Fatal(err)
	}
	m.shelf.fails = io.ErrUnexpectedEOF
	if r, err := m.pull.Run(t.Context()); ReasonOf(err) != Network || r.Pinned {
		t.Errorf("%+v, %v", r, err)
	}
}

// adopt writes the statement at once. It does not leave that to the next program.
func TestAdoptWritesStatementAtOnce(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	later := signs(t, "two", "production", day(4))
	err := m.store.locked("production", m.now, func(r *record) error { return r.adopt(sum("two"), later) })
	if err != nil {
		t.Fatal(err)
	}
	if st, err := m.store.Statement(sum("two")); err != nil || !st.Created.Equal(day(4)) {
		t.Errorf("%+v, %v", st, err)
	}
}
