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

// maxAhead is the size in bytes up to which an answer includes values that the client has not asked for. After that, it
// lists only the keys.
const maxAhead = 1 << 20

// maxGuess is the largest number of keys in a snapshot for which guess returns all keys.
const maxGuess = 1000

// askedKeys lists keys that a client asked for in a session, all with the same merge strategy and range of entries.
type askedKeys struct {
	Session *int64          `json:"session"`
	Entries string          `json:"entries"`
	Merge   json.RawMessage `json:"merge"` // if missing, values are not merged
	Keys    []string        `json:"keys"`
}

// group lists keys to look up with the same merge strategy.
type group struct {
	merge json.RawMessage
	keys  []string
}

// hashMerge is the merge strategy with which Puppet looks up lookup_options.
var hashMerge = json.RawMessage(`{"strategy":"hash"}`)

// remember adds to the history the keys that earlier sessions of this connection asked for. It skips sessions that have
// ended.
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
			_ = json.Compact(&merge, a.Merge) // cannot fail, because encoding/json has parsed a.Merge
		}
		k := s.kindOf(a.Entries)
		groups[k] = append(groups[k], group{merge.Bytes(), a.Keys})
	}
	for k, g := range groups {
		c.server.history.put(k, g)
	}
	return nil
}

// kindOf returns the kind of s when its client asks for the given entries.
func (s *session) kindOf(entries string) sessionKind {
	return sessionKind{path: s.path, entries: entries, alike: s.request().Alike()}
}

// aheadKeys lists the keys that a session is likely to ask for in a range of entries. complete means that the last
// group has all keys of the snapshot and lookup_options.
type aheadKeys struct {
	entries  string
	groups   []group
	complete bool
}

// sendAhead sends the values of the keys that s is likely to ask for, before the client asks. From and To select a
// range of each group. If To is 0, the range extends to the end of the group.
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

// keysAhead returns the list of keys from which q selects a range. A client joins the answers for all ranges to one
// list, but the history may change between its questions. So the session keeps the list until it has answered for the
// last range. complete is false unless the list was made for a range from 0.
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

// guess returns the keys that a session is likely to ask for if the history has none. Every client asks for
// lookup_options first: with a hash merge for entries of Hiera 5, without a merge for locations. complete is as in
// aheadKeys.
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

// appendGroup appends the values of the keys in g to the answer. Once the answer is longer than limit, it lists only
// the keys.
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

// digestOf returns a digest of groups that does not depend on their order.
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

// sizeOf estimates the memory that groups take, in bytes.
func sizeOf(groups []group) (n int) {
	for _, g := range groups {
		n += len(g.merge) + groupBytes
		for _, key := range g.keys {
			n += cmp.Or((len(key)+7)/8*8, 8) + keyBytes
		}
	}
	return n
}
