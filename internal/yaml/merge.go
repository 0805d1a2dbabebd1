package yaml

import (
	"bindc/diag"
	"bindc/internal/value"
)

// mergeKey is the key whose value, a hash or a list of hashes, is merged into its hash.
const mergeKey = "<<"

// merge adds the entries of val, the value of the merge key at pos. Keys written in the hash win over merged ones,
// earlier hashes of a list over later ones, and the second of two merge keys over the first.
func (m *mapping) merge(pos diag.Pos, val *Node) {
	if m.merged == nil {
		m.merged = map[int]bool{}
	}
	switch {
	case val.Kind == Mapping:
		m.mergeHash(pos, val)
	case val.Kind == Sequence && allMappings(val.Kids):
		for i := len(val.Kids) - 1; i >= 0; i-- { // in Psych's order, which the keys keep
			m.mergeHash(pos, &val.Kids[i])
		}
	default:
		m.fail(pos, "yaml_merge",
			"expected a hash or a list of hashes as value of the merge key '<<', found "+val.Describe(),
			"refer to a hash by its alias: '<<: *name'")
	}
}

func allMappings(nodes []Node) bool {
	for i := range nodes {
		if nodes[i].Kind != Mapping {
			return false
		}
	}
	return true
}

func (m *mapping) mergeHash(pos diag.Pos, from *Node) {
	for key, val := range from.Pairs() {
		at, ok := m.find(key)
		switch {
		case !ok:
			m.merged[len(m.kids)] = true
			m.add(*key, *val)
		case m.merged[at]:
			m.kids[at], m.kids[at+1] = *key, *val
		default:
			m.replaced(pos, at, val)
			m.kids[at+1] = *val
		}
	}
}

// replaced warns about a key that is written before the merge key and that the merge key changes. Psych, and so
// Puppet's Hiera, takes whichever comes last; the YAML type repository lets the written key win.
func (m *mapping) replaced(pos diag.Pos, at int, val *Node) {
	key, own := &m.kids[at], &m.kids[at+1]
	if own.Kind == Scalar && val.Kind == Scalar && value.Identical(own.Value, val.Value) {
		return
	}
	m.warn(m.doc.Pos(key), "yaml_merge",
		"the key "+key.name()+" loses this value to a merge key that comes after it, as in Ruby's YAML",
		"write '<<' before the keys that replace merged ones",
		diag.Note{Pos: pos, Message: "the merge key"}, diag.Note{Pos: m.doc.Pos(val), Message: "the merged value"})
}
