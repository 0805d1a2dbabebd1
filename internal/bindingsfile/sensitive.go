package bindingsfile

import (
	"bytes"
	"math"

	"bindc/diag"
	"bindc/internal/pattern"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

var (
	word          = pattern.Lazy(`[A-Za-z]+`)
	sensitiveFlag = []string{"sensitive"}
)

// meansSensitive reports whether word is sensitive or a misspelling of it. A misspelt attribute is
// an error, but its message must not reveal the value.
func meansSensitive(word []byte) bool {
	return string(word) == "sensitive" || bytes.IndexAny(word, "sS") == 0 &&
		diag.DidYouMean(string(word), sensitiveFlag) != ""
}

// Source is a parsed bindings file in YAML or Puppet syntax.
type Source interface {
	// Secrets sets ids[id] for each sensitive multibinding in the file.
	Secrets(ids map[string]bool)

	// Read returns the statements of the file, or nil if it is not a bindings file. Messages will
	// not quote the lines of sensitive bindings. They will not quote contributions to multibindings
	// in secrets either, which contains the ids set by Secrets for all files.
	Read(secrets map[string]bool, diags *diag.List) *File
}

type YAML struct{ *yaml.Document }

// Secrets implements Source. It even finds multibindings in places where none are allowed.
func (y YAML) Secrets(ids map[string]bool) {
	if y.Root != nil {
		addSecrets(y.Root, ids)
	}
}

func addSecrets(n *yaml.Node, ids map[string]bool) {
	if _, id, ok := n.Lookup("multibind_id"); ok && isMarkedSensitive(n) {
		ids[scalarText(id.Value)] = true
	}
	for i := range n.Kids {
		addSecrets(&n.Kids[i], ids)
	}
}

// hider prevents messages from quoting the sensitive lines of a file.
type hider struct {
	*yaml.Document
	diags   *diag.List
	secrets map[string]bool // ids of the sensitive multibindings in the site
}

// hideSensitive hides the lines of all sensitive nodes in n, even of those in places where no
// binding is allowed. first and last are the lines of n.
func (h *hider) hideSensitive(n *yaml.Node, first, last int) {
	if isMarkedSensitive(n) || h.contributesToSecret(n) {
		h.diags.Hide(h.File, first, last)
		h.hideElsewhere(n, first, last)
		return
	}
	for i := range n.Kids {
		kidFirst, kidLast := int(n.Kids[i].Line), last
		if kidFirst < first || kidFirst > last {
			kidLast = math.MaxInt // the last line of an alias's target is not known
		} else if i+1 < len(n.Kids) && int(n.Kids[i+1].Line) >= kidFirst {
			kidLast = h.lineBefore(&n.Kids[i+1])
		}
		h.hideSensitive(&n.Kids[i], kidFirst, max(kidFirst, kidLast))
	}
}

// isMarkedSensitive reports whether n has the attribute sensitive, or a misspelling of it, and the
// attribute is not false.
func isMarkedSensitive(n *yaml.Node) bool {
	for key, flag := range n.Pairs() {
		name, _ := key.Text()
		if meansSensitive([]byte(name)) && (flag.Value.Kind() != value.Bool || flag.Value.Bool()) {
			return true
		}
	}
	return false
}

// contributesToSecret reports whether n is a contribution to a sensitive multibinding.
func (h *hider) contributesToSecret(n *yaml.Node) bool {
	_, in, ok := n.Lookup("in")
	return ok && h.secrets[scalarText(in.Value)]
}

// hideElsewhere hides the targets of YAML aliases in n. They may be outside first to last, the
// lines of n.
func (h *hider) hideElsewhere(n *yaml.Node, first, last int) {
	if line := int(n.Line); line < first || line > last {
		first, last = line, math.MaxInt // the last line of the target is not known
		h.diags.Hide(h.File, first, last)
	}
	for i := range n.Kids {
		h.hideElsewhere(&n.Kids[i], first, last)
	}
}

// lineBefore returns the last line with text that precedes n. This is the line of n itself, unless
// n begins it.
func (h *hider) lineBefore(n *yaml.Node) int {
	if h.Begins(n) {
		return int(n.Line) - 1
	}
	return int(n.Line)
}
