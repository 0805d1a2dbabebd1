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

// meansSensitive reports whether word is 'sensitive' or a misspelling of it. A misspelt flag is an error, but messages
// must still hide the binding.
func meansSensitive(word []byte) bool {
	return string(word) == "sensitive" || bytes.IndexAny(word, "sS") == 0 &&
		diag.DidYouMean(string(word), sensitiveFlag) != ""
}

// Source is a parsed bindings file in either syntax.
type Source interface {
	// Secrets adds the ids of sensitive multibindings to ids.
	Secrets(ids map[string]bool)

	// Read reads the statements of the file, and returns nil if that is impossible. In messages, it hides the lines of
	// sensitive bindings, and of contributions to the sensitive multibindings in secrets.
	Read(secrets map[string]bool, diags *diag.List) *File
}

// YAML is a parsed bindings file in YAML or JSON.
type YAML struct{ *yaml.Document }

// Secrets adds the ids of sensitive multibindings to ids. It also finds multibindings where the syntax allows none.
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

// hider hides the sensitive lines of a file in messages.
type hider struct {
	*yaml.Document
	diags   *diag.List
	secrets map[string]bool // ids of sensitive multibindings in the site
}

// hideSensitive hides the lines of each sensitive node in n, which spans the lines from first to last. It also finds
// bindings that are in the wrong place.
func (h *hider) hideSensitive(n *yaml.Node, first, last int) {
	if isMarkedSensitive(n) || h.contributesToSecret(n) {
		h.diags.Hide(h.File, first, last)
		h.hideElsewhere(n, first, last)
		return
	}
	for i := range n.Kids {
		kidFirst, kidLast := int(n.Kids[i].Line), last
		if kidFirst < first || kidFirst > last {
			kidLast = math.MaxInt // the end of an alias's target is unknown
		} else if i+1 < len(n.Kids) && int(n.Kids[i+1].Line) >= kidFirst {
			kidLast = h.lineBefore(&n.Kids[i+1])
		}
		h.hideSensitive(&n.Kids[i], kidFirst, max(kidFirst, kidLast))
	}
}

// isMarkedSensitive reports whether n has the attribute 'sensitive', or a misspelling of it, with a value other than
// false.
func isMarkedSensitive(n *yaml.Node) bool {
	for key, flag := range n.Pairs() {
		name, _ := key.Text()
		if meansSensitive([]byte(name)) && (flag.Value.Kind() != value.Bool || flag.Value.Bool()) {
			return true
		}
	}
	return false
}

// contributesToSecret reports whether n contributes to a sensitive multibinding.
func (h *hider) contributesToSecret(n *yaml.Node) bool {
	_, in, ok := n.Lookup("in")
	return ok && h.secrets[scalarText(in.Value)]
}

// hideElsewhere hides the targets of YAML aliases in n that are outside the lines of n, first to last.
func (h *hider) hideElsewhere(n *yaml.Node, first, last int) {
	if line := int(n.Line); line < first || line > last {
		first, last = line, math.MaxInt // the end of the target is unknown
		h.diags.Hide(h.File, first, last)
	}
	for i := range n.Kids {
		h.hideElsewhere(&n.Kids[i], first, last)
	}
}

// lineBefore returns the last line that has text before n: the line of n, unless n is the first text in it.
func (h *hider) lineBefore(n *yaml.Node) int {
	if h.Begins(n) {
		return int(n.Line) - 1
	}
	return int(n.Line)
}
