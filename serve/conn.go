package serve

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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
	err = s.known.snapshot.Protect(do)
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
