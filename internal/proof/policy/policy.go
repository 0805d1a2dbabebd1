// Package policy proves policies: statements about values that must hold for every request that could ever be made.
// See docs/guide/policies.md. The region of a policy is the set of requests to which it applies. A policy holds if
// every binding that can win for a request in the region has a value that satisfies the policy.
//
// The files, in the order in which a proof uses them:
//
//	read.go, when.go    read policy files
//	claim.go            the requirement of a policy on a value
//	region.go           the requests of a policy, as alternatives of literals
//	space.go, solve.go  the variables that categories and paths depend on
//	doubt.go            finds bindings whose values may break a policy
//	table.go            the bindings of each key, by precedence
//	prove.go            decides whether such a binding can win
//	confirm.go          looks each of them up with the facts of a witness
//	nodes.go            decides policies for given nodes
//	report.go           diagnostics
package policy

import (
	"regexp"
	"strings"

	"bindc/diag"
	"bindc/internal/value"
)

// Code is the code of all diagnostics about policies.
const Code = "policy"

// Policy is a statement about the values of certain keys, for all requests or for some.
type Policy struct {
	Name   string
	At     diag.Pos
	Digest string // SHA-256 of the policy file in hexadecimal

	key    string         // the key, or "" if there is a pattern
	keys   *regexp.Regexp // pattern for the keys, or nil if there is a single key
	below  bool           // matchesBelow for the pattern
	prefix string         // prefix that all matching keys have
	source string         // key or pattern, for messages
	region *condition     // nil for all requests
	claim  claim
}

func (p *Policy) concerns(key string) bool {
	switch {
	case p.keys == nil:
		return key == p.key
	case p.below: // the regexp gives the same answer, but takes longer
		rest, ok := strings.CutPrefix(key, p.prefix)
		return ok && (p.prefix == "" || rest == "" || strings.HasPrefix(rest, "::"))
	}
	return p.keys.MatchString(key)
}

// matchesBelow reports whether patterns is only '**', or a name and '::**'.
func matchesBelow(patterns []string) bool {
	before, ok := strings.CutSuffix(patterns[0], "**")
	name, nested := strings.CutSuffix(before, "::")
	return len(patterns) == 1 && ok && !strings.Contains(before, "*") && (before == "" || nested && name != "")
}

// keyPattern returns a regexp for the keys that match any of the patterns. In a pattern, '*' matches inside a segment
// and '**' matches any number of segments.
func keyPattern(patterns []string) *regexp.Regexp {
	var alternatives []string
	for _, pattern := range patterns {
		var b strings.Builder
		segments := strings.Split(pattern, "::")
		for i, s := range segments {
			switch last := i == len(segments)-1; {
			case s == "**" && last && i > 0:
				text := strings.TrimSuffix(b.String(), "::")
				b.Reset()
				b.WriteString(text + "(::.*)?")
			case s == "**" && last:
				b.WriteString(".*")
			case s == "**":
				b.WriteString("(.*::)?")
			default:
				parts := strings.Split(s, "*")
				for i := range parts {
					parts[i] = regexp.QuoteMeta(parts[i])
				}
				b.WriteString(strings.Join(parts, "[^:]*"))
				if !last {
					b.WriteString("::")
				}
			}
		}
		alternatives = append(alternatives, b.String())
	}
	return regexp.MustCompile("^(?s:" + strings.Join(alternatives, "|") + ")$")
}

// prefixOf returns a prefix that all keys matching the patterns have, or "".
func prefixOf(patterns []string) string {
	if len(patterns) != 1 {
		return ""
	}
	before, _, _ := strings.Cut(patterns[0], "*")
	return strings.TrimSuffix(before, "::")
}

// shown formats a value for a message and cuts it off if it is long.
func shown(v value.Value) string {
	const longest = 60
	text := []rune(string(value.AppendJSON(nil, v)))
	if len(text) > longest {
		return string(text[:longest]) + "…"
	}
	return string(text)
}
