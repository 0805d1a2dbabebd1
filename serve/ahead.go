package serve

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"

	bindings "bindc/runtime"
)

// maxAhead is the size from which no further values are sent ahead.
const maxAhead = 1 << 20

// asked is a list of keys that a session asked for, all with one merge strategy.
type asked struct {
	Session *int64          `json:"session"`
	Merge   json.RawMessage `json:"merge"` // missing: the first value counts
	Keys    []string        `json:"keys"`
}

// group has the keys of a keyList that are asked for with one merge strategy.
type group struct {
	merge json.RawMessage
	keys  []string
}

// hashMerge is the strategy by which Puppet merges lookup_options.
var hashMerge = json.RawMessage(`{"strategy":"hash"}`)

// remember records which keys earlier sessions of the connection asked for. It skips sessions that have ended.
func (c *conn) remember(all []asked) error {
	groups := map[int64][]group{}
	for _, a := range all {
		if a.Session == nil || a.Keys == nil {
			return failed(bindings.CodeUsage, "asked: expected lists with the members session and keys")
		}
		var merge bytes.Buffer
		if a.Merge != nil {
			_ = json.Compact(&merge, a.Merge) // encoding/json has read it
		}
		groups[*a.Session] = append(groups[*a.Session], group{merge.Bytes(), a.Keys})
	}
	for n, g := range groups {
		if s, err := c.session(n); err == nil && s.ahead {
			c.server.history.put(s.kind, g)
		}
	}
	return nil
}

// sendAhead appends the answers for the keys that the last session of the same kind asked for. If the answers do not
// fit, it appends nothing.
func (c *conn) sendAhead(s *session) error {
	groups := c.server.history.get(s.kind)
	if groups == nil { // every client asks for lookup_options first
		groups = []group{{keys: []string{lookupOptions}}}
		if s.kind.entries != "" {
			groups[0].merge = hashMerge
		}
	}
	begin := len(c.answer)
	c.answer = append(c.answer, `,"ahead":[`...)
	err := s.known.snapshot.Guard(func() error { return c.groups(s, groups, begin+maxAhead) })
	var f *failure
	if errors.As(err, &f) && f.code == codeTooLarge {
		c.answer = c.answer[:begin]
		return nil
	}
	c.answer = append(c.answer, ']')
	return err
}

// groups appends the answers for groups of keys. When the answer has reached the size limit, it only lists keys.
func (c *conn) groups(s *session, groups []group, limit int) error {
	for i, g := range groups {
		if i > 0 {
			c.answer = append(c.answer, ',')
		}
		look, err := s.way(&question{Entries: s.kind.entries, Merge: g.merge})
		if err != nil {
			return err
		}
		w := newValueWriter(c.answer)
		for _, key := range g.keys {
			o, secret := look(key)
			switch {
			case secret || w.size() > limit:
				w.held = appendItem(w.held, key)
			case !o.Found && o.Err == nil:
				w.absent = appendItem(w.absent, key)
			default:
				if err := w.add(key, o); err != nil {
					return err
				}
			}
		}
		c.answer = w.end()
		if len(g.merge) > 0 {
			c.answer = append(append(c.answer[:len(c.answer)-1], `,"merge":`...), g.merge...)
			c.answer = append(c.answer, '}')
		}
	}
	return nil
}

// kindOf returns the kind of a new session: sessions of one kind are answered alike.
func kindOf(env *environment, lease *bindings.Lease, q *question) kind {
	return kind{path: env.path, entries: q.Entries, alike: lease.Alike()}
}

// digestOf identifies the keys of groups, whatever the order of the groups is.
func digestOf(groups []group) (sum [sha256.Size]byte) {
	for _, g := range groups {
		h := sha256.New()
		h.Write(g.merge)
		for _, key := range g.keys {
			h.Write([]byte{0})
			h.Write([]byte(key))
		}
		for i, b := range h.Sum(nil) {
			sum[i] ^= b
		}
	}
	return sum
}

// sizeOf estimates the memory that groups take.
func sizeOf(groups []group) (n int) {
	for _, g := range groups {
		n += len(g.merge) + groupBytes
		for _, key := range g.keys {
			n += cmp.Or((len(key)+7)/8*8, 8) + keyBytes
		}
	}
	return n
}
