package ship

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bindc/origin"
)

// A rollback without a target fails, and the error lists the available snapshots, the latest first.
func TestRollbackWithoutATargetListsSnapshots(t *testing.T) {
	m := newMaster(t)
	m.shelf.revision = "v1"
	for _, text := range []string{"a", "b", "c", "d", "e", "f", "b", "g"} {
		m.shelf.text = text
		m.now = m.now.Add(time.Second)
		if err := m.pullNow(); err != nil {
			t.Fatal(err)
		}
		m.shelf.revision = ""
	}
	if err := os.RemoveAll(m.store.entry(sum("e"))); err != nil {
		t.Fatal(err)
	}
	_, err := m.change().Back("")
	item := func(text, rest string) string {
		return sum(text).Short() + " (" + rest + "active since 2026-05-04T03:00:0"
	}
	want := "the store has no earlier snapshot of 'production' that was active for more than a minute: name one with --to DIGEST: " +
		item("b", "") + "7Z), " + item("f", "") + "6Z), " + item("d", "") + "4Z), " + item("c", "") + "3Z), " +
		item("a", "revision v1, ") + "1Z)"
	if err == nil || err.Error() != want {
		t.Errorf("%v, expected %s", err, want)
	}
	for text := range strings.FieldsSeq("a b c d f") {
		if err := os.RemoveAll(m.store.entry(sum(text))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.change().Back(""); err == nil || !strings.HasSuffix(err.Error(), "'bindsync activate'") {
		t.Errorf("nothing is left: %v", err)
	}
}

// The error for a misspelled name lists the names in the store.
func TestErrorForMisspelledNameSuggestsNames(t *testing.T) {
	m := newMaster(t)
	const nothing = "the store has no active snapshot for 'prodution'; it"
	for _, c := range [][2]string{{"", nothing + " has no names yet"}, {"production", "did you mean 'production'?"}} {
		name, want := c[0], c[1]
		if name != "" {
			m.mustRelease("one")
		}
		s := m.change()
		s.Name = "prodution"
		_, back := s.Back("")
		for _, err := range []error{back, s.Resume(), m.store.Unknown("prodution")} {
			if err == nil || !strings.HasPrefix(err.Error(), nothing) || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("with '%s': %v", name, err)
			}
		}
		if name == "" {
			continue
		}
		if err := m.store.Unknown(name); err != nil {
			t.Error(err)
		}
		if err := m.store.Unknown("zzz"); err == nil || strings.Contains(err.Error(), "did you mean") {
			t.Errorf("no name is near: %v", err)
		}
	}
}

// The status contains the time of the activation, although the active snapshot was rejected again later. It also
// reports the damaged history.
func TestStatusReportsDamagedHistory(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one", "two")
	since := m.now
	s := m.change()
	s.Checks.Gate = func(string, string) error { return &Refusal{"shut"} }
	m.now = m.now.Add(time.Hour)
	if err := s.Activate(sum("two")); ReasonOf(err) != Gate && ReasonOf(err) != Content {
		t.Error(err)
	}
	if got := m.store.Status("production", m.now).Since; !got.Equal(since) {
		t.Errorf("since %v, expected %v", got, since)
	}
	for _, want := range []string{" is damaged (a line is not an event); ", " is damaged (2 lines are not events); "} {
		f, err := os.OpenFile(m.store.eventsOf("production"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f, "nonsense\n")
		f.Close()
		got := m.store.Status("production", m.now).Problem
		if !strings.Contains(got, m.store.eventsOf("production")+want) {
			t.Errorf("problem %s, expected %s", got, want)
		}
	}
	if err := WriteMetrics(unwritable{}, nil); err != io.ErrShortWrite {
		t.Error(err)
	}
}

type unwritable struct{}

func (unwritable) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// Each poll of a pinned name reports the pin. After the source of a name changes, the first poll sends no validator.
func TestEachPollReportsPin(t *testing.T) {
	m := newMaster(t)
	told := m.notices()
	m.mustRelease("one", "two")
	if st := m.state(); st.Offered != sum("two") || st.Source != "shelf" {
		t.Errorf("%+v", st)
	}
	if _, err := m.change().Back(""); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if r, err := m.pull.Run(t.Context()); err != nil || !r.Pinned || r.Activated {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if err := m.change().Activate(sum("two")); err != nil {
		t.Fatal(err)
	}
	if st := m.state(); st.Pinned || st.Validator != "" {
		t.Errorf("after activating the release of the source: %+v", st)
	}
	if err := m.pullNow(); err != nil || m.state().Validator == "" {
		t.Errorf("%v, %+v", err, m.state())
	}
	m.damage("two")
	err := m.pullNow()
	if err != nil || len(*told) != 1 || !strings.Contains((*told)[0], "replaced the active snapshot") {
		t.Errorf("%v, told %q", err, *told)
	}
	if st := m.state(); st.Damaged != "" {
		t.Errorf("damaged: %s", st.Damaged)
	}
	m.pull.Source = elsewhere{m.shelf}
	if r, err := m.pull.Run(t.Context()); err != nil || r.Digest != sum("two") || m.state().Source != "elsewhere" {
		t.Errorf("another source: %+v, %v", r, err)
	}
}

type elsewhere struct{ *shelf }

func (elsewhere) String() string { return "elsewhere" }

// Active rejects a link that does not lead to a snapshot. OpenStore rejects a store if every user may write to its
// directory state.
func TestRejectsTamperedStore(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	link := filepath.Join(m.dir, "odd.snap")
	if err := os.Symlink("store/sha256/site.snap", link); err != nil {
		t.Fatal(err)
	}
	if _, err := m.store.Active("odd"); err == nil || !strings.Contains(err.Error(), "found a link to") {
		t.Error(err)
	}
	if err := errors.Join(os.Remove(link), os.Remove(m.store.stateOf("production"))); err != nil {
		t.Fatal(err)
	}
	if names, err := m.store.Names(); err != nil || !slices.Equal(names, []string{"production"}) {
		t.Errorf("a name without a state: %q, %v", names, err)
	}
	err := errors.Join(os.RemoveAll(m.store.incoming()), os.Chmod(m.store.path("state"), 0o777))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(m.dir); err == nil || !strings.Contains(err.Error(), "state has mode 0777") {
		t.Error(err)
	}
	err = errors.Join(os.Chmod(m.store.path("state"), 0o700), os.Chmod(m.store.path("history"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	store, err := OpenStore(m.dir)
	if err != nil || store.mode.Perm() != m.store.mode.Perm() {
		t.Errorf("files follow a directory in the store: %v, %v", store.mode, err)
	}
}

// The path of a snapshot on a server may contain an escaped slash. The URLs of the statement and the signature keep it.
func TestSourceKeepsEscapedSlashInPath(t *testing.T) {
	m := newMaster(t)
	m.pull.Checks.Origin = readsStatement
	signed := signs(t, "one", "production", m.now)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch strings.TrimPrefix(r.URL.EscapedPath(), "/a%2Fb.snap") {
		case "":
			io.WriteString(w, "one")
		case origin.StatementSuffix:
			w.Write(signed.Text)
		case origin.SignatureSuffix:
			w.Write(bytes.Repeat([]byte("s"), maxSidecar))
		default:
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	u, err := url.Parse(s.URL + "/a%2Fb.snap")
	if err != nil {
		t.Fatal(err)
	}
	bodies := &openBodies{RoundTripper: http.DefaultTransport}
	m.pull.Source = &HTTP{u, &http.Client{Transport: bodies}}
	for range 3 {
		if err := m.pullNow(); err != nil {
			t.Fatal(err)
		}
	}
	m.answers("one")
	u.RawPath, u.Path = "", "/none"
	if err := m.pullNow(); err == nil || !strings.Contains(err.Error(), "404") {
		t.Error(err)
	}
	if n := bodies.now.Load(); n != 0 {
		t.Errorf("%d answers were not closed", n)
	}
}

// openBodies counts the bodies that were not closed.
type openBodies struct {
	http.RoundTripper
	now atomic.Int64
}

func (o *openBodies) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := o.RoundTripper.RoundTrip(r)
	if err == nil {
		o.now.Add(1)
		resp.Body = &openBody{resp.Body, o, false}
	}
	return resp, err
}

type openBody struct {
	io.ReadCloser
	of     *openBodies
	closed bool
}

func (o *openBody) Close() error {
	if !o.closed {
		o.closed = true
		o.of.now.Add(-1)
	}
	return o.ReadCloser.Close()
}

func TestUpToRejectsOverlongInput(t *testing.T) {
	for n, fits := range map[int]bool{4: true, 5: true, 6: false} {
		text, err := upTo(strings.NewReader(strings.Repeat("x", n)), 5, "it")
		if (err == nil) != fits || fits && len(text) != n {
			t.Errorf("%d bytes: %q, %v", n, text, err)
		}
	}
	failing := io.MultiReader(strings.NewReader("too much"), &broken{io.ErrNoProgress})
	if _, err := upTo(failing, 20, "it"); err != io.ErrNoProgress {
		t.Error(err)
	}
}

// The source File reads the statement next to the file.
func TestFileSourceReadsStatementNextToFile(t *testing.T) {
	m := newMaster(t)
	m.pull.Checks.Origin = readsStatement
	path := filepath.Join(t.TempDir(), "site.snap")
	signed := signs(t, "one", "production", m.now)
	for suffix, text := range map[string][]byte{"": []byte("one"), origin.StatementSuffix: signed.Text,
		origin.SignatureSuffix: signed.Signature} {
		if err := os.WriteFile(path+suffix, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m.pull.Source = File{path}
	if err := m.pullNow(); err != nil {
		t.Fatal(err)
	}
	if st, err := m.store.Statement(sum("one")); err != nil || st == nil || m.state().Source != "file:"+path {
		t.Errorf("%+v, %v, %+v", st, err, m.state())
	}
}

// A client releases the resources of a request when its body is closed, or when the request fails.
func TestClientReleasesRequests(t *testing.T) {
	var ctx context.Context
	client := impatient{asked{&ctx, nil}, time.Minute}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		t.Error("it ends before its answer is closed")
	}
	if err := resp.Body.Close(); err != io.ErrNoProgress || ctx.Err() == nil {
		t.Errorf("closed: %v, %v", err, ctx.Err())
	}
	client = impatient{asked{&ctx, io.ErrClosedPipe}, time.Minute}
	if _, err := client.RoundTrip(req); err != io.ErrClosedPipe || ctx.Err() == nil {
		t.Errorf("failed: %v, %v", err, ctx.Err())
	}
	p := &progress{ctx: t.Context()}
	if err := p.cause(io.ErrUnexpectedEOF); err != io.ErrUnexpectedEOF {
		t.Error(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := (&progress{ctx: ended}).cause(nil); err != nil {
		t.Errorf("bytes that came before the end: %v", err)
	}
}

// asked is a transport that records the context of a request.
type asked struct {
	ctx *context.Context
	err error
}

func (a asked) RoundTrip(r *http.Request) (*http.Response, error) {
	*a.ctx = r.Context()
	return &http.Response{Body: odd{}}, a.err
}

// odd is a body that cannot be closed.
type odd struct{}

func (odd) Read([]byte) (int, error) { return 0, io.EOF }
func (odd) Close() error             { return io.ErrNoProgress }

// The pause doubles each time a source does not answer, and is normal again once it answers. A finished poll releases
// its resources. A canceled poll is not reported.
func TestPauseDoublesWhileSourceDoesNotAnswer(t *testing.T) {
	m := newMaster(t)
	m.mustRelease("one")
	synctest.Test(t, func(t *testing.T) {
		m.pull.Now = time.Now
		const down = 8
		source := &flaky{shelf: m.shelf, down: down}
		m.pull.Source = source
		reports := 0
		f := &Follow{Pulls: []*Pull{m.pull}, Interval: 30 * time.Second, MaxDelay: 10 * time.Minute,
			Timeout: time.Minute, Report: func(*Pull, Result, error) { reports++ }}
		following(t, f, 6*time.Hour)
		if n := len(source.at); reports != n || n < down+60 {
			t.Fatalf("%d polls, %d reports", n, reports)
		}
		delay := 30 * time.Second
		for i := 1; i < len(source.at); i++ {
			delay = 30 * time.Second
			if i <= down {
				delay = min(delay<<i, 10*time.Minute)
			}
			if pause := source.at[i].Sub(source.at[i-1]); pause < delay/2 || pause > delay*3/2 {
				t.Errorf("pause %d: %v, expected about %v", i, pause, delay)
			}
			if source.ctx[i-1].Err() == nil {
				t.Errorf("poll %d is held", i-1)
			}
		}
		m.pull.Source = hanging{}
		reports = 0
		following(t, f, 50*time.Second)
		if reports != 0 {
			t.Errorf("%d reports of a poll that was ended", reports)
		}
	})
	least, most := time.Duration(2), time.Duration(-1)
	for range 200 {
		for _, pause := range []time.Duration{jittered(1), firstPause(1)} {
			least, most = min(least, pause), max(most, pause)
		}
	}
	if least != 0 || most != 1 {
		t.Errorf("pauses of %d to %d, expected 0 to 1", least, most)
	}
}

// flaky is a source that fails some polls and records the times of all polls.
type flaky struct {
	*shelf
	down int
	at   []time.Time
	ctx  []context.Context
}

func (f *flaky) Look(ctx context.Context, validator string) (*Offer, error) {
	f.at, f.ctx = append(f.at, time.Now()), append(f.ctx, ctx)
	if f.down--; f.down >= 0 {
		return nil, fs.ErrClosed
	}
	return f.shelf.Look(ctx, validator)
}
