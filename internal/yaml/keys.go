package yaml

import (
	"fmt"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/value"
)

// UnknownKeys returns an error for each key of the hash n that is not in allowed. kind describes the keys in
// messages.
func (d *Document) UnknownKeys(n *Node, code diag.Code, kind string, allowed []string) (out []diag.Diagnostic) {
	for key := range n.Pairs() {
		name, isText := key.Text()
		if isText && slices.Contains(allowed, name) {
			continue
		}
		unknown := diag.Unknown(d.Pos(key), code, kind, name, key.Describe(), allowed)
		switch {
		case strings.Contains(name, arrow):
			unknown.Hint, unknown.Fix = arrowHint, arrowFix
		case strings.Contains(name, " = "):
			unknown.Hint, unknown.Fix = "write ': ' instead of '='", diag.Fix{Old: " = ", New: ": ", Syntax: true}
		}
		out = append(out, unknown)
	}
	return out
}

// CheckVersion returns an error unless the value of the top-level key is the integer want.
func (d *Document) CheckVersion(key string, want int64) *diag.Diagnostic {
	_, v, ok := d.Root.Lookup(key)
	if !ok {
		missing := &diag.Diagnostic{Pos: d.Pos(d.Root), Code: "version",
			Message: fmt.Sprintf("expected '%s: %d', which says how to read this file", key, want)}
		if at, _, ok := d.Root.Lookup("version"); ok {
			missing.Pos, missing.Hint = d.Pos(at), "it is called '"+key+"' here, not 'version'"
			missing.Fix = diag.MeantAs("version", key)
		}
		return missing
	}
	if v.Value.Kind() == value.Int && v.Value.Int() == want {
		return nil
	}
	return &diag.Diagnostic{Pos: d.Pos(v), Code: "version",
		Message: fmt.Sprintf("expected the integer %d for '%s', found %s", want, key, v.Describe())}
}
