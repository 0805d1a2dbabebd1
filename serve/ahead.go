package serve

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"slices"

	"bindc/internal/lookup"
	bindings "bindc/runtime"
)

// maxAhead is the size of an answer from which no further values are sent ahead.
const maxAhead = 1 << 20

// maxGuess is how many keys a snapshot may have so that all of them are sent ahead while nothing is remembered.
const maxGuess = 1000

// asked is a list of keys that a session asked for, all with one merge strategy and of the same entries.
type asked struct {
	Session *int64          `json:"session"`
	Entries string          `json:"entries"`
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
	groups := map[kind][]group{}
	for _, a := range all {
		if a.Session == nil || a.Keys == nil {
			return failed(bindings.CodeUsage, "asked: expected lists with the members session and keys")
		}
		s, err := c.session(*a.Session)
		if err != nil {
			continue
		}
		var merge bytes.Buffer
		if a.Merge != nil {
			_ = json.Compact(&merge, a.Merge) // encoding/json has read it
		}
		k := s.kind(a.Entries)
		groups[k] = append(groups[k], group{merge.Bytes(), a.Keys})
	}
	for k, g := range groups {
		c.server.history.put(k, g)
	}
	return nil
}

// kind returns the kind of a session that asks for entries.
func (s *session) kind(entries string) kind {
	return kind{path: s.path, entries: entries, alike: s.request().Alike()}
}

// sendAhead appends the answers for the keys that the last session of the same kind asked for: of each group, those
// from number From to To, or to the last one if To is 0. While nothing is remembered, these are all keys if there are
// few.
func (c *conn) sendAhead(s *session, q *question) error {
	if q.From < 0 || q.To != 0 && q.To < q.From {
		return failed(bindings.CodeUsage, "ahead: expected numbers from <= to, or no to")
	}
	groups := c.server.history.get(s.kind(q.Entries))
	complete := false
	if groups == nil {
		groups, complete = s.guess(q.Entries)
	}
	c.answer = append(c.answer, `{"ahead":[`...)
	limit := len(c.answer) + maxAhead
	more := false
	for i, g := range groups {
		to := len(g.keys)
		if q.To != 0 {
			to = min(to, q.To)
		}
		if q.From >= to {
			continue
		}
		if more {
			c.answer = append(c.answer, ',')
		}
		more = true
		if err := c.group(s, q.Entries, group{g.merge, g.keys[q.From:to]}, limit); err != nil {
			return err
		}
		if complete && i == len(groups)-1 && to == len(g.keys) {
			c.answer = append(c.answer[:len(c.answer)-1], `,"complete":true}`...)
		}
	}
	c.answer = append(c.answer, "]}"...)
	return nil
}

// guess returns the keys that a session may ask for. Every client asks for lookup_options first: of entries of Hiera 5
// merged as a hash, but not of locations. complete reports whether the last group has all keys, lookup_options too.
func (s *session) guess(entries string) (groups []group, complete bool) {
	options := group{keys: []string{lookupOptions}}
	if entries != "" && (*lookup.Snapshot)(s.known.snapshot).Hiera() {
		options.merge = hashMerge
	}
	all := s.known.below("", false, entries != "")
	if len(all) > maxGuess {
		return []group{options}, false
	}
	if options.merge != nil {
		return []group{options, {keys: all}}, true
	}
	all = slices.DeleteFunc(all, func(key string) bool { return key == lookupOptions })
	return []group{{keys: append(options.keys, all...)}}, true
}

// group appends the answers for a group of keys. From the size limit on, it only lists keys.
func (c *conn) group(s *session, entries string, g group, limit int) error {
	look, err := s.way(&question{Entries: entries, Merge: g.merge})
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
	return nil
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
