package bindingsfile

import (
	"bytes"
	"math"
	"regexp"

	"bindc/internal/diag"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

var (
	word          = regexp.MustCompile(`[A-Za-z]+`)
	sensitiveFlag = []string{"sensitive"}
)

// meansSensitive tells whether a word is 'sensitive', or was meant to be: what is misspelt is refused, and is to be
// shown no more for that.
func meansSensitive(word []byte) bool {
	return string(word) == "sensitive" || bytes.IndexAny(word, "sS") == 0 &&
		diag.DidYouMean(string(word), sensitiveFlag) != ""
}

// Source is a file of bindings that was parsed.
type Source interface {
	// Secrets adds the ids of the multibindings that are sensitive.
	Secrets(ids map[string]bool)

	// Read is the set in it, nil if there is none. What is sensitive, by itself or because it contributes to one of
	// secrets, is kept out of messages.
	Read(secrets map[string]bool, diags *diag.List) *Set
}

// YAML is a set that is written in YAML.
type YAML struct{ *yaml.Document }

// Secrets adds the ids of the multibindings that are sensitive, wherever they stand.
func (y YAML) Secrets(ids map[string]bool) {
	if y.Root != nil {
		addSecrets(y.Root, ids)
	}
}

func addSecrets(n *yaml.Node, ids map[string]bool) {
	if _, id, ok := n.Lookup("multibind_id"); ok && saysSensitive(n) {
		ids[Text(id.Value)] = true
	}
	for i := range n.Kids {
		addSecrets(&n.Kids[i], ids)
	}
}

// hider keeps what is sensitive in a file out of messages.
type hider struct {
	*yaml.Document
	diags   *diag.List
	secrets map[string]bool // the ids of sensitive multibindings of the site
}

// hideSensitive keeps the lines of all that is said to be sensitive out of messages, wherever it stands: also where no
// binding is expected. n has lines from first to last.
func (h *hider) hideSensitive(n *yaml.Node, first, last int) {
	if saysSensitive(n) || h.contributesToSecret(n) {
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

// saysSensitive tells whether n has an attribute that makes it sensitive, or was meant to.
func saysSensitive(n *yaml.Node) bool {
	for key, flag := range n.Pairs() {
		name, _ := key.Text()
		if meansSensitive([]byte(name)) && (flag.Value.Kind() != value.Bool || flag.Value.Bool()) {
			return true
		}
	}
	return false
}

// contributesToSecret tells whether n is a contribution to a sensitive multibinding, wherever that stands.
func (h *hider) contributesToSecret(n *yaml.Node) bool {
	_, in, ok := n.Lookup("in")
	return ok && h.secrets[Text(in.Value)]
}

// hideElsewhere hides what n has outside of the lines from first to last, which are hidden: what its aliases refer to.
func (h *hider) hideElsewhere(n *yaml.Node, first, last int) {
	if line := int(n.Line); line < first || line > last {
		first, last = line, math.MaxInt // where it ends is not known
		h.diags.Hide(h.File, first, last)
	}
	for i := range n.Kids {
		h.hideElsewhere(&n.Kids[i], first, last)
	}
}

// lineBefore is the last line with anything of what stands before n: the line of n itself, unless n begins it.
func (h *hider) lineBefore(n *yaml.Node) int {
	if h.Begins(n) {
		return int(n.Line) - 1
	}
	return int(n.Line)
}
