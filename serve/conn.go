package serve

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"bindc/internal/lookup"
	"bindc/internal/value"
	bindings "bindc/runtime"
)

// Codes of errors that do not come from a lookup.
const (
	codeProtocol bindings.Code = "protocol"
	codeBusy     bindings.Code = "busy"
	codeSession  bindings.Code = "session"
	codeTooLarge bindings.Code = "too_large"
	codeMissing  bindings.Code = "snapshot_missing"
	codeRefused  bindings.Code = "snapshot_refused"
)

// failure is an error that answers a question.
type failure struct {
	code    bindings.Code
	message string
	ends    bool // the connection
}

func (f *failure) Error() string { return f.message }

func failed(code bindings.Code, message string) *failure {
	return &failure{code: code, message: message}
}

func broken(message string) *failure { return &failure{codeProtocol, message, true} }

// conn is a connection with its sessions.
type conn struct {
	frames
	server  *Server
	number  int
	late    atomic.Bool
	greeted bool

	mu       sync.Mutex
	sessions map[int64]*session
	uses     int
}

// session answers for one node from one snapshot.
type session struct {
	lease *bindings.Lease
	known *known
	path  string      // of the snapshot
	timer *time.Timer // ends the session when it is idle; nil if sessions do not end
	used  int         // number of the last use
}

// request returns the request of the session as the engine has it.
func (s *session) request() *lookup.Request { return (*lookup.Request)(&s.lease.Request) }

func newConn(s *Server, in io.Reader, out io.Writer, number int) *conn {
	f := frames{in: bufio.NewReader(in), out: out, idle: s.opts.Idle, whole: s.frameTime}
	return &conn{frames: f, server: s, number: number, sessions: map[int64]*session{}}
}

// run answers questions until the input ends.
func (c *conn) run() error {
	defer c.endAll()
	for {
		text, err := c.read()
		if err == io.EOF {
			return nil
		}
		if err != nil && !errors.Is(err, errLong) {
			return err
		}
		if ends, err := c.answered(text, err); err != nil || ends {
			return err
		}
	}
}

// answered answers a question, or an error of reading it, and reports whether the connection has to end. Close waits
// for a running call; after Close, answered sends nothing.
func (c *conn) answered(text []byte, err error) (ends bool, _ error) {
	if !c.server.begin() {
		return true, nil
	}
	defer c.server.answering.Done()
	c.begin()
	if err != nil {
		err = broken(err.Error())
	} else {
		err = c.reply(text)
	}
	if err != nil {
		ends = c.fail(err)
	}
	return ends, c.write()
}

// fail makes the answer an error, and reports whether the connection has to end.
func (c *conn) fail(err error) (ends bool) {
	f, ok := err.(*failure)
	if !ok {
		f = unusable("", err)
	}
	c.server.opts.Report(Event{What: Failed, Connection: c.number, Err: f})
	c.begin()
	c.answer = append(c.answer, `{"error":`...)
	c.answer = append(appendError(c.answer, f.code, f.message), '}')
	return f.ends
}

// busy refuses a connection because the server has too many.
func (c *conn) busy() error {
	if !c.server.full() {
		return nil
	}
	c.fail(failed(codeBusy, "there are "+strconv.Itoa(maxConnections)+" connections already"))
	return cmp.Or(c.write(), errors.New("too many connections"))
}

