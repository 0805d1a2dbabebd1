package serve

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"bindc/internal/value"
	bindings "bindc/runtime"
)

// The codes of errors that are no lookup's.
const (
	codeProtocol bindings.Code = "protocol"
	codeBusy     bindings.Code = "busy"
	codeSession  bindings.Code = "session"
	codeTooLarge bindings.Code = "too_large"
	codeMissing  bindings.Code = "snapshot_missing"
	codeRefused  bindings.Code = "snapshot_refused"
)

// failure is the answer to a question that has no other.
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

// session is a node in a snapshot.
type session struct {
	lease *bindings.Lease
	known *known
	timer *time.Timer // ends it when it is idle; nil: nothing does
	used  int         // number of the last use
}

func newConn(s *Server, in io.Reader, out io.Writer, number int) *conn {
	f := frames{in: bufio.NewReader(in), out: out, idle: s.opts.Idle, whole: s.frameTime}
	return &conn{frames: f, server: s, number: number, sessions: map[int64]*session{}}
}

// question is a frame of the client. A member that is not there is nil.
type question struct {
	Ask         string          `json:"ask"`
	Protocol    *int            `json:"protocol"`
	Environment string          `json:"environment"`
	Session     *int64          `json:"session"`
	Digest      string          `json:"digest"`
	Facts       json.RawMessage `json:"facts"`
	Vars        json.RawMessage `json:"vars"`
	Trusted     json.RawMessage `json:"trusted"`
	Keys        []string        `json:"keys"`
	Key         *string         `json:"key"`
	Prefix      *string         `json:"prefix"`
	Direct      bool            `json:"direct"`
	Entries     string          `json:"entries"`
	Merge       json.RawMessage `json:"merge"`
}

// run answers questions until there are no more.
func (c *conn) run() error {
	defer c.endAll()
	for {
		text, err := c.read()
		if err == io.EOF {
			return nil
		}
		c.begin()
		switch {
		case errors.Is(err, errLong):
			err = broken(err.Error())
		case err == nil:
			err = c.reply(text)
		default:
			return err
		}
		ends := false
		if err != nil {
			ends = c.fail(err)
		}
		if err := c.write(); err != nil || ends {
			return err
		}
	}
}

// fail makes the answer that of an error, and tells whether the connection ends with it.
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

// busy refuses a connection that is one too many.
func (c *conn) busy() error {
	if !c.server.full() {
		return nil
	}
	c.fail(&failure{codeBusy, "there are " + strconv.Itoa(maxConnections) + " connections already", true})
	if err := c.write(); err != nil {
		return err
	}
	return errors.New("too many connections")
}

// reply appends the answer to a question.
func (c *conn) reply(text []byte) error {
	var q question
	if err := json.Unmarshal(text, &q); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) && kind.Field != "" {
			return failed(bindings.CodeUsage, "the question: "+err.Error())
		}
		return broken("expected a JSON object: " + err.Error())
	}
	if q.Ask == "hello" {
		return c.hello(&q)
	}
	if !c.greeted {
		return broken("expected the question hello first, found '" + q.Ask + "'")
	}
	if q.Session == nil {
		return failed(bindings.CodeUsage, "expected the number of a session, or the question hello")
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
	case q.Ask == "candidates" && q.Key != nil:
		do = func() error { return c.candidates(s, *q.Key) }
	case q.Ask == "explain" && q.Key != nil:
		do = func() error { return c.explain(s, q) }
	case q.Ask == "keys" || q.Ask == "prefix" || q.Ask == "candidates" || q.Ask == "explain":
		return failed(bindings.CodeUsage, "expected what '"+q.Ask+"' is about: keys, a prefix or a key")
	default:
		return failed(bindings.CodeUsage,
			"expected hello, node, keys, prefix, candidates, explain or end, found '"+q.Ask+"'")
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
	k, err := c.asked(q)
	f, isFailure := err.(*failure)
	if isFailure && f.code == bindings.CodeEnvironment && choose != nil && len(choose.Variables()) > 0 {
		k, err = &known{locations: 1}, nil // another one may be chosen when the node is known
	}
	if err != nil {
		return err
	}
	k = k.chosenBy(choose)
	c.answer = append(c.answer, `{"protocol":`...)
	c.answer = append(strconv.AppendInt(c.answer, Protocol, 10), `,"version":`...)
	c.answer = append(appendText(c.answer, c.server.opts.Version), ',')
	c.snapshot(k)
	return nil
}

