package loader

import (
	"math"

	"bindc/internal/set"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// hider finds what is sensitive in one file of structured bindings.
type hider struct {
	document
	secrets map[string]bool // the ids of sensitive multibindings of the site
}

// hideSensitive keeps the lines of all that is said to be sensitive out of messages, wherever it stands: also where no
// binding is expected. n has lines from first to last.
func (r *hider) hideSensitive(n *yaml.Node, first, last int) {
	if r.saysSensitive(n) {
		r.hide(n, first, last)
		return
	}
	for i := range n.Kids {
		kidFirst, kidLast := int(n.Kids[i].Line), last
		if kidFirst < first || kidFirst > last {
			kidLast = math.MaxInt // reached through an alias: where it ends is not known
		} else if i+1 < len(n.Kids) && int(n.Kids[i+1].Line) >= kidFirst {
			kidLast = r.lineBefore(&n.Kids[i+1])
		}
		r.hideSensitive(&n.Kids[i], kidFirst, max(kidFirst, kidLast))
	}
}

// saysSensitive tells whether n has an attribute that makes it sensitive, or was meant to; or contributes to what is.
func (r *hider) saysSensitive(n *yaml.Node) bool {
	return saysSensitive(n) || r.contributesToSecret(n)
}

func saysSensitive(n *yaml.Node) bool {
	_, flag, ok := n.Lookup("sensitive")
	return ok && (flag.Value.Kind() != value.Bool || flag.Value.Bool())
}

// contributesToSecret tells whether n is a contribution to a sensitive multibinding, wherever that stands.
func (r *hider) contributesToSecret(n *yaml.Node) bool {
	_, in, ok := n.Lookup("in")
	return ok && r.secrets[set.Text(in.Value)]
}

// secretMultibindings adds the ids of the sensitive multibindings below n.
func secretMultibindings(n *yaml.Node, ids map[string]bool) {
	if _, id, ok := n.Lookup("multibind_id"); ok && saysSensitive(n) {
		ids[set.Text(id.Value)] = true
	}
	for i := range n.Kids {
		secretMultibindings(&n.Kids[i], ids)
	}
}

// hide hides the lines of n, and of what its aliases refer to.
func (r *hider) hide(n *yaml.Node, first, last int) {
	if line := int(n.Line); line < first || line > last {
		first, last = line, math.MaxInt
	}
	r.diags.Hide(r.File, first, last)
	for i := range n.Kids {
		if kid := &n.Kids[i]; int(kid.Line) < first || int(kid.Line) > last {
			r.hide(kid, int(kid.Line), math.MaxInt)
		}
	}
}

// lineBefore is the last line with anything of what stands before n: the line of n itself, unless n begins it.
func (r *hider) lineBefore(n *yaml.Node) int {
	if r.Begins(n) {
		return int(n.Line) - 1
	}
	return int(n.Line)
}
