package serve

import (
	"fmt"
	"strings"

	"bindc/internal/lookup"
	"bindc/internal/lookupkey"
	"bindc/internal/value"
)

func (c *conn) explain(s *session, q *question) error {
	key := *q.Key
	if quoted, ok := lookupkey.Quoted(key); ok && q.Entries != "" {
		key = quoted
	}
	e, err := s.request().Explain(key)
	if err != nil {
		return err
	}
	at := ""
	for _, b := range e.Candidates {
		if b.State == lookup.Wins {
			at = b.At
		}
	}
	lines, err := c.hierarchy(s, q, e)
	if err != nil {
		return err
	}
	if len(lines) == 0 || key != lookupOptions { // Hiera 5 does not bind lookup_options like other keys
		lines = append(lines, explanation(e, "")...)
	}
	if key == lookupOptions && len(s.info.merged) > 0 {
		lines = append(lines, "merge: first for keys that are already merged: "+strings.Join(s.info.merged, ", "))
	}
	lines = append(lines, "snapshot "+s.info.digest)
	c.answer = appendText(append(c.answer, `{"at":`...), at)
	c.answer = append(value.AppendJSON(append(c.answer, `,"lines":`...), value.Strings(lines...)), '}')
	return nil
}

// explanation formats e as lines. They have no values, because some are sensitive and Puppet shows the resulting value
// itself.
func explanation(e *lookup.Explanation, indent string) []string {
	var out []string
	notEffective := 0
	for _, b := range e.Candidates {
		if b.State == lookup.NotEffective {
			notEffective++
			continue
		}
		out = append(out, indent+binding(b))
	}
	if notEffective > 0 {
		out = append(out, fmt.Sprintf("%snot effective: %d more, whose conditions do not hold", indent, notEffective))
	}
	if len(e.Candidates) == 0 && !e.Outcome.Found {
		out = append(out, indent+"nothing binds this key")
	}
	for _, b := range e.Contributions {
		if b.State != lookup.NotEffective {
			out = append(out, indent+"contribution "+binding(b))
		}
	}
	if e.Outcome.Err != nil {
		out = append(out, indent+"error: "+e.Outcome.Err.Error())
	}
	for _, inner := range e.Lookups {
		out = append(out, indent+"lookup of "+inner.Key+":")
		out = append(out, explanation(inner, indent+"  ")...)
	}
	if e.Unexplained > 0 {
		out = append(out, fmt.Sprintf("%sand %d more lookups that are not shown", indent, e.Unexplained))
	}
	return out
}

// binding formats a binding, such as "wins: data/common.yaml:3:1 (site), when osfamily is debian".
func binding(b lookup.Candidate) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s (%s), ", b.State, b.At, b.Layer)
	if len(b.When) == 0 {
		text.WriteString("always")
	}
	for i, t := range b.When {
		word := "when "
		if i > 0 {
			word = " and "
		}
		text.WriteString(word + t.Name + " is " + t.Value)
	}
	if b.Name != "" {
		text.WriteString(", named " + b.Name)
	}
	if b.Why != "" {
		text.WriteString(": " + b.Why)
	}
	return text.String()
}
