package serve

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"strconv"
	"time"

	"bindc/internal/lookup"
	bindings "bindc/runtime"
)

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
