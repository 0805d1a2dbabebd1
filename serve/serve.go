// Package serve answers lookups over a stream of frames, for programs that are not written in Go. docs/serve.md is the
// protocol. Connections, sessions and environments do not know of one another: what goes wrong in one is answered
// there.
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
)

// Options say what a Server answers from. Path has to be given.
type Options struct {
	Path     string                // of a snapshot, or a directory with one for each environment
	Snapshot bindings.WatchOptions // of every snapshot, but for Notify
	Version  string                // of the program, for clients
	Idle     time.Duration         // after which a session ends, and a connection of a socket; 0: never
	Report   func(Event)           // told what happens, by several goroutines; may be nil
}

// Event is something that happens, for a log.
type Event struct {
	What        string // see below
	Connection  int    // its number, from 1; 0: it concerns none
	Environment string
	Digest      string
	Err         error
}

// What happens.
const (
	Connected    = "connected"
	Disconnected = "disconnected" // Err: why, if the client did not just go
	Opened       = "session opened"
	Switched     = "snapshot answers" // the first, or one that has replaced another
	Refused      = "snapshot refused" // the one before goes on answering, if there is one
	Failed       = "question failed"
)

// Server answers connections. Its methods may be called concurrently.
type Server struct {
	opts         Options
	environments environments
	frameTime    time.Duration

	mu       sync.Mutex
	closed   bool
	number   int // of the last connection
	open     map[io.Closer]bool
	sessions sync.WaitGroup // connections that are being answered
}

// New is a server that has not opened anything yet.
func New(opts Options) *Server {
	if opts.Report == nil {
		opts.Report = func(Event) {}
	}
	s := &Server{opts: opts, open: map[io.Closer]bool{}, frameTime: maxFrameTime}
	s.environments = environments{opts: &s.opts, open: map[string]*environment{}}
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
		s.sessions.Go(func() {
			defer s.remove(c)
			s.connection(c, number)
		})
	}
}

// connection answers a connection of a socket, which is closed where its client is too slow.
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

// Answer answers one client, which is trusted with the time it takes, until in ends.
func (s *Server) Answer(in io.Reader, out io.Writer) error { return newConn(s, in, out, 0).run() }

// Close ends all connections and closes all snapshots.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	for c := range s.open {
		c.Close()
	}
	s.mu.Unlock()
	s.sessions.Wait()
	s.environments.close()
}

// add keeps c to be closed, and numbers it; not ok once the server is closed.
func (s *Server) add(c io.Closer) (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		c.Close()
		return 0, false
	}
	s.open[c] = true
	if _, ok := c.(net.Conn); ok {
		s.number++
	}
	return s.number, true
}

func (s *Server) remove(c io.Closer) {
	c.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
}

// full tells whether there are more connections than a server takes; one of what is open is the listener.
func (s *Server) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)-1 > maxConnections
}