// asked is what is known of the environment that a question names.
func (c *conn) asked(q *question) (*known, error) {
	env, err := c.server.environments.get(environmentOf(q))
	if err != nil {
		return nil, err
	}
	return env.known()
}

// snapshot ends the answer with what a snapshot needs.
func (c *conn) snapshot(k *known) {
	c.answer = append(c.answer, `"snapshot":{"digest":`...)
	c.answer = append(appendText(c.answer, k.digest), `,"variables":`...)
	c.answer = append(value.AppendJSON(c.answer, value.Strings(k.variables...)), `,"all_facts":`...)
	c.answer = append(strconv.AppendBool(c.answer, k.allFacts), `,"trusted":`...)
	c.answer = append(strconv.AppendBool(c.answer, k.trusted), `,"hiera":`...)
	c.answer = append(strconv.AppendBool(c.answer, k.snapshot != nil && k.snapshot.Hiera()), `,"locations":`...)
	c.answer = append(strconv.AppendInt(c.answer, int64(k.locations), 10), "}}"...)
}

// environmentOf is the environment of a question.
func environmentOf(q *question) string {
	if q.Environment == "" {
		return "production"
	}
	return q.Environment
}

// node opens a session, unless the client has asked another snapshot what it needs.
func (c *conn) node(q *question) error {
	choose, err := c.server.environments.chooser()
	if err != nil {
		return err
	}
	name, facts, err := chosenFor(q, choose)
	if err != nil {
		return err
	}
	for {
		env, err := c.server.environments.get(name)
		if err != nil {
			return err
		}
		k, err := env.known()
		if errors.Is(err, fs.ErrClosed) { // dropped in between
			continue
		}
		if err != nil {
			return err
		}
		if needs := k.chosenBy(choose); needs.digest != q.Digest {
			c.answer = append(c.answer, '{')
			c.snapshot(needs)
			return nil
		}
		lease, err := env.watcher.Request(facts)
		if errors.Is(err, fs.ErrClosed) {
			continue
		}
		if err != nil {
			return err
		}
		if lease.Snapshot() != k.snapshot { // replaced in between
			lease.Close()
			continue
		}
		c.start(*q.Session, &session{lease: lease, known: k})
		c.server.opts.Report(Event{What: Opened, Connection: c.number, Environment: env.name, Digest: k.digest})
		c.answer = append(strconv.AppendInt(append(c.answer, `{"session":`...), *q.Session, 10), '}')
		return nil
	}
}

// chosenFor is the environment of the node in a question, and its facts there: the one that it names where there is
// nobody to choose.
func chosenFor(q *question, choose *bindings.Environments) (string, *bindings.Facts, error) {
	facts, err := factsOf(q)
	if err != nil || choose == nil {
		return environmentOf(q), facts, err
	}
	return choose.Choose(facts)
}

// factsOf are the facts of the node that a question gives.
func factsOf(q *question) (*bindings.Facts, error) {
	var facts bindings.Value
	opts := bindings.FactsOptions{Environment: environmentOf(q)}
	for _, m := range []struct {
		name string
		text json.RawMessage
		to   *bindings.Value
	}{{"facts", q.Facts, &facts}, {"vars", q.Vars, &opts.Variables}, {"trusted", q.Trusted, &opts.Trusted}} {
		if m.text == nil {
			continue
		}
		var err error
		if *m.to, err = bindings.ParseJSON(m.text); err != nil {
			return nil, failed(bindings.CodeFacts, m.name+": "+err.Error())
		}
	}
	return bindings.NewFacts(facts, opts)
}

// start begins s as session number n, in place of the one used longest ago where there are too many.
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
	least, at := int64(0), c.uses+1
	for n, s := range c.sessions {
		if s.used < at {
			least, at = n, s.used
		}
	}
	return least
}

// session is the session of that number, which is used now.
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
		"there is no session "+strconv.FormatInt(n, 10)+", or no longer: open it with the question node")
}

// end ends session number n; where s is given, if it still is that.
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
