package yaml

import (
	"bindc/diag"
	"bindc/internal/value"
)

// mergeKey is a key whose value, a hash or a list of hashes, is merged into the hash that contains it.
const mergeKey = "<<"

// merge adds the entries of val, the value of the merge key at pos. They replace earlier entries of the hash that
// have the same keys. If val is a list of hashes, earlier hashes win over later ones.
func (m *mapping) merge(pos diag.Pos, val *Node) {
	if m.merged == nil {
		m.merged = map[int]bool{}
	}
	switch {
	case val.Kind == Mapping:
		m.mergeHash(pos, val)
	case val.Kind == Sequence && allMappings(val.Kids):
		for i := len(val.Kids) - 1; i >= 0; i-- { // backwards, to get Psych's order of keys
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

// replaced warns that the merge key at pos replaces the value of a key before it. In Psych, and therefore in Puppet's
// Hiera, the last value wins. By the YAML type repository, the key in the hash would win.
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
