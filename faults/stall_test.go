//go:build linux

package faults

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A pull or push ends if the registry or web server stalls in the middle of a snapshot.
func TestStallEndsPullAndPush(t *testing.T) {
	t.Parallel() // it mostly waits
	site := filepath.Join(t.TempDir(), "site.snap")
	succeed(t, "bindc", "build", newSite(t, 1, 1000), "-o", site)
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			w.Header().Set("Location", r.URL.Path+"1")
			w.WriteHeader(http.StatusAccepted)
		case r.Method == http.MethodHead:
			w.WriteHeader(http.StatusNotFound)
		case r.Method == http.MethodGet:
			io.WriteString(w, "half")
			w.(http.Flusher).Flush()
			<-release
		default:
			<-release
		}
	}))
	defer s.Close()
	defer close(release)
	host := strings.TrimPrefix(s.URL, "http://")
	for what, args := range map[string][]string{
		"pull": {"bindsync", "pull", s.URL + "/site.snap", "--name", "n", "--store", filepath.Join(t.TempDir(), "store")},
		"push": {"bindc", "push", site, "oci://" + host + "/puppet/site:production"},
	} {
		begun := time.Now()
		r := run(t, args[0], append(args[1:], "--plain-http", "--stall-timeout", "300ms")...)
		if r.status != 2 || !strings.Contains(r.stderr, "no data was transferred for 300ms") {
			t.Errorf("%s: status %d: %s", what, r.status, r.stderr)
		}
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%s took %v", what, took)
		}
	}
}
