package yaml

import (
	"math"

	"bindc/diag"
	"bindc/internal/value"
)

// mapping collects the entries of a hash and finds duplicate keys.
type mapping struct {
	*report
	kids    []Node
	texts   textIndex     // index of string keys; empty while there are few entries
	others  map[keyID]int // index of other keys
	indexed int           // number of kids that are in texts or others, including values
	merged  map[int]bool  // indexes in kids of keys that came from a merge key; may be nil
}

// keyID identifies a key that is not a string. The keys 1 and 1.0 are different.
type keyID struct {
	kind value.Kind
	num  uint64
	text string // encoding of a value that is neither a float nor an integer
}

// indexFrom is the number of entries from which an index is faster than a linear search.
const indexFrom = 12

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

func (m *mapping) find(key *Node) (at int, ok bool) {
	if len(m.kids) >= 2*indexFrom {
		m.index()
	}
	text, isText := key.Text()
	switch {
	case m.indexed == 0:
		return m.scan(key, text, isText)
	case isText:
		return m.texts.find(m.kids, text)
	}
	at, ok = m.others[identify(key)]
	return at, ok
}

// clear removes all entries, but keeps the memory of texts.
func (m *mapping) clear() {
	m.texts.clear()
	*m = mapping{texts: m.texts}
}

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

func (m *mapping) index() {
	for ; m.indexed < len(m.kids); m.indexed += 2 {
		if _, ok := m.kids[m.indexed].Text(); ok {
			m.texts.add(m.kids, m.indexed)
			continue
		}
		if m.others == nil {
			m.others = map[keyID]int{}
		}
		m.others[identify(&m.kids[m.indexed])] = m.indexed
	}
}

// set adds an entry from the source. It replaces an entry with the same key, and reports the duplicate key unless the
// earlier entry comes from a merge key or the options allow it.
func (m *mapping) set(key, val Node) {
	if key.isNoKey() {
		key.Unfit = NoKey
	}
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

// isNoKey reports whether n does not have Puppet's type RichDataKey, which the keys of all hashes in data must have.
func (n *Node) isNoKey() bool {
	switch n.Value.Kind() {
	case value.Undef, value.Bool: // also the Value of a hash or list
		return true
	case value.Float:
		return math.IsNaN(n.Value.Float())
	}
	return false
}

func (m *mapping) add(key, val Node) { m.kids = append(m.kids, key, val) }

func (m *mapping) twice(first, second *Node) {
	note := diag.Note{Pos: m.doc.Pos(first), Message: "it is first given here"}
	what := "the key " + second.name() + " is given twice in one hash"
	if m.opts.LastKeyWins {
		m.warn(m.doc.Pos(second), "yaml_duplicate_key", what+"; this last value is used", "remove one of the two",
			note)
		return
	}
	m.fail(m.doc.Pos(second), "yaml_duplicate_key", what, "remove one of the two", note)
}

func (n *Node) name() string {
	if text, ok := n.Text(); ok {
		return "'" + value.Shorten(text) + "'"
	}
	return n.Describe()
}
