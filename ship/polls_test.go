package ship

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"bindc/origin"
)

// web is a file server. Tests choose which headers it sends.
type web struct {
	*master
	etags, times, deaf bool                 // whether it sends ETags, sends times, and ignores conditions in requests
	files              map[string]string    // content of site.snap and its companions, by suffix
	changed            map[string]time.Time // when each file changed, by suffix
	asked              []string             // requests with their status, since the last read
}

func newWeb(t *testing.T) *web {
	w := &web{master: newMaster(t), files: map[string]string{}, changed: map[string]time.Time{}}
	w.pull.Now = time.Now
	s := httptest.NewServer(w)
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL + "/site.snap")
	if err != nil {
		t.Fatal(err)
	}
	w.pull.Source = &HTTP{URL: u, Client: s.Client()}
	return w
}

func (s *web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	suffix := strings.TrimPrefix(r.URL.Path, "/site.snap")
	text, ok := s.files[suffix]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if s.etags {
		w.Header().Set("ETag", `"`+sum(text).Short()+`"`)
	}
	if s.deaf {
		r.Header = http.Header{}
	}
	var at time.Time
	if s.times {
		at = s.changed[suffix]
	}
	seen := &statusOf{ResponseWriter: w}
	http.ServeContent(seen, r, "", at, bytes.NewReader([]byte(text)))
	s.asked = append(s.asked, "site.snap"+suffix+" "+http.StatusText(seen.status))
}

type statusOf struct {
	http.ResponseWriter
	status int
}

func (s *statusOf) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

func (s *web) put(suffix, text string, at time.Time) { s.files[suffix], s.changed[suffix] = text, at }

// sign writes the statement and signature of a snapshot.
func (s *web) sign(text string, created time.Time) {
	signed := signs(s.T, text, "production", created)
	s.put(origin.StatementSuffix, string(signed.Text), created)
	s.put(origin.SignatureSuffix, string(signed.Signature), created)
}

// polls pulls once and checks which requests the server got, and with which status it answered.
func (s *web) polls(want ...string) {
	s.Helper()
	s.asked = nil
	if err := s.pullNow(); err != nil {
		s.Error(err)
	}
	if !slices.Equal(s.asked, want) {
		s.Errorf("asked %q, expected %q", s.asked, want)
	}
}

func TestServerWithoutETagIsPolledByTime(t *testing.T) {
	s := newWeb(t)
	s.times = true
	notices := s.notices()
	s.put("", "one", time.Now().Add(-time.Hour))
	s.polls("site.snap OK")
	s.polls("site.snap Not Modified")
	s.answers("one")
	s.put("", "two", time.Now().Add(-time.Minute))
	s.polls("site.snap OK")
	s.polls("site.snap Not Modified")
	s.answers("two")
	if note := s.state().Note; !strings.Contains(note, "has no ETag: polls use Last-Modified") {
		t.Errorf("note '%s'", note)
	}
	if len(*notices) != 1 || !strings.HasPrefix((*notices)[0], "production: http://") {
		t.Errorf("notices %q, expected one", *notices)
	}
	s.etags = true
	s.put("", "three", time.Now().Add(-time.Second))
	s.polls("site.snap OK")
	if note := s.state().Note; note != "" {
		t.Errorf("with ETags: note '%s'", note)
	}
	if len(*notices) != 1 {
		t.Errorf("notices %q, although polls are efficient now", *notices)
	}
}

// A server sends ETags, then stops, and later sends the first snapshot again with its old ETag. That snapshot
// becomes active again.
func TestOldETagAfterPauseIsANewRelease(t *testing.T) {
	s := newWeb(t)
	for _, step := range []struct {
		etags bool
		text  string
	}{{true, "one"}, {false, "two"}, {true, "one"}} {
		s.etags = step.etags
		s.put("", step.text, time.Time{})
		s.polls("site.snap OK")
		s.answers(step.text)
	}
}

// The response for an unchanged file may have neither an ETag nor a time. A pull closes each response, whatever its
// status.
func TestResponseWithoutHeadersIsAcceptedAndClosed(t *testing.T) {
	s := newWeb(t)
	status := http.StatusOK
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/site.snap" {
			http.NotFound(w, r)
			return
		}
		if status == http.StatusOK {
			w.Header().Set("ETag", `"1"`)
		}
		w.WriteHeader(status)
		if status != http.StatusNotModified {
			w.Write([]byte("one"))
		}
	}))
	defer bare.Close()
	source := s.pull.Source.(*HTTP)
	host, err := url.Parse(bare.URL)
	if err != nil {
		t.Fatal(err)
	}
	source.URL.Host = host.Host
	bodies := &openBodies{RoundTripper: http.DefaultTransport}
	source.Client = &http.Client{Transport: bodies}
	for _, status = range []int{200, 304, 200, 503} {
		if err := s.pullNow(); (err == nil) != (status < 500) {
			t.Errorf("status %d: %v", status, err)
		}
		if n := bodies.now.Load(); n != 0 {
			t.Errorf("status %d: %d answers were not closed", status, n)
		}
		s.answers("one")
	}
}

