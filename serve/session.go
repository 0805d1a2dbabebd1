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

// session is a client's view of one snapshot for one node.
type session struct {
	lease   *bindings.Lease
	info    *snapshotInfo
	path    string
	timer   *time.Timer // ends the session when it fires; nil for no time limit
	lastUse int         // value of conn.useCount at the last use
	ahead   *aheadKeys  // keys sent ahead in part; nil if none are
}

func (s *session) request() *lookup.Request { return (*lookup.Request)(&s.lease.Request) }

// node answers the question node. It opens a session if q has the digest of the current snapshot. If the digest
// differs, the answer has the needs of the current snapshot instead.
func (c *conn) node(q *question) error {
	if err := c.remember(q.Asked); err != nil {
		return err
	}
	choice, err := c.server.environments.openChoice()
	if err != nil {
		return err
	}
	name, facts, err := chosenFor(q, choice)
	if err != nil {
		return err
	}
	for {
		env, k, err := c.server.environments.infoOf(name)
		if err != nil {
			return err
		}
		if needs := k.withChoice(choice); needs.digest != q.Digest {
			c.answer = append(c.answer, '{')
			c.appendNeeds(needs)
			return nil
		}
		c.server.environments.beforeSession()
		lease, err := env.watcher.Request(facts)
		if errors.Is(err, fs.ErrClosed) {
			c.server.environments.drop(env)
			continue
		}
		if err != nil {
			return err
		}
		if lease.Snapshot() != k.snapshot { // the snapshot was just replaced
			lease.Close()
			continue
		}
		c.addSession(*q.Session, &session{lease: lease, info: k, path: env.path})
		c.server.opts.Report(Event{What: Opened, Connection: c.number, Environment: env.name, Digest: k.digest})
		c.answer = append(strconv.AppendInt(append(c.answer, `{"session":`...), *q.Session, 10), '}')
		return nil
	}
}

// chosenFor returns the environment of the node in q, and the node's facts in that environment. If choice is nil, q
// names the environment.
func chosenFor(q *question, choice *bindings.Environments) (string, *bindings.Facts, error) {
	facts, err := factsOf(q)
	if err != nil || choice == nil {
		return environmentOf(q), facts, err
	}
	return choice.Choose(facts)
}

func factsOf(q *question) (*bindings.Facts, error) {
	var facts bindings.Value
	opts := bindings.FactsOptions{StrictVariables: q.Strict}
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
	if v, given := opts.Variables.Get("environment"); !given || !v.IsUndef() {
		opts.Environment = environmentOf(q)
	}
	return bindings.NewFacts(facts, opts)
}

// addSession makes s session n, and ends a previous session n. If there are too many sessions, it ends the least
// recently used one.
func (c *conn) addSession(n int64, s *session) {
	c.endSession(n, nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.sessions) == maxSessions {
		c.endLocked(c.leastUsed())
	}
	c.useCount++
	s.lastUse = c.useCount
	c.sessions[n] = s
	if idle := c.server.opts.Idle; idle > 0 {
		s.timer = time.AfterFunc(idle, func() { c.endSession(n, s) })
	}
}

func (c *conn) leastUsed() int64 {
	var least int64
	lowest := math.MaxInt
	for n, s := range c.sessions {
		if s.lastUse < lowest {
			least, lowest = n, s.lastUse
		}
	}
	return least
}

// session returns session n and resets its idle time.
func (c *conn) session(n int64) (*session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions[n]
	if s == nil {
		return nil, noSession(n)
	}
	c.useCount++
	s.lastUse = c.useCount
	if s.timer != nil {
		s.timer.Reset(c.server.opts.Idle)
	}
	return s, nil
}

func noSession(n int64) error {
	return failed(codeSession,
		"session "+strconv.FormatInt(n, 10)+" is not open: open one with the question node")
}

// endSession ends session n. If s is not nil, it only does so if session n is still s.
func (c *conn) endSession(n int64, s *session) {
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
