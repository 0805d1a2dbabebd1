package ship

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// The error for a full disk says how to free space, even if nothing can be recorded.
func TestErrorForFullDiskDuringDownloadNamesFix(t *testing.T) {
	m := newMaster(t)
	m.shelf.text = "one"
	m.store.files.fault = func(op, path string) error {
		if op == "write" && strings.HasPrefix(path, m.store.incoming()) && filepath.Base(path) == snapshotFile {
			return syscall.ENOSPC
		}
		return nil
	}
	err := m.pullNow()
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "'bindsync gc' removes") {
		t.Error(err)
	}
	if said := m.state().Checked.Error; !strings.Contains(said, "'bindsync gc' removes") {
		t.Errorf("the state says %q", said)
	}
	if c := m.state().Counts; c.Downloads != 1 || c.Bytes != 1 { // the disk of the test accepts half of a write
		t.Errorf("%+v", c)
	}
	m.answers("")

	// The error contains the fix only once, although several writes fail.
	m.store.files.fault = func(op, _ string) error {
		if op == "write" {
			return syscall.ENOSPC
		}
		return nil
	}
	if err := m.pullNow(); err == nil || strings.Count(err.Error(), "'bindsync gc' removes") != 1 {
		t.Error(err)
	}
}

// If two programs add statements of the same snapshot at once, the later statement stays, although the program with the
// earlier one finishes last.
func TestLaterStatementWins(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	path, later := m.store.Path(sum("one")), signs(t, "one", "production", day(9))
	m.pull.Now = func() time.Time { // the other program runs between the first check and the lock
		if err := m.store.writeSigned(path, *later); err != nil {
			t.Error(err)
		}
		return m.now
	}
	if err := m.pull.adopt(sum("one"), signs(t, "one", "production", day(5))); err != nil {
		t.Error(err)
	}
	if st, err := m.store.Statement(sum("one")); err != nil || !st.Created.Equal(day(9)) {
		t.Errorf("%+v, %v; expected that of day 9", st, err)
	}
}

// Run returns only after all goroutines have ended.
func TestRunWaitsForAllGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := false
		f := Follow{Interval: time.Minute, MaxDelay: time.Hour, Timeout: time.Minute, Collect: func() {
			<-ctx.Done()
			time.Sleep(time.Second)
			ended = true
		}}
		done := make(chan struct{})
		go func() { f.Run(ctx); close(done) }()
		synctest.Wait()
		cancel()
		if <-done; !ended {
			t.Error("garbage is still collected")
		}
		time.Sleep(time.Minute)
	})
}

// If a stall makes a connection fail, the error reports the stall.
func TestStalledConnectionReportsStall(t *testing.T) {
	client := impatient{hung{}, 10 * time.Millisecond}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.RoundTrip(req)
	if err == nil || !strings.Contains(err.Error(), "no data was transferred for 10ms") {
		t.Error(err)
	}
}

type hung struct{}

func (hung) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, errors.New("use of closed network connection")
}

// The repair of a damaged state mentions no snapshot if the name has no active one.
func TestRepairOfNameWithoutSnapshotMentionsNone(t *testing.T) {
	m := newMaster(t)
	m.shelf.fails = errors.New("connection refused")
	if err := m.pullNow(); ReasonOf(err) != Network {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.store.stateOf("production"), []byte("{]"), 0o644); err != nil {
		t.Fatal(err)
	}
	told := m.notices()
	if err := m.pullNow(); ReasonOf(err) != Network {
		t.Fatal(err)
	}
	all := m.history()
	if len(all) != 1 || all[0].Action != Repair || all[0].Digest != "" || strings.Contains(all[0].Note, "statement") {
		t.Errorf("history %+v", all)
	}
	if len(*told) != 1 || !strings.HasSuffix((*told)[0], "it was rebuilt from the history") {
		t.Errorf("told %q", *told)
	}
	m.shelf.fails = nil
	m.mustRelease("one")
}

// The history records the signing time of an older snapshot whose activation was rejected.
func TestHistoryRecordsSigningTimeOfRejectedOlderSnapshot(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	if err := m.change().Activate(sum("one")); ReasonOf(err) != Signature {
		t.Errorf("%v (%s)", err, ReasonOf(err))
	}
	if h := m.history(); h[len(h)-1].Result == resultOK || !h[len(h)-1].Created.Equal(day(1)) {
		t.Errorf("the history ends with %+v", h[len(h)-1])
	}
	if err := timely(time.Time{}, day(3), day(4), "n"); err != nil {
		t.Errorf("a snapshot without a time: %v", err)
	}
}

// The history records the signing time of a snapshot whose activation was rejected.
func TestHistoryRecordsSigningTimeOfRejectedActivation(t *testing.T) {
	for name, refuse := range map[string]func(c *Checks, err error){
		"content": func(c *Checks, err error) { c.Inspect = func(string) (bool, error) { return false, err } },
		"gate":    func(c *Checks, err error) { c.Gate = func(string, string) error { return err } },
	} {
		m := newSignedMaster(t, signedStore(t))
		m.pull.Hold = true
		if err := m.pullNow(); err != nil {
			t.Fatal(err)
		}
		s := m.change()
		no := errors.New("no")
		if refuse(&s.Checks, no); !errors.Is(s.Activate(sum("four")), no) {
			t.Errorf("%s: it was activated", name)
		}
		all := m.history()
		last := all[len(all)-1]
		if last.Digest != sum("four") || last.Result == resultOK || !last.Created.Equal(day(4)) {
			t.Errorf("%s: the history ends with %+v", name, last)
		}
		m.answers("three")
	}
}
