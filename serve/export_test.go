package serve

import (
	"fmt"
	"sync"
	"time"

	bindings "bindc/runtime"
)

// The limits, for tests.
const (
	MaxQuestion    = maxQuestion
	MaxSessions    = maxSessions
	MaxConnections = maxConnections
)

// SetFrameTime has clients be slow sooner.
func (s *Server) SetFrameTime(d time.Duration) { s.frameTime = d }

// SetUntilTried sets how long the error of opening a snapshot is kept.
func (s *Server) SetUntilTried(d time.Duration) { s.environments.until = d }

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

// Kept returns the number of environments that are kept.
func (s *Server) Kept() int {
	s.environments.mu.Lock()
	defer s.environments.mu.Unlock()
	return len(s.environments.open)
}

// AskEnded returns the error of a question whose session was ended by another goroutine.
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

// Answering is the snapshot at path that a server answers from.
func (s *Server) Answering(path string) *bindings.Snapshot {
	s.environments.mu.Lock()
	env := s.environments.open[path]
	s.environments.mu.Unlock()
	k, _ := env.known()
	return k.snapshot
}

// Open is how many listeners and connections the server has.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// Between has do run once between asking what a snapshot needs and opening a session in it.
func (s *Server) Between(do func()) { s.environments.between = sync.OnceFunc(do) }

// Drop closes what follows the snapshot at path, as if the file were gone.
func (s *Server) Drop(path string) {
	s.environments.mu.Lock()
	env := s.environments.open[path]
	s.environments.mu.Unlock()
	env.watcher.Close()
}

// Entries reads the numbers of entries; "" is an error.
func Entries(text string) string {
	from, to, err := parseEntries(text)
	if err != nil {
		return ""
	}
	return fmt.Sprint(from, to)
}

// Limits of what is sent ahead, for tests.
const (
	MaxAhead   = maxAhead
	MaxGuess   = maxGuess
	MaxHistory = maxHistory
)

// History is a history of nodes with numbers.
type History struct{ h history }

// NewHistory returns an empty history.
func NewHistory() *History { return &History{} }

// Put remembers what a node asked for.
func (h *History) Put(node int, keys []string) {
	h.h.put(kind{alike: uint64(node)}, []group{{keys: keys}})
}

// Get returns what a node asked for last.
func (h *History) Get(node int) []string {
	if groups := h.h.get(kind{alike: uint64(node)}); groups != nil {
		return groups[0].keys
	}
	return nil
}

// Bytes returns the estimated size.
func (h *History) Bytes() int { return h.h.bytes }

// Lists returns the number of different lists of keys.
func (h *History) Lists() int { return len(h.h.lists) }
