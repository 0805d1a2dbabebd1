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

// maxAhead is the size in bytes at which an answer stops sending values ahead; it then lists only the keys.
const maxAhead = 1 << 20

// maxGuess is the largest number of keys in a snapshot whose keys are all sent ahead if the history has nothing about a
// session.
const maxGuess = 1000

// askedKeys lists keys that a session asked for. All have the same merge strategy and range of entries.
type askedKeys struct {
	Session *int64          `json:"session"`
	Entries string          `json:"entries"`
	Merge   json.RawMessage `json:"merge"` // if missing, the first value is the result
	Keys    []string        `json:"keys"`
}

// group lists the keys of a keyList that were asked for with the same merge strategy.
type group struct {
	merge json.RawMessage
	keys  []string
}

// hashMerge is the merge strategy that Puppet uses for lookup_options.
var hashMerge = json.RawMessage(`{"strategy":"hash"}`)

// remember records the keys that earlier sessions of this connection asked for. It skips sessions that have ended.
func (c *conn) remember(all []askedKeys) error {
	groups := map[sessionKind][]group{}
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
			_ = json.Compact(&merge, a.Merge) // cannot fail: encoding/json has read a.Merge
		}
		k := s.kindOf(a.Entries)
		groups[k] = append(groups[k], group{merge.Bytes(), a.Keys})
	}
	for k, g := range groups {
		c.server.history.put(k, g)
	}
	return nil
}

// kindOf returns the kind of a session whose client asks for the given entries.
func (s *session) kindOf(entries string) sessionKind {
	return sessionKind{path: s.path, entries: entries, alike: s.request().Alike()}
}

// aheadKeys lists the keys that a session is likely to ask for, in some entries. complete means that the last group
// includes all keys and lookup_options.
type aheadKeys struct {
	entries  string
	groups   []group
	complete bool
}

// sendAhead answers for the keys that the last session of the same kind asked for. From and To select a range of
// each group. If To is 0, the range extends to the end of the group. If the history is empty, sendAhead sends all
// keys of a small snapshot.
func (c *conn) sendAhead(s *session, q *question) error {
	if q.From < 0 || q.To != 0 && q.To < q.From {
		return failed(bindings.CodeUsage, "expected members from and to with 0 <= from <= to, or no member to")
	}
	groups, complete := c.keysAhead(s, q)
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
		if err := c.appendGroup(s, q.Entries, group{g.merge, g.keys[q.From:to]}, limit); err != nil {
			return err
		}
		if complete && i == len(groups)-1 && to == len(g.keys) {
			c.answer = append(c.answer[:len(c.answer)-1], `,"complete":true}`...)
		}
	}
	c.answer = append(c.answer, "]}"...)
	return nil
}

// keysAhead returns the keys that a question selects its range from. The history may change between two questions, but
// a client takes all ranges for parts of one list. So the session keeps the list from the range that begins it to the
// range that ends it. Without its beginning, no list is complete.
func (c *conn) keysAhead(s *session, q *question) (groups []group, complete bool) {
	list := s.ahead
	if q.From == 0 || list == nil || list.entries != q.Entries {
		list = &aheadKeys{entries: q.Entries, groups: c.server.history.get(s.kindOf(q.Entries))}
		if list.groups == nil {
			list.groups, list.complete = s.guess(q.Entries)
			list.complete = list.complete && q.From == 0
		}
	}
	s.ahead = list
	if q.To == 0 {
		s.ahead = nil
	}
	return list.groups, list.complete
}

// guess returns the keys that a session is likely to ask for. Every client asks for lookup_options first: with a hash
// merge for entries of Hiera 5, without a merge for locations. complete reports whether the last group includes all
// keys and lookup_options.
func (s *session) guess(entries string) (groups []group, complete bool) {
	options := group{keys: []string{lookupOptions}}
	if entries != "" && (*lookup.Snapshot)(s.info.snapshot).Hiera() {
		options.merge = hashMerge
	}
	all := s.info.keysBelow("", false, entries != "")
	if len(all) > maxGuess {
		return []group{options}, false
	}
	if options.merge != nil {
		return []group{options, {keys: all}}, true
	}
	all = slices.DeleteFunc(all, func(key string) bool { return key == lookupOptions })
	return []group{{keys: append(options.keys, all...)}}, true
}

// appendGroup appends the answers for a group of keys. Once the answer has reached limit, it only lists the keys.
func (c *conn) appendGroup(s *session, entries string, g group, limit int) error {
	look, err := s.lookFuncFor(&question{Entries: entries, Merge: g.merge})
	if err != nil {
		return err
	}
	w := newValueWriter(c.answer)
	for _, key := range g.keys {
		v, found, secret, err := look(key)
		switch {
		case secret || w.size() > limit:
			w.withheld = appendItem(w.withheld, key)
		case !found && err == nil:
			w.absent = appendItem(w.absent, key)
		default:
			if err := w.add(key, v, found, err); err != nil {
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

// digestOf returns a digest of groups, whatever their order.
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

// sizeOf estimates how many bytes of memory groups take.
func sizeOf(groups []group) (n int) {
	for _, g := range groups {
		n += len(g.merge) + groupBytes
		for _, key := range g.keys {
			n += cmp.Or((len(key)+7)/8*8, 8) + keyBytes
		}
	}
	return n
}