// A pull ignores a statement without a signature.
func TestStatementWithoutSignatureIsIgnored(t *testing.T) {
	s := newWeb(t)
	s.put("", "one", time.Time{})
	s.sign("one", day(1))
	delete(s.files, origin.SignatureSuffix)
	s.polls("site.snap OK")
	if st, err := s.store.Statement(sum("one")); st != nil || err != nil {
		t.Errorf("the store has %+v, %v", st, err)
	}
}

// Last-Modified counts in seconds. A poll still sees the second change of a file within a second.
func TestSecondChangeWithinASecondIsSeen(t *testing.T) {
	s := newWeb(t)
	s.times = true
	at := time.Now()
	for _, text := range []string{"one", "two", "three"} {
		s.put("", text, at)
		s.polls("site.snap OK")
		s.answers(text)
	}
	s.changed[""] = at.Add(-time.Minute)
	s.polls("site.snap OK")
	s.polls("site.snap Not Modified")
}

func TestServerWithoutValidatorsIsPolledByStatement(t *testing.T) {
	s := newWeb(t)
	s.pull.Checks.Origin = readsStatement
	s.put("", "one", time.Time{})
	s.sign("one", day(1))
	s.polls("site.snap OK", "site.snap.sig OK", "site.snap.meta.json OK")
	s.polls("site.snap.meta.json OK")
	s.put("", "two", time.Time{})
	s.sign("two", day(2))
	s.polls("site.snap.meta.json OK", "site.snap OK", "site.snap.sig OK", "site.snap.meta.json OK")
	s.answers("two")
	if note := s.state().Note; !strings.HasSuffix(note,
		"has neither ETag nor Last-Modified; polls use the signed statement") {
		t.Errorf("note '%s'", note)
	}
}

func TestServerWithoutValidatorsOrStatementIsPolledInFull(t *testing.T) {
	s := newWeb(t)
	for _, text := range []string{"one", "one", "two"} {
		s.put("", text, time.Time{})
		if err := s.pullNow(); err != nil {
			t.Fatal(err)
		}
		s.answers(text)
	}
	if note := s.state().Note; !strings.Contains(note, "; every poll downloads the whole snapshot: use a server that") {
		t.Errorf("note '%s'", note)
	}
}

// If a server sends ETags but does not compare them, the client compares them.
func TestClientComparesETagsIfServerDoesNot(t *testing.T) {
	s := newWeb(t)
	s.etags, s.deaf = true, true
	s.put("", "one", time.Time{})
	s.polls("site.snap OK")
	downloads := s.state().Counts.Downloads
	s.polls("site.snap OK")
	if n := s.state().Counts.Downloads; n != downloads {
		t.Errorf("%d downloads, expected %d", n, downloads)
	}
	s.put("", "two", time.Time{})
	s.polls("site.snap OK")
	s.answers("two")
}

// The snapshot changes before or after its statement and signature, and polls follow each change. In the end, the new
// snapshot is active, with and without ETags and times.
func TestSnapshotMayChangeBeforeOrAfterItsSignature(t *testing.T) {
	for _, kind := range []struct{ etags, times, deaf bool }{{}, {etags: true}, {times: true}, {true, true, false},
		{true, false, true}} {
		for _, snapshotFirst := range []bool{true, false} {
			s := newWeb(t)
			s.etags, s.times, s.deaf = kind.etags, kind.times, kind.deaf
			s.pull.Checks.Origin = readsStatement
			s.put("", "one", day(1))
			s.sign("one", day(1))
			s.pullNow()
			s.pullNow()
			s.answers("one")
			steps := []func(){func() { s.put("", "two", day(2)) }, func() { s.sign("two", day(2)) }}
			if !snapshotFirst {
				slices.Reverse(steps)
			}
			for _, step := range steps {
				step()
				s.pullNow()
				s.pullNow()
			}
			if d, err := s.store.Active("production"); d != sum("two") || err != nil {
				t.Errorf("%+v, the snapshot first %v: %s answers, %v; state %+v", kind, snapshotFirst, d.Short(), err,
					s.state())
			}
		}
	}
}
