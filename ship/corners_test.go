package ship

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestDigestsHave64Digits(t *testing.T) {
	for n, fits := range map[int]bool{0: false, 63: false, 64: true, 65: false} {
		if _, err := ParseDigest(strings.Repeat("a", n)); (err == nil) != fits {
			t.Errorf("%d digits: %v", n, err)
		}
	}
	for _, odd := range []string{"g", "A", "/"} {
		if _, err := ParseDigest(strings.Repeat("a", 31) + odd + strings.Repeat("a", 32)); err == nil {
			t.Errorf("%s is not a hex digit", odd)
		}
	}
}

// The next pull activates a release that was only stored, although the source has nothing new. The release may be older
// than an earlier active one.
func TestNextPullActivatesStoredRelease(t *testing.T) {
	m := newMaster(t)
	m.pull.Hold = true
	if _, err := m.release("one"); err != nil {
		t.Fatal(err)
	}
	m.pull.Hold = false
	if err := m.pullNow(); err != nil {
		t.Fatal(err)
	}
	m.answers("one")
	m = newSignedMaster(t, signedStore(t))
	m.shelf.signed = signs(t, "four", "production", day(2))
	m.pull.Hold = true
	if err := m.pullNow(); err != nil {
		t.Errorf("an older one is not stored: %v", err)
	}
}

// A pull ignores an older statement of the active snapshot.
func TestOlderStatementOfActiveSnapshotIsIgnored(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	m.shelf.text, m.shelf.signed = "three", signs(t, "three", "production", day(2))
	if err := m.pullNow(); err != nil {
		t.Error(err)
	}
	m.answers("three")
}