// reply appends the answer to a question.
func (c *conn) reply(text []byte) error {
	if !utf8.Valid(text) { // encoding/json would silently replace the invalid bytes
		return broken("expected a JSON object in UTF-8")
	}
	var q question
	if err := json.Unmarshal(text, &q); err != nil {
		return unread(err)
	}
	if q.Session == nil || q.Ask == "node" { // others are too frequent
		if err := checkMembers(text); err != nil {
			return err
		}
	}
	if q.Ask == "hello" {
		return c.hello(&q)
	}
	if !c.greeted {
		return broken("expected the question hello first, found '" + q.Ask + "'")
	}
	if !slices.Contains(asks, q.Ask) {
		return failed(bindings.CodeUsage, "unknown question '"+q.Ask+"': expected the member ask to be one of "+
			strings.Join(asks, ", "))
	}
	if q.Session == nil {
		return failed(bindings.CodeUsage, "expected the number of a session in the question '"+q.Ask+"'")
	}
	switch q.Ask {
	case "node":
		return c.node(&q)
	case "end":
		c.end(*q.Session, nil)
		c.answer = append(c.answer, "{}"...)
		return nil
	}
	s, err := c.session(*q.Session)
	if err != nil {
		return err
	}
	return c.ask(s, &q)
}

// ask appends the answer to a question of a session.
func (c *conn) ask(s *session, q *question) error {
	look, err := s.way(q)
	if err != nil {
		return err
	}
	var do func() error
	switch {
	case q.Ask == "keys" && q.Keys != nil:
		do = func() error { return c.values(q.Keys, look) }
	case q.Ask == "prefix" && q.Prefix != nil:
		do = func() error { return c.values(s.known.below(*q.Prefix, q.Direct, q.Entries != ""), look) }
	case q.Ask == "ahead":
		do = func() error { return c.sendAhead(s, q) }
	case q.Ask == "candidates" && q.Key != nil:
		do = func() error { return c.candidates(s, *q.Key) }
	case q.Ask == "explain" && q.Key != nil:
		do = func() error { return c.explain(s, q) }
	default:
		return failed(bindings.CodeUsage, "the question '"+q.Ask+"' lacks its argument: expected the member keys, prefix or key")
	}
	err = s.known.snapshot.Guard(do)
	if errors.Is(err, fs.ErrClosed) {
		err = noSession(*q.Session)
	}
	return err
}

func (c *conn) hello(q *question) error {
	if q.Protocol == nil || *q.Protocol != Protocol {
		return broken("expected protocol " + strconv.Itoa(Protocol) + ", which is what this bindq (" +
			c.server.opts.Version + ") speaks: the client has to be of a version that does, or bindq")
	}
	c.greeted = true
	choose, err := c.server.environments.chooser()
	if err != nil {
		return err
	}
	_, k, err := c.server.environments.known(environmentOf(q))
	f, isFailure := err.(*failure)
	if isFailure && f.code == bindings.CodeEnvironment && choose != nil && len(choose.Variables()) > 0 {
		k, err = &known{locations: 1}, nil // another one may be chosen when the node is known
	}
	if err != nil {
		return err
	}
	k = k.chosenBy(choose)
	c.answer = fmt.Appendf(c.answer, `{"protocol":%d,"version":`, Protocol)
	c.answer = append(appendText(c.answer, c.server.opts.Version), ',')
	c.snapshot(k)
	return nil
}

// snapshot ends the answer with what a snapshot needs.
func (c *conn) snapshot(k *known) {
	c.answer = append(c.answer, `"snapshot":{"digest":`...)
	c.answer = append(appendText(c.answer, k.digest), `,"variables":`...)
	c.answer = append(value.AppendJSON(c.answer, value.Strings(k.variables...)), `,"scoped":`...)
	c.answer = append(value.AppendJSON(c.answer, value.Strings(k.scoped...)), `,"all_facts":`...)
	c.answer = append(strconv.AppendBool(c.answer, k.allFacts), `,"trusted":`...)
	c.answer = append(strconv.AppendBool(c.answer, k.trusted), `,"hiera":`...)
	hiera := k.snapshot != nil && (*lookup.Snapshot)(k.snapshot).Hiera()
	c.answer = append(strconv.AppendBool(c.answer, hiera), `,"locations":`...)
	c.answer = append(strconv.AppendInt(c.answer, int64(k.locations), 10), "}}"...)
}

// environmentOf returns the environment of a question.
func environmentOf(q *question) string {
	if q.Environment == "" {
		return "production"
	}
	return q.Environment
}

