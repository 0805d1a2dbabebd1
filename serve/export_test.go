package serve

import (
	"fmt"
	"sync"
	"time"

	bindings "bindc/runtime"
)

// Limits, for tests.
const (
	MaxQuestion    = maxQuestion
	MaxSessions    = maxSessions
	MaxConnections = maxConnections
)

// SetFrameTime sets how long a frame may take.
func (s *Server) SetFrameTime(d time.Duration) { s.frameTime = d }

// SetRetryAfter sets how long the server remembers a failure to open a snapshot.
func (s *Server) SetRetryAfter(d time.Duration) { s.environments.retryAfter = d }

// Survey collects the data about a snapshot.
func Survey(snap *bindings.Snapshot) error {
	_, err := survey(snap)
	return err
}

// MaxValues is the maximum size of the values in an answer.
const MaxValues = maxAnswer - 1<<10

// Fits reports whether values of that many bytes fit into an answer.
func Fits(plain, rich, errors int) bool {
	w := valueWriter{plain: make([]byte, plain), rich: make([]byte, rich), errors: make([]byte, errors)}
	return w.fits() == nil
}

// Kept returns the number of environments that the server keeps.
func (s *Server) Kept() int {
	s.environments.mu.Lock()
	defer s.environments.mu.Unlock()
	return len(s.environments.open)
}

// AskEnded asks a question in a session that another goroutine has ended, and returns the error. open lists the
// questions that open the session.
func (s *Server) AskEnded(open []string, question string) string {
	c := newConn(s, nil, nil, 1)
	defer c.endAll()
	for _, q := range open {
		if err := c.reply([]byte(q)); err != nil {
			return err.Error()
		}
	}
	for _, session := range c.sessions {
		session.lease.Close()
	}
	f, ok := c.reply([]byte(question)).(*failure)
	if !ok {
		return "none"
	}
	return string(f.code) + ": " + f.message
}

// Answering returns the snapshot that the server uses for path.
func (s *Server) Answering(path string) *bindings.Snapshot {
	s.environments.mu.Lock()
	env := s.environments.open[path]
	s.environments.mu.Unlock()
	k, _ := env.currentInfo()
	return k.snapshot
}

// Open returns the number of listeners and connections of the server.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.closers)
}

// BeforeSession makes the server run do once, before it opens a session in a snapshot whose needs it has read.
func (s *Server) BeforeSession(do func()) { s.environments.beforeSession = sync.OnceFunc(do) }

// Drop makes the server stop following the snapshot at path, as if the file were gone.
func (s *Server) Drop(path string) {
	s.environments.mu.Lock()
	env := s.environments.open[path]
	s.environments.mu.Unlock()
	env.watcher.Close()
}

// Entries parses a range of entries; it returns "" for an error.
func Entries(text string) string {
	from, to, err := parseEntries(text)
	if err != nil {
		return ""
	}
	return fmt.Sprint(from, to)
}

// Limits of answers that are sent ahead, for tests.
const (
	MaxAhead   = maxAhead
	MaxGuess   = maxGuess
	MaxHistory = maxHistory
)

// History is a history for tests, in which nodes have numbers.
type History struct{ h history }

// NewHistory returns an empty history.
func NewHistory() *History { return &History{} }

// Put records the keys that a node asked for.
func (h *History) Put(node int, keys []string) {
	h.h.put(sessionKind{alike: uint64(node)}, []group{{keys: keys}})
}

// Get returns the keys that a node asked for last.
func (h *History) Get(node int) []string {
	if groups := h.h.get(sessionKind{alike: uint64(node)}); groups != nil {
		return groups[0].keys
	}
	return nil
}

// Bytes returns the estimated size of the history in bytes.
func (h *History) Bytes() int { return h.h.bytes }

// Lists returns the number of different lists of keys.
func (h *History) Lists() int { return len(h.h.lists) }
