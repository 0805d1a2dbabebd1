package policy

import (
	"slices"

	"bindc/diag"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// Requirement is a requirement on a value, in the syntax of policies but outside of a policy.
type Requirement struct{ claim claim }

// Equal returns the requirement that a value equals v.
func Equal(v value.Value) *Requirement { return &Requirement{claim{equals: &v, source: shown(v)}} }

// IsRequirement reports whether n is a hash with a single requirement, such as {bound: false}. It does not accept
// requirements on layers.
func IsRequirement(n *yaml.Node) bool {
	if n.Kind != yaml.Mapping || len(n.Kids) != 2 {
		return false
	}
	name, _ := n.Kids[0].Text()
	return name != "layers" && slices.Contains(requirements, name)
}

// ReadRequirement reads n, for which IsRequirement must be true. It reports errors with the given code; then ok is
// false.
func ReadRequirement(doc *yaml.Document, n *yaml.Node, code diag.Code, diags *diag.List) (out *Requirement, ok bool) {
	var own diag.List
	r := &reader{diags: &own, doc: doc}
	out = &Requirement{}
	name, _ := n.Kids[0].Text()
	ok = r.requirement(name, &n.Kids[1], &out.claim)
	for _, d := range own.Sorted() {
		d.Code = code
		diags.Add(d)
	}
	return out, ok
}

// OfValue checks the value that a lookup found. It returns "" if v is as required, and otherwise what is wrong. If
// secret is set, the text does not contain the value.
func (r *Requirement) OfValue(v value.Value, secret bool) string {
	return r.claim.ofValue(v, "", secret)
}

// OfNothing checks a lookup that found nothing. It returns "" only for {bound: false}.
func (r *Requirement) OfNothing() string {
	switch {
	case r.claim.bound != nil && !*r.claim.bound:
		return ""
	case r.claim.bound != nil:
		return "expected a value, found none"
	}
	return "expected " + r.claim.expected() + ", found no value"
}

// expected describes the required values for messages.
func (c *claim) expected() string {
	if c.satisfies != nil {
		return "a value that satisfies " + c.source
	}
	return c.source
}
