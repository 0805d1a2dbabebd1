package yaml

import (
	"math"

	"bindc/internal/diag"
	"bindc/internal/value"
)

// mapping collects the entries of one Mapping.
type mapping struct {
	*report
	kids   []Node
	index  map[keyID]int // from a key to its place in kids; nil while there are few
	merged map[int]bool  // places in kids of the keys that came through a merge key; nil until there is one
}

// keyID is what makes two keys the same: 1, 1.0 and '1' are three keys.
type keyID struct {
	kind value.Kind
	num  uint64
	text string // of a list or hash as key: its encoding
}

// indexFrom is the number of entries from which an index is quicker than looking at each.
const indexFrom = 12

func identify(n *Node) keyID {
	v := n.Literal()
	switch id := (keyID{kind: v.Kind()}); id.kind {
	case value.String:
		id.text = v.Text()
		return id
	case value.Float:
		id.num = math.Float64bits(v.Float())
		return id
	case value.Int:
		id.num = uint64(v.Int())
		return id
	default:
		id.text = string(value.Append(nil, v))
		return id
	}
}

// find is the place of key in kids.
func (m *mapping) find(key *Node) (at int, ok bool) {
	if m.index == nil && len(m.kids) >= 2*indexFrom {
		m.index = make(map[keyID]int, cap(m.kids)/2)
		for i := 0; i < len(m.kids); i += 2 {
			m.index[identify(&m.kids[i])] = i
		}
	}
	if m.index != nil {
		at, ok = m.index[identify(key)]
		return at, ok
	}
	if text, isText := key.Text(); isText {
		for i := 0; i < len(m.kids); i += 2 {
			if s, ok := m.kids[i].Text(); ok && s == text {
				return i, true
			}
		}
		return 0, false
	}
	id := identify(key)
	for i := 0; i < len(m.kids); i += 2 {
		if identify(&m.kids[i]) == id {
			return i, true
		}
	}
	return 0, false
}

// set takes an entry as it is written. A key that came through a merge key before gives way to it.
func (m *mapping) set(key, val Node) {
	at, ok := m.find(&key)
	if !ok {
		m.add(key, val)
		return
	}
	if !m.merged[at] {
		m.twice(&m.kids[at], &key)
	}
	delete(m.merged, at)
	m.kids[at], m.kids[at+1] = key, val
}

func (m *mapping) add(key, val Node) {
	if m.index != nil {
		m.index[identify(&key)] = len(m.kids)
	}
	m.kids = append(m.kids, key, val)
}

// twice reports that a key is given a second time.
func (m *mapping) twice(first, second *Node) {
	note := diag.Note{Pos: m.doc.Pos(first), Message: "it is given here for the first time"}
	what := "the key " + second.Describe() + " is given twice in one hash"
	if m.opts.LastKeyWins {
		m.warn(m.doc.Pos(second), "yaml_duplicate_key", what+"; this one, the last, counts", "remove one of the two", note)
		return
	}
	m.fail(m.doc.Pos(second), "yaml_duplicate_key", what, "remove one of the two", note)
}
