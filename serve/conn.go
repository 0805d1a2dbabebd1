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

// Codes of errors that do not come from lookups.
const (
	codeProtocol bindings.Code = "protocol"
	codeBusy     bindings.Code = "busy"
	codeSession  bindings.Code = "session"
	codeTooLarge bindings.Code = "too_large"
	codeMissing  bindings.Code = "snapshot_missing"
	codeRefused  bindings.Code = "snapshot_refused"
)

// failure is an error that is sent to the client as the answer to its question.
type failure struct {
	code    bindings.Code
	message string
	closes  bool // whether the server closes the connection
}

func (f *failure) Error() string { return f.message }

func failed(code bindings.Code, message string) *failure {
	return &failure{code: code, message: message}
}

func protocolError(message string) *failure { return &failure{codeProtocol, message, true} }

type conn struct {
	frames
	server   *Server
	number   int
	timedOut atomic.Bool
	greeted  bool

	mu       sync.Mutex
	sessions map[int64]*session
	useCount int
}

func newConn(s *Server, in io.Reader, out io.Writer, number int) *conn {
	f := frames{in: bufio.NewReader(in), out: out, idle: s.opts.Idle, frameTime: s.frameTime}
	return &conn{frames: f, server: s, number: number, sessions: map[int64]*session{}}
}

// run answers questions until the input ends or the connection must be closed.
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
		if closes, err := c.handle(text, err); err != nil || closes {
			return err
		}
	}
}

// handle answers the question in text, or reports err, the error of reading it, to the client. It returns whether the
// connection must be closed. Server.Close waits for running calls. After Server.Close, handle sends nothing.
func (c *conn) handle(text []byte, err error) (closes bool, _ error) {
	if !c.server.beginAnswer() {
		return true, nil
	}
	defer c.server.answering.Done()
	c.resetAnswer()
	if err != nil {
		err = protocolError(err.Error())
	} else {
		err = c.reply(text)
	}
	if err != nil {
		closes = c.answerError(err)
	}
	return closes, c.write()
}

// answerError replaces the answer with err, and reports whether the connection must be closed.
func (c *conn) answerError(err error) (closes bool) {
	f, ok := err.(*failure)
	if !ok {
		f = unusable("", err)
	}
	c.server.opts.Report(Event{What: Failed, Connection: c.number, Err: f})
	c.resetAnswer()
	c.answer = append(c.answer, `{"error":`...)
	c.answer = append(appendError(c.answer, f.code, f.message), '}')
	return f.closes
}

// refuseIfFull sends an error and returns one if the server has too many connections.
func (c *conn) refuseIfFull() error {
	if !c.server.isFull() {
		return nil
	}
	c.answerError(failed(codeBusy,
		"the limit of "+strconv.Itoa(maxConnections)+" connections is reached; try again later"))
	return cmp.Or(c.write(), errors.New("too many connections"))
}

func (c *conn) reply(text []byte) error {
	q, ok := decodePlain(string(text))
	if !ok {
		if !utf8.Valid(text) { // encoding/json would replace the invalid bytes
			return protocolError("expected a JSON object in UTF-8")
		}
		if err := json.Unmarshal(text, &q); err != nil {
			return decodeError(err)
		}
	}
	if q.Session == nil || q.Ask == "node" { // other questions are too frequent to be checked
		if err := checkMembers(text); err != nil {
			return err
		}
	}
	if q.Ask == "hello" {
		return c.hello(&q)
	}
	if !c.greeted {
		return protocolError("expected the question hello first, found '" + q.Ask + "'")
	}
	if !slices.Contains(questions, q.Ask) {
		return failed(bindings.CodeUsage, "unknown question '"+q.Ask+"': expected the member ask to be one of "+
			strings.Join(questions, ", "))
	}
	if q.Session == nil {
		return failed(bindings.CodeUsage, "expected a session number in the question '"+q.Ask+"'")
	}
	switch q.Ask {
	case "node":
		return c.node(&q)
	case "end":
		c.endSession(*q.Session, nil)
		c.answer = append(c.answer, "{}"...)
		return nil
	}
	s, err := c.session(*q.Session)
	if err != nil {
		return err
	}
	return c.askSession(s, &q)
}

func (c *conn) askSession(s *session, q *question) error {
	look, err := s.lookFuncFor(q)
	if err != nil {
		return err
	}
	var do func() error
	switch {
	case q.Ask == "keys" && q.Keys != nil:
		do = func() error { return c.values(q.Keys, q.plainKeys, look) }
	case q.Ask == "prefix" && q.Prefix != nil:
		do = func() error { return c.values(s.info.keysBelow(*q.Prefix, q.Direct, q.Entries != ""), false, look) }
	case q.Ask == "ahead":
		do = func() error { return c.sendAhead(s, q) }
	case q.Ask == "candidates" && q.Key != nil:
		do = func() error { return c.candidates(s, *q.Key) }
	case q.Ask == "explain" && q.Key != nil:
		do = func() error { return c.explain(s, q) }
	default:
		return failed(bindings.CodeUsage, "the question '"+q.Ask+
			"' has no argument: expected the member keys, prefix or key")
	}
	err = s.info.snapshot.Protect(do)
	if errors.Is(err, fs.ErrClosed) {
		err = noSession(*q.Session)
	}
	return err
}

func (c *conn) hello(q *question) error {
	if q.Protocol == nil || *q.Protocol != Protocol {
		return protocolError("expected protocol " + strconv.Itoa(Protocol) + "; this bindq (" +
			c.server.opts.Version + ") only supports that version: update the client or bindq")
	}
	c.greeted = true
	choice, err := c.server.environments.openChoice()
	if err != nil {
		return err
	}
	_, k, err := c.server.environments.infoOf(environmentOf(q))
	f, isFailure := err.(*failure)
	if isFailure && f.code == bindings.CodeEnvironment && choice != nil && len(choice.Variables()) > 0 {
		k, err = &snapshotInfo{locations: 1}, nil // the node may be in another environment
	}
	if err != nil {
		return err
	}
	k = k.withChoice(choice)
	c.answer = fmt.Appendf(c.answer, `{"protocol":%d,"version":`, Protocol)
	c.answer = append(appendText(c.answer, c.server.opts.Version), ',')
	c.appendNeeds(k)
	return nil
}

// appendNeeds appends the facts and variables that a snapshot needs, and the end of the answer.
func (c *conn) appendNeeds(k *snapshotInfo) {
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

// environmentOf returns the environment in q, or "production", which is Puppet's default.
func environmentOf(q *question) string {
	if q.Environment == "" {
		return "production"
	}
	return q.Environment
}
