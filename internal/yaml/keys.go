package yaml

import (
	"slices"

	"bindc/internal/diag"
)

// UnknownKeys is an error for each key of hash n that is none of allowed; what says what such a key is.
func (d *Document) UnknownKeys(n *Node, code diag.Code, what string, allowed []string) (out []diag.Diagnostic) {
	for key := range n.Pairs() {
		name, isText := key.Text()
		if isText && slices.Contains(allowed, name) {
			continue
		}
		out = append(out, diag.Unknown(d.Pos(key), code, what, name, key.Describe(), allowed))
	}
	return out
}
