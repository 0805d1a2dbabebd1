package yaml

import (
	"math"

	"bindc/diag"
	"bindc/internal/value"
)

// mapping collects the entries of one Mapping.
type mapping struct {
	*report
	kids    []Node
	texts   map[string]int // from a string key to its place in kids; nil while there are few entries
	others  map[keyID]int  // the same for other keys
	indexed int            // how many of kids are in texts and others
	merged  map[int]bool   // places in kids of the keys that came through a merge key; nil until there is one
}

// keyID is what makes two keys that are no strings the same: 1 and 1.0 are two keys.
type keyID struct {
	kind value.Kind
	num  uint64
	text string // of a list or hash as key: its encoding
}

// indexFrom is the number of entries from which an index is quicker than looking at each.
const indexFrom = 12

// identify identifies a key that is no string.
func identify(n *Node) keyID {
	v := n.Literal()
	id := keyID{kind: v.Kind()}
	switch id.kind {
	case value.Float:
		id.num = math.Float64bits(v.Float())
	case value.Int:
		id.num = uint64(v.Int())
	default:
		id.text = string(value.Append(nil, v))
	}
	return id
}

// find is the place of key in kids.
func (m *mapping) find(key *Node) (at int, ok bool) {
	if len(m.kids) >= 2*indexFrom {
		m.index()
	}
	text, isText := key.Text()
	switch {
	case m.texts == nil:
		return m.scan(key, text, isText)
	case isText:
		at, ok = m.texts[text]
	default:
		at, ok = m.others[identify(key)]
	}
	return at, ok
}

// scan finds a key among few.
func (m *mapping) scan(key *Node, text string, isText bool) (at int, ok bool) {
	var id keyID
	if !isText {
		id = identify(key)
	}
	for i := 0; i < len(m.kids); i += 2 {
		s, ok := m.kids[i].Text()
		if ok == isText && s == text && (isText || identify(&m.kids[i]) == id) {
			return i, true
		}
	}
	return 0, false
}

// index puts the keys into the index that are not in it yet.
func (m *mapping) index() {
	if m.texts == nil {
		m.texts, m.others = make(map[string]int, len(m.kids)), map[keyID]int{}
	}
	for ; m.indexed < len(m.kids); m.indexed += 2 {
		if text, ok := m.kids[m.indexed].Text(); ok {
			m.texts[text] = m.indexed
		} else {
			m.others[identify(&m.kids[m.indexed])] = m.indexed
		}
	}
}

// set takes an entry as it is written. A key that came through a merge key before gives way to it.
func (m *mapping) set(key, val Node) {
	at, ok := m.find(&key)
	if !ok {
		m.add(key, val)
		return
	}
	if !m.merged[at] && !(m.opts.SameValueTwice && value.Same(m.kids[at+1].Literal(), val.Literal())) {
		m.twice(&m.kids[at], &key)
	}
	delete(m.merged, at)
	m.kids[at], m.kids[at+1] = key, val
}

func (m *mapping) add(key, val Node) { m.kids = append(m.kids, key, val) }

// twice reports that a key is given a second time.
func (m *mapping) twice(first, second *Node) {
	note := diag.Note{Pos: m.doc.Pos(first), Message: "it is given here for the first time"}
	what := "the key " + second.name() + " is given twice in one hash"
	if m.opts.LastKeyWins {
		m.warn(m.doc.Pos(second), "yaml_duplicate_key", what+"; this one, the last, counts", "remove one of the two",
			note)
		return
	}
	m.fail(m.doc.Pos(second), "yaml_duplicate_key", what, "remove one of the two", note)
}

// name is a key for a message.
func (n *Node) name() string {
	if text, ok := n.Text(); ok {
		return "'" + value.Shorten(text) + "'"
	}
	return n.Describe()
}
