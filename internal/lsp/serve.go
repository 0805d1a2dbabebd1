// Package lsp implements a server for the Language Server Protocol. It is the only package that knows the protocol; the
// packages below it only know texts and sites.
//
// Notifications are handled in order. Each request sees the documents as they were when it arrived.
package lsp

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"bindc/internal/lsp/analysis"
)

// Options configures Serve.
type Options struct {
	Analysis analysis.Options // Serve adds the workspace folders to Fence
	FactsDir string           // directory with the facts of a fleet, or ""
	Version  string           // version of the program, reported to the editor
	Delay    time.Duration    // pause after the last change before a site is read; 0 means 300 ms
}

// defaultDelay is long enough that a site is not read while the user types a word.
const defaultDelay = 300 * time.Millisecond

// Serve serves one editor until it disconnects or sends an exit notification.
func Serve(ctx context.Context, in io.Reader, out io.Writer, opts Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if opts.Delay == 0 {
		opts.Delay = defaultDelay
	}
	s := newServer(ctx, opts)
	conn := jsonrpc2.NewConn(jsonrpc2.NewStream(&pipe{Reader: in, Writer: out}), jsonrpc2.WithCodec(codec{}))
	s.client = protocol.ClientDispatcher(conn)
	conn.Go(ctx, s.handler())
	select {
	case <-conn.Done():
		return conn.Err()
	case <-s.exited:
	case <-ctx.Done():
	}
	return nil
}

// pipe is the connection to the editor. Closing it does nothing, because the process ends anyway.
type pipe struct {
	io.Reader
	io.Writer
}

func (*pipe) Close() error { return nil }

// handler returns the handler for all messages. Requests run concurrently, can be cancelled, and see the documents as
// they were on arrival. Only initialize runs alone: it must not pass through CancelHandler, because the library reuses
// its context while derived contexts still wait.
func (s *Server) handler() jsonrpc2.Handler {
	alone := s.guarded(protocol.ServerHandler(s, jsonrpc2.MethodNotFoundHandler))
	concurrent := protocol.CancelHandler(func(ctx context.Context, req *jsonrpc2.Request) (any, error) {
		if req.IsCall() {
			ctx = context.WithValue(ctx, textsKey{}, s.texts())
			jsonrpc2.Async(ctx)
		}
		return alone(ctx, req)
	})
	return func(ctx context.Context, req *jsonrpc2.Request) (any, error) {
		if req.Method() == protocol.MethodInitialize {
			return alone(ctx, req)
		}
		return concurrent(ctx, req)
	}
}

// guarded turns a panic into an error response to that one request. It logs errors of notifications instead of
// returning them, because they would end the connection.
func (s *Server) guarded(next jsonrpc2.Handler) jsonrpc2.Handler {
	return func(ctx context.Context, req *jsonrpc2.Request) (result any, err error) {
		defer func() {
			if r := recover(); r != nil {
				s.log(protocol.MessageTypeError, fmt.Sprintf("%s failed: %v\n%s", req.Method(), r, debug.Stack()))
				result, err = nil, jsonrpc2.NewError(jsonrpc2.InternalError, "internal error; the log has details")
			}
			if err != nil && !req.IsCall() {
				s.log(protocol.MessageTypeWarning, req.Method()+": "+err.Error())
				result, err = nil, nil
			}
		}()
		return next(ctx, req)
	}
}

// textsKey is the context key for the documents that a request sees.
type textsKey struct{}

// codec encodes and decodes messages with the package protocol.
type codec struct{}

func (codec) Marshal(v any) ([]byte, error) {
	if raw, ok := v.(jsonrpc2.RawMessage); ok && raw != nil {
		return raw, nil
	}
	return protocol.Marshal(v)
}

func (codec) Unmarshal(data []byte, v any) error {
	if raw, ok := v.(*jsonrpc2.RawMessage); ok {
		*raw = append(jsonrpc2.RawMessage(nil), data...)
		return nil
	}
	return protocol.Unmarshal(data, v)
}

// log adds a message to the editor's log.
func (s *Server) log(kind protocol.MessageType, message string) {
	s.client.LogMessage(s.ctx, &protocol.LogMessageParams{Type: kind, Message: message})
}

// Server serves one connection.
type Server struct {
	protocol.UnimplementedServer
	ctx    context.Context // done when the connection ends
	opts   Options
	client protocol.Client
	exited chan struct{}
	exit   sync.Once

	settings settings

	factsOnce sync.Once
	facts     *analysis.Fleet // use the method fleet instead
	roots     []string        // workspace folders

	mu       sync.Mutex
	open     texts // open documents; the map is replaced, never modified
	projects map[string]*project

	publishing sync.Mutex
	sent       map[string]uint64 // by path: hash of the diagnostics last sent
}

func newServer(ctx context.Context, opts Options) *Server {
	return &Server{ctx: ctx, opts: opts, exited: make(chan struct{}), open: texts{}, projects: map[string]*project{},
		sent: map[string]uint64{}}
}

// fleet returns the facts in the facts directory, which it reads on the first call. It returns nil if no directory is
// set.
func (s *Server) fleet() *analysis.Fleet {
	s.factsOnce.Do(func() {
		if s.opts.FactsDir == "" {
			return
		}
		var wrong []error
		s.facts, wrong = analysis.ReadFleet(s.opts.FactsDir)
		for _, err := range wrong {
			s.log(protocol.MessageTypeWarning, "facts: "+err.Error())
		}
	})
	return s.facts
}
