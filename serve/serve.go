// Package serve answers lookups over a stream of frames, for programs that are not written in Go. docs/serve.md
// specifies the protocol. Connections, sessions and environments are independent: an error in one does not affect the
// others.
package serve

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"

	bindings "bindc/runtime"
)

// Protocol is the version of the protocol that this package implements.
const Protocol = 1

// Limits, as documented in docs/serve.md.
const (
	maxQuestion    = 16 << 20 // bytes per question
	maxAnswer      = 64 << 20 // bytes per answer
	maxSessions    = 64       // sessions per connection
	maxConnections = 256      // connections per socket
	maxFrameTime   = 30 * time.Second
	retryAfter     = 10 * time.Second // time before a snapshot that failed to open is opened again
)

// Options configures a Server. Path is required.
type Options struct {
	Path     string                // path of a snapshot, or of a directory with one snapshot per environment
	Snapshot bindings.WatchOptions // options for each snapshot; Notify is ignored
	Version  string                // version of the program; sent to clients
	Idle     time.Duration         // idle time after which sessions and socket connections end; 0 means never
	Report   func(Event)           // called for each event, possibly concurrently; may be nil
}

// Event is an event to be logged.
type Event struct {
	What        string // one of the constants below
	Connection  int    // number of the connection, from 1; 0 if there is none
	Environment string
	Digest      string
	Err         error
}

// Values of Event.What.
const (
	Connected    = "connected"
	Disconnected = "disconnected" // Err is nil if the client closed the connection
	Opened       = "session opened"
	Switched     = "snapshot answers" // a snapshot is in use for the first time, or replaces another
	Refused      = "snapshot refused" // the snapshot is not used; a previous one stays in use
	Failed       = "question failed"
)

// Server answers questions of clients. Its methods may be called concurrently.
type Server struct {
	opts         Options
	environments environments
	history      history
	frameTime    time.Duration

	mu         sync.Mutex
	closed     bool
	lastNumber int
	closers    map[io.Closer]bool
	sessions   sync.WaitGroup // socket connections
	answering  sync.WaitGroup // questions in progress
}

// New returns a server. It does not open a snapshot until the first request.
func New(opts Options) *Server {
	if opts.Report == nil {
		opts.Report = func(Event) {}
	}
	s := &Server{opts: opts, closers: map[io.Closer]bool{}, frameTime: maxFrameTime}
	s.environments = environments{opts: &s.opts, open: map[string]*environment{}, retryAfter: retryAfter,
		beforeSession: func() {}}
	return s
}

// Serve answers connections that l accepts until Close is called. It closes l.
func (s *Server) Serve(l net.Listener) error {
	if _, ok := s.register(l); !ok {
		return net.ErrClosed
	}
	defer s.unregister(l)
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil { // usually temporary, such as too many open files
			s.opts.Report(Event{What: Failed, Err: err})
			time.Sleep(100 * time.Millisecond)
			continue
		}
		number, ok := s.register(c)
		if !ok {
			return nil
		}
		go func() {
			defer s.sessions.Done()
			defer s.unregister(c)
			s.connection(c, number)
		}()
	}
}

// connection answers the client of a socket connection. It closes the connection if the client is too slow.
func (s *Server) connection(nc net.Conn, number int) {
	s.opts.Report(Event{What: Connected, Connection: number})
	c := newConn(s, nc, nc, number)
	c.timer = time.AfterFunc(s.frameTime, func() {
		c.timedOut.Store(true)
		nc.Close()
	})
	defer c.timer.Stop()
	err := c.refuseIfFull()
	if err == nil {
		err = c.run()
	}
	if c.timedOut.Load() {
		err = errLate
	}
	s.opts.Report(Event{What: Disconnected, Connection: number, Err: err})
}

// Answer answers the questions of one client until in ends. It trusts the client, so it sets no time limits.
func (s *Server) Answer(in io.Reader, out io.Writer) error { return newConn(s, in, out, 0).run() }

// Close ends all connections and closes all snapshots. It waits for answers in progress, so clients of Answer must read
// them. After Close, the server does not answer.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	for c := range s.closers {
		c.Close()
	}
	s.mu.Unlock()
	s.sessions.Wait()
	s.answering.Wait()
	s.environments.close()
}

// beginAnswer reports whether the server is open and may answer a question. If it returns true, the caller must call
// s.answering.Done after the answer.
func (s *Server) beginAnswer() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.answering.Add(1)
	}
	return !s.closed
}

// register makes Close close c. If c is a connection, Close also waits for its end, and register returns its number. If
// the server is closed, register closes c and returns false.
func (s *Server) register(c io.Closer) (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		c.Close()
		return s.lastNumber, false
	}
	s.closers[c] = true
	if _, ok := c.(net.Conn); ok {
		s.lastNumber++
		s.sessions.Add(1)
	}
	return s.lastNumber, true
}

func (s *Server) unregister(c io.Closer) {
	c.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.closers, c)
}

// isFull reports whether there are more than maxConnections connections. closers also has the listener.
func (s *Server) isFull() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.closers)-1 > maxConnections
}
