package ship

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bindc/origin"
)

// webSource serves a directory over TLS, with ETags.
func webSource(t *testing.T, dir string) (*HTTP, *[]string) {
	t.Helper()
	var log []string
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := os.ReadFile(filepath.Join(dir, r.URL.Path))
		if err == nil {
			w.Header().Set("ETag", `"`+sum(string(text)).Short()+`"`)
		}
		http.ServeFile(w, r, filepath.Join(dir, r.URL.Path))
		log = append(log, r.URL.Path+" "+r.Header.Get("If-None-Match"))
	}))
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL + "/site.snap")
	if err != nil {
		t.Fatal(err)
	}
	return &HTTP{URL: u, Client: s.Client()}, &log
}

func TestWebServerOffersOnlyNewSnapshots(t *testing.T) {
	m := newMaster(t)
	dir := t.TempDir()
	web, log := webSource(t, dir)
	m.pull.Source = web
	put := func(suffix, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "site.snap"+suffix), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pull := func() error {
		_, err := m.pull.Run(t.Context())
		return err
	}
	if err := pull(); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("nothing is there: %v", err)
	}
	put("", "one")
	if err := pull(); err != nil {
		t.Fatal(err)
	}
	m.answers("one")
	*log = nil
	if err := pull(); err != nil || len(*log) != 1 || (*log)[0] != `/site.snap "`+sum("one").Short()+`"` {
		t.Errorf("a poll with a known validator: %v, asked %q", err, *log)
	}
	m.pull.Checks.Origin = readsStatement
	s := signs(t, "two", "production", m.now)
	put("", "two")
	if err := pull(); err == nil {
		t.Error("an unsigned snapshot became active")
	}
	put(origin.StatementSuffix, string(s.Text))
	put(origin.SignatureSuffix, string(s.Signature))
	if err := pull(); err != nil {
		t.Error(err)
	}
	m.answers("two")
	put("", "three")
	put(origin.SignatureSuffix, strings.Repeat("x", maxSidecar+1))
	var r *Refusal
	if err := pull(); !errors.As(err, &r) || !strings.Contains(err.Error(), "expected at most 65536 bytes") {
		t.Errorf("a signature without end: %v", err)
	}
}

// A server error for the signature fails the poll. The snapshot does not count as unsigned.
func TestUnreadableSignatureIsAnError(t *testing.T) {
	m := newMaster(t)
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/site.snap" {
			http.Error(w, "down", http.StatusBadGateway)
		}
	}))
	defer s.Close()
	u, err := url.Parse(s.URL + "/site.snap")
	if err != nil {
		t.Fatal(err)
	}
	m.pull.Source = &HTTP{URL: u, Client: s.Client()}
	if _, err := m.pull.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "502") {
		t.Errorf("%v", err)
	}
	m.answers("")
}

func TestFileOffersOnlyNewSnapshots(t *testing.T) {
	m := newMaster(t)
	path := filepath.Join(t.TempDir(), "site.snap")
	m.pull.Source = File{path}
	pull := func() Result {
		t.Helper()
		r, err := m.pull.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if _, err := m.pull.Run(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing is there: %v", err)
	}
	put := func(text string) {
		t.Helper()
		err := errors.Join(os.WriteFile(path+".new", []byte(text), 0o644), os.Rename(path+".new", path))
		if err != nil {
			t.Fatal(err)
		}
	}
	put("one")
	pull()
	m.answers("one")
	if r := pull(); r != (Result{}) {
		t.Errorf("nothing new: %+v", r)
	}
	put("two")
	pull()
	m.answers("two")
	m.pull.Source = File{filepath.Dir(path)}
	if _, err := m.pull.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory: %v", err)
	}
}