// node opens a session, unless the client has asked another snapshot what it needs.
func (c *conn) node(q *question) error {
	if err := c.remember(q.Asked); err != nil {
		return err
	}
	choose, err := c.server.environments.chooser()
	if err != nil {
		return err
	}
	name, facts, err := chosenFor(q, choose)
	if err != nil {
		return err
	}
	for {
		env, k, err := c.server.environments.known(name)
		if err != nil {
			return err
		}
		if needs := k.chosenBy(choose); needs.digest != q.Digest {
			c.answer = append(c.answer, '{')
			c.snapshot(needs)
			return nil
		}
		c.server.environments.between()
		lease, err := env.watcher.Request(facts)
		if errors.Is(err, fs.ErrClosed) {
			c.server.environments.drop(env)
			continue
		}
		if err != nil {
			return err
		}
		if lease.Snapshot() != k.snapshot { // replaced in between
			lease.Close()
			continue
		}
		c.start(*q.Session, &session{lease: lease, known: k, path: env.path})
		c.server.opts.Report(Event{What: Opened, Connection: c.number, Environment: env.name, Digest: k.digest})
		c.answer = append(strconv.AppendInt(append(c.answer, `{"session":`...), *q.Session, 10), '}')
		return nil
	}
}

// chosenFor returns the environment of the node in a question, and the facts of the node there. If the snapshots have
// no choice of environments, it is the environment that the question names.
func chosenFor(q *question, choose *bindings.Environments) (string, *bindings.Facts, error) {
	facts, err := factsOf(q)
	if err != nil || choose == nil {
		return environmentOf(q), facts, err
	}
	return choose.Choose(facts)
}

// factsOf returns the facts in a question.
func factsOf(q *question) (*bindings.Facts, error) {
	var facts bindings.Value
	opts := bindings.FactsOptions{Environment: environmentOf(q), StrictVariables: q.Strict}
	for _, m := range []struct {
		name string
		text json.RawMessage
		to   *bindings.Value
	}{{"facts", q.Facts, &facts}, {"vars", q.Vars, &opts.Variables}, {"trusted", q.Trusted, &opts.Trusted}} {
		if m.text == nil {
			continue
		}
		if err := m.to.UnmarshalJSON(m.text); err != nil {
			return nil, failed(bindings.CodeFacts, m.name+": "+err.Error())
		}
	}
	return bindings.NewFacts(facts, opts)
}

// start adds s as session number n. If there are too many, it ends the least recently used session.
func (c *conn) start(n int64, s *session) {
	c.end(n, nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.sessions) == maxSessions {
		c.endLocked(c.leastUsed())
	}
	c.uses++
	s.used = c.uses
	c.sessions[n] = s
	if idle := c.server.opts.Idle; idle > 0 {
		s.timer = time.AfterFunc(idle, func() { c.end(n, s) })
	}
}

func (c *conn) leastUsed() int64 {
	var least int64
	at := math.MaxInt
	for n, s := range c.sessions {
		if s.used < at {
			least, at = n, s.used
		}
	}
	return least
}

// session returns the session with that number, and marks it as used.
func (c *conn) session(n int64) (*session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions[n]
	if s == nil {
		return nil, noSession(n)
	}
	c.uses++
	s.used = c.uses
	if s.timer != nil {
		s.timer.Reset(c.server.opts.Idle)
	}
	return s, nil
}

func noSession(n int64) error {
	return failed(codeSession,
		"session "+strconv.FormatInt(n, 10)+" is not open: open one with the question node")
}

// end ends session number n. If s is given, it must still be that session.
func (c *conn) end(n int64, s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s == nil || c.sessions[n] == s {
		c.endLocked(n)
	}
}

func (c *conn) endLocked(n int64) {
	s := c.sessions[n]
	if s == nil {
		return
	}
	delete(c.sessions, n)
	if s.timer != nil {
		s.timer.Stop()
	}
	s.lease.Close()
}

func (c *conn) endAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n := range c.sessions {
		c.endLocked(n)
	}
}
