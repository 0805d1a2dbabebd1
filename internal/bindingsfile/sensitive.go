package bindingsfile

import (
	"bytes"
	"math"
	"regexp"

	"bindc/diag"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

var (
	word          = regexp.MustCompile(`[A-Za-z]+`)
	sensitiveFlag = []string{"sensitive"}
)

// meansSensitive reports whether a word is 'sensitive' or a misspelling of it. A misspelt flag is an error, and the
// value stays hidden all the same.
func meansSensitive(word []byte) bool {
	return string(word) == "sensitive" || bytes.IndexAny(word, "sS") == 0 &&
		diag.DidYouMean(string(word), sensitiveFlag) != ""
}

// Source is a parsed file of bindings, in either syntax.
type Source interface {
	// Secrets adds the ids of the multibindings that are sensitive.
	Secrets(ids map[string]bool)

	// Read reads the file; it returns nil if it cannot. It hides sensitive bindings from
	// messages, and contributions to the multibindings in secrets.
	Read(secrets map[string]bool, diags *diag.List) *File
}

// YAML is a parsed file in YAML or JSON.
type YAML struct{ *yaml.Document }

// Secrets adds the ids of the multibindings that are sensitive, also of those where no binding is expected.
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

// hider hides the sensitive lines of a file from messages.
type hider struct {
	*yaml.Document
	diags   *diag.List
	secrets map[string]bool // the ids of sensitive multibindings of the site
}

// hideSensitive hides the lines of everything below n that is marked sensitive, also where no binding is expected.
// n has the lines from first to last.
func (h *hider) hideSensitive(n *yaml.Node, first, last int) {
	if isMarkedSensitive(n) || h.contributesToSecret(n) {
		h.diags.Hide(h.File, first, last)
		h.hideElsewhere(n, first, last)
		return
	}
	for i := range n.Kids {
		kidFirst, kidLast := int(n.Kids[i].Line), last
		if kidFirst < first || kidFirst > last {
			kidLast = math.MaxInt // reached through an alias: where it ends is not known
		} else if i+1 < len(n.Kids) && int(n.Kids[i+1].Line) >= kidFirst {
			kidLast = h.lineBefore(&n.Kids[i+1])
		}
		h.hideSensitive(&n.Kids[i], kidFirst, max(kidFirst, kidLast))
	}
}

// isMarkedSensitive reports whether n has an attribute that makes it sensitive, or was meant to.
func isMarkedSensitive(n *yaml.Node) bool {
	for key, flag := range n.Pairs() {
		name, _ := key.Text()
		if meansSensitive([]byte(name)) && (flag.Value.Kind() != value.Bool || flag.Value.Bool()) {
			return true
		}
	}
	return false
}

// contributesToSecret reports whether n is a contribution to a sensitive multibinding of the site.
func (h *hider) contributesToSecret(n *yaml.Node) bool {
	_, in, ok := n.Lookup("in")
	return ok && h.secrets[scalarText(in.Value)]
}

// hideElsewhere hides the targets of aliases in n that are outside the lines from first to last, which are hidden.
func (h *hider) hideElsewhere(n *yaml.Node, first, last int) {
	if line := int(n.Line); line < first || line > last {
		first, last = line, math.MaxInt // where it ends is not known
		h.diags.Hide(h.File, first, last)
	}
	for i := range n.Kids {
		h.hideElsewhere(&n.Kids[i], first, last)
	}
}

// lineBefore returns the last line with text before n: the line of n itself, unless n begins it.
func (h *hider) lineBefore(n *yaml.Node) int {
	if h.Begins(n) {
		return int(n.Line) - 1
	}
	return int(n.Line)
}
