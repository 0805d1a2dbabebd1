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

// Protocol is the version of the protocol.
const Protocol = 1

// Limits that docs/serve.md states.
const (
	maxQuestion    = 16 << 20 // bytes
	maxAnswer      = 64 << 20 // bytes
	maxSessions    = 64       // of a connection
	maxConnections = 256      // of a socket
	maxFrameTime   = 30 * time.Second
	untilTried     = 10 * time.Second // how long the error of opening a snapshot is kept
)

// Options configure a Server. Path is required.
type Options struct {
	Path     string                // of a snapshot, or a directory with one for each environment
	Snapshot bindings.WatchOptions // for every snapshot, except Notify
	Version  string                // of the program, for clients
	Idle     time.Duration         // after which a session or a connection of a socket ends; 0: never
	Report   func(Event)           // called for each event, by several goroutines; may be nil
}

// Event is an entry for a log.
type Event struct {
	What        string // see below
	Connection  int    // number of the connection, from 1; 0 if none is affected
	Environment string
	Digest      string
	Err         error
}

// Values of Event.What.
const (
	Connected    = "connected"
	Disconnected = "disconnected" // Err: the cause, unless the client closed the connection
	Opened       = "session opened"
	Switched     = "snapshot answers" // the first snapshot, or one that replaced another
	Refused      = "snapshot refused" // the previous one stays active, if there is one
	Failed       = "question failed"
)

// Server answers connections. Its methods may be called concurrently.
type Server struct {
	opts         Options
	environments environments
	history      history
	frameTime    time.Duration

	mu        sync.Mutex
	closed    bool
	number    int // of the last connection
	open      map[io.Closer]bool
	sessions  sync.WaitGroup // connections of sockets
	answering sync.WaitGroup // questions
}

// New returns a server. It opens nothing before the first question.
func New(opts Options) *Server {
	if opts.Report == nil {
		opts.Report = func(Event) {}
	}
	s := &Server{opts: opts, open: map[io.Closer]bool{}, frameTime: maxFrameTime}
	s.environments = environments{opts: &s.opts, open: map[string]*environment{}, until: untilTried,
		between: func() {}}
	return s
}

// Serve answers the connections that l accepts, until Close. It closes l.
func (s *Server) Serve(l net.Listener) error {
	if _, ok := s.add(l); !ok {
		return net.ErrClosed
	}
	defer s.remove(l)
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil { // too many open files, say, which passes
			s.opts.Report(Event{What: Failed, Err: err})
			time.Sleep(100 * time.Millisecond)
			continue
		}
		number, ok := s.add(c)
		if !ok {
			return nil
		}
		go func() {
			defer s.sessions.Done()
			defer s.remove(c)
			s.connection(c, number)
		}()
	}
}

// connection answers a connection of a socket, and closes it if the client is too slow.
func (s *Server) connection(nc net.Conn, number int) {
	s.opts.Report(Event{What: Connected, Connection: number})
	c := newConn(s, nc, nc, number)
	c.timer = time.AfterFunc(s.frameTime, func() {
		c.late.Store(true)
		nc.Close()
	})
	defer c.timer.Stop()
	err := c.busy()
	if err == nil {
		err = c.run()
	}
	if c.late.Load() {
		err = errLate
	}
	s.opts.Report(Event{What: Disconnected, Connection: number, Err: err})
}

// Answer answers one client until in ends. It has no time limits, because it trusts the client.
func (s *Server) Answer(in io.Reader, out io.Writer) error { return newConn(s, in, out, 0).run() }

// Close ends all connections and closes all snapshots. It waits for answers in progress, which a client of Answer has
// to read. After Close, the server answers nothing.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	for c := range s.open {
		c.Close()
	}
	s.mu.Unlock()
	s.sessions.Wait()
	s.answering.Wait()
	s.environments.close()
}

// begin reports whether a question may be answered, that is, whether the server is not closed. If so, the caller must
// call answering.Done.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.answering.Add(1)
	}
	return !s.closed
}

// add registers c, so that Close closes it. If c is a connection, add returns its number, and Close waits for its end.
// ok is false if the server is closed.
func (s *Server) add(c io.Closer) (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		c.Close()
		return s.number, false
	}
	s.open[c] = true
	if _, ok := c.(net.Conn); ok {
		s.number++
		s.sessions.Add(1)
	}
	return s.number, true
}

func (s *Server) remove(c io.Closer) {
	c.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
}

// full reports whether the server has more connections than it accepts. One of the open objects is the listener.
func (s *Server) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)-1 > maxConnections
}