// If a program died while it stored a statement, and the snapshot was removed since, the next program drops the
// statement.
func TestPendingStatementOfRemovedSnapshotIsDropped(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	err := m.store.locked("production", day(4), func(r *record) error {
		r.Adopting = &adoption{sum("nowhere"), []byte("{}"), nil}
		return r.save()
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.store.locked("production", day(4), func(r *record) error {
		if r.Adopting != nil {
			t.Errorf("adopting %+v", r.Adopting)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func TestRedirectsWithoutTLSOrInALoopAreRejected(t *testing.T) {
	to := func(url string) *http.Request {
		r, err := http.NewRequest(http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	via := []*http.Request{to("https://a/")}
	if err := follows(to("https://b/"), via); err != nil {
		t.Error(err)
	}
	if err := follows(to("http://b/"), via); err == nil || !strings.Contains(err.Error(), "which does not use TLS") {
		t.Error(err)
	}
	if err := follows(to("http://b/"), []*http.Request{to("http://a/")}); err != nil {
		t.Error(err)
	}
	for len(via) < 9 {
		via = append(via, via[0])
	}
	if err := follows(to("https://b/"), via); err != nil {
		t.Errorf("nine: %v", err)
	}
	if err := follows(to("https://b/"), append(via, via[0])); err == nil {
		t.Error("ten redirections were followed")
	}
}

func TestFullDiskErrorNamesGC(t *testing.T) {
	for _, full := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EIO} {
		m := newMaster(t)
		m.shelf.text = "one"
		m.store.files.fault = func(op, _ string) error {
			if op == "write" {
				return full
			}
			return nil
		}
		err := m.pullNow()
		if !errors.Is(err, full) || strings.Contains(err.Error(), "'bindsync gc' removes") != (full != syscall.EIO) {
			t.Errorf("%v: %v", full, err)
		}
	}
}

// If a source fails when a pull closes it to wait for its turn, the reason is Network.
func TestErrorOnClosingSourceHasReasonNetwork(t *testing.T) {
	m := newMaster(t)
	m.shelf.text = "one"
	m.pull.Turns = make(chan struct{}, 1)
	m.pull.Turns <- struct{}{}
	m.pull.Source = clinging{m.shelf}
	if err := m.pullNow(); !errors.Is(err, io.ErrClosedPipe) || ReasonOf(err) != Network {
		t.Errorf("%v (%s)", err, ReasonOf(err))
	}
}

type clinging struct{ *shelf }

func (c clinging) Look(ctx context.Context, validator string) (*Offer, error) {
	o, err := c.shelf.Look(ctx, validator)
	if err == nil {
		o.Close = func() error { return io.ErrClosedPipe }
	}
	return o, err
}

func TestFileSystemErrorsAreReported(t *testing.T) {
	dir := t.TempDir()
	none, f := filepath.Join(dir, "a"), files{}
	for name, err := range map[string]error{"rename": f.rename(none, filepath.Join(dir, "b")),
		"remove": f.removeAll(dir + "/."), "chmod": f.chmod(none, 0o600),
		"mkdir": f.mkdir(filepath.Join(none, "b"), 0o700), "link": f.link(none, dir),
		"symlink": f.symlink(none, dir), "syncdir": f.syncDir(none)} {
		if err == nil {
			t.Errorf("%s did not fail", name)
		}
	}
	_, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := (&newFile{File: out}).finish(); err == nil {
		t.Error("a pipe was synced")
	}
}

// A replaced file is a new release even if it has the same size and time.
func TestFileReplacedAtTheSameTimeIsNew(t *testing.T) {
	m := newMaster(t)
	path := filepath.Join(t.TempDir(), "site.snap")
	m.pull.Source = File{path}
	for _, text := range []string{"one", "two"} {
		err := errors.Join(os.WriteFile(path+".new", []byte(text), 0o644), os.Chtimes(path+".new", m.now, m.now),
			os.Rename(path+".new", path), m.pullNow())
		if err != nil {
			t.Fatal(err)
		}
		m.answers(text)
	}
}

// The end of a response is not an error, even if the stall timeout passes at that moment.
func TestEndOfResponseIsNotAStall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := &progress{ctx: ctx}
	if err := p.cause(io.EOF); err != io.EOF {
		t.Error(err)
	}
	if err := p.cause(io.ErrUnexpectedEOF); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestAnnouncedSizeOfZeroIsALimit(t *testing.T) {
	m := newMaster(t)
	sent := 0
	m.shelf.text = "one"
	m.pull.Source = silent{lying{m.shelf, &sent}}
	if err := m.pullNow(); err == nil || err.Error() != "the source announced 0 bytes but sends more" {
		t.Error(err)
	}
}

// silent is a source that announces a size of 0.
type silent struct{ lying }

func (s silent) Look(ctx context.Context, validator string) (*Offer, error) {
	o, err := s.lying.Look(ctx, validator)
	if err == nil {
		o.Size = 0
	}
	return o, err
}

// A line of the history that is JSON, but not an event, is reported as damaged.
func TestReportsHistoryLineThatIsNotAnEvent(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	path := m.store.eventsOf("production")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(f, `{"time":"2026-05-04T03:00:00Z","action":5,"result":"ok"}`+"\n")
	f.Close()
	if all, lost, err := m.store.events("production"); len(all) != 1 || lost != 1 || err != nil {
		t.Errorf("%d events, %d damaged, %v", len(all), lost, err)
	}
}

// The history records the signing time of a rejected release.
func TestHistoryRecordsSigningTimeOfRejectedRelease(t *testing.T) {
	m := newSignedMaster(t, signedStore(t))
	m.pull.Hold = true
	if err := m.pullNow(); err != nil {
		t.Fatal(err)
	}
	s := m.change()
	s.Checks.Inspect = func(string) (bool, error) { return false, &Refusal{"bad"} }
	if err := s.Activate(sum("four")); ReasonOf(err) != Content {
		t.Errorf("%v (%s)", err, ReasonOf(err))
	}
	if h := m.history(); h[len(h)-1].Result != "bad" || !h[len(h)-1].Created.Equal(day(4)) {
		t.Errorf("%+v", h[len(h)-1])
	}
}

func TestClientTrustsCertificatesInFile(t *testing.T) {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	path := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"", path} {
		client, err := Client(file, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Get(s.URL)
		if (err == nil) != (file != "") {
			t.Errorf("with '%s': %v", file, err)
		}
		if err == nil {
			resp.Body.Close()
		}
		client.CloseIdleConnections()
	}
	if _, err := Client(filepath.Join(t.TempDir(), "none"), time.Minute); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("no PEM"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Client(path, time.Minute)
	if err == nil || !strings.Contains(err.Error(), "expected certificates in PEM") {
		t.Error(err)
	}
}

// If the source announces no digest and the downloaded snapshot is already in the store, Downloaded is false.
func TestStoredSnapshotIsNotReportedAsDownloaded(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one", "two")
	m.shelf.silent = true
	r, err := m.release("one")
	if err != nil || r.Downloaded || !r.Activated || r.Digest != sum("one") {
		t.Errorf("%+v, %v", r, err)
	}
}
