// Package explore serves web pages about a snapshot and the facts of a fleet: the decision table of a key, the values
// of a node and their explanations, the changes between two snapshots, data files, and a search. Each page has a JSON
// twin, in the formats of docs/cli.md.
//
// A Data is one version of what the pages show. A Server serves the last few versions at /s/ID, where ID is a digest of
// everything that the pages depend on. Browsers may therefore cache a page forever once all of its numbers are known.
// /s/latest redirects to the newest version.
package explore

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// keptVersions is the number of versions that a Server keeps. Pages of older versions are gone.
const keptVersions = 4

// Server serves the pages. It is safe for concurrent use.
type Server struct {
	guard
	Live    bool // new versions may follow, so open pages should watch for them
	handler http.Handler

	mu       sync.Mutex
	versions []*Data   // oldest first
	since    time.Time // when the latest version was first shown
	failure  string    // diagnostics of the last build if it failed, or ""
	changed  chan struct{}
}

// New returns a server without data. Call Show to add a version.
func New(access Access) *Server {
	s := &Server{guard: guard{Access: access}, changed: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, "/s/latest/", http.StatusFound)
	})
	mux.HandleFunc("/events", s.events)
	for path, p := range pages {
		mux.HandleFunc("/s/{id}/"+path, func(w http.ResponseWriter, r *http.Request) { s.page(w, r, p) })
	}
	s.handler = s.protect(mux)
	return s
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Show makes d the latest version and starts counting its nodes in the background.
func (s *Server) Show(d *Data) {
	s.update(func() {
		s.failure = ""
		if n := len(s.versions); n == 0 || s.versions[n-1].ID != d.ID {
			s.since = time.Now()
		}
		for i, known := range s.versions {
			if known.ID == d.ID {
				s.versions = append(append(s.versions[:i:i], s.versions[i+1:]...), known)
				return
			}
		}
		d.Since = s.since
		s.versions = append(s.versions, d)
		if len(s.versions) > keptVersions {
			s.versions = s.versions[1:]
		}
		go d.count(func() { s.update(func() {}) })
	})
}

// Fail records that the site no longer builds. Pages keep showing the latest version, together with these diagnostics.
func (s *Server) Fail(diagnostics string) { s.update(func() { s.failure = diagnostics }) }

// update calls change with s locked and then notifies all open pages.
func (s *Server) update(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	close(s.changed)
	s.changed = make(chan struct{})
}

// state is a consistent copy of the Server's fields.
type state struct {
	latest  *Data
	since   time.Time     // when latest was first shown
	failure string        // diagnostics of the last build if it failed, or ""
	changed chan struct{} // closed by the next update
}

func (s *Server) state() state {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := state{since: s.since, failure: s.failure, changed: s.changed}
	if n := len(s.versions); n > 0 {
		out.latest = s.versions[n-1]
	}
	return out
}

// kept returns the versions that s still keeps, oldest first.
func (s *Server) kept() []*Data {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.versions)
}

// version returns the kept version with this ID, or nil.
func (s *Server) version(id string) *Data {
	for _, d := range s.kept() {
		if d.ID == id {
			return d
		}
	}
	return nil
}

// count computes everything that needs all nodes or all keys. It calls done whenever more pages become complete.
func (d *Data) count(done func()) {
	d.counting.Do(func() {
		d.census.take(d)
		done()
		d.tally.err = d.readWhole()
		if d.diff != nil {
			d.diff.take(d.old, d)
			done()
		}
		d.tally.take(d)
		done()
	})
}

func (d *Data) isCounted() bool {
	return isClosed(d.tally.ready)
}

// events streams the server's state to an open page, once per update, until the client disconnects.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	for {
		now := s.state()
		if now.latest == nil {
			return
		}
		event := map[string]any{"latest": now.latest.ID, "since": now.since, "counted": now.latest.isCounted(),
			"failed": now.failure != "", "live": s.Live}
		control.SetWriteDeadline(time.Now().Add(writeTimeout))
		if _, err := w.Write([]byte("data: " + string(marshal(event)) + "\n\n")); err != nil {
			return
		}
		if control.Flush() != nil {
			return
		}
		select {
		case <-now.changed:
		case <-time.After(keepAlive): // write again, to detect whether the client is gone
		case <-r.Context().Done():
			return
		}
	}
}

// Time limits of a connection. keepAlive is the longest pause between events.
const (
	headerTimeout = 5 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = 2 * time.Minute
	keepAlive     = 20 * time.Second
)

// HTTP returns an HTTP server for s that limits the time and header size of requests.
func (s *Server) HTTP() *http.Server {
	return &http.Server{Handler: s, ReadHeaderTimeout: headerTimeout, ReadTimeout: writeTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: 16 << 10}
}

// redirect redirects a request for /s/OLD/REST to /s/ID/REST, where ID is id.
func redirect(w http.ResponseWriter, r *http.Request, id string) {
	to := *r.URL
	rest := strings.TrimPrefix(strings.TrimPrefix(r.URL.EscapedPath(), "/s/"), r.PathValue("id"))
	w.Header().Set("Cache-Control", "no-store")
	target := "/s/" + id + rest
	if to.RawQuery != "" {
		target += "?" + to.RawQuery
	}
	http.Redirect(w, r, target, http.StatusFound)
}
