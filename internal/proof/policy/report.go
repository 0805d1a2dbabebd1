package policy

import (
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/lookup"
	"bindc/internal/syntax"
	"bindc/snapshot"
)

// warn adds a warning at the policy's position.
func (p *prover) warn(policy *Policy, message, hint string) {
	p.diags.Add(diag.Diagnostic{Pos: policy.At, Severity: diag.Warning, Code: Code, Message: message, Hint: hint})
}

// correct adds a warning at the policy's position that suggests the correction of a name.
func (p *prover) correct(policy *Policy, message string, fix diag.Fix) {
	p.diags.Add(diag.Diagnostic{Pos: policy.At, Severity: diag.Warning, Code: Code, Message: message, Fix: fix})
}

// keyHint returns a hint for a policy that applies to no key: a similar key or, for a pattern, the meaning of '*' and
// '**'.
func keyHint(diags *diag.List, policy *Policy, keys []snapshot.Key) string {
	if policy.keys != nil {
		return "'*' matches within a segment of a key, '**' any number of segments"
	}
	var names []string
	for i := range keys {
		if !strings.HasPrefix(keys[i].Name, "\x00") {
			names = append(names, keys[i].Name)
		}
	}
	return diags.Correct(policy.key, names).Hint()
}

// report reports a violation, with the facts of an example. It reports each violation only once.
func (p *prover) report(policy *Policy, key string, texts way, b *breach) {
	at := b.at
	if at.File != "" {
		at.File = p.Files(at.File)
	} else {
		at = policy.At
	}
	id := policy.Name + "\x00" + key + "\x00" + at.String()
	if p.seen[id] {
		return
	}
	p.seen[id] = true
	message := "'" + key + "' breaks the policy '" + policy.Name + "'" + p.where(policy, texts, b.when) + ": " +
		b.message
	d := diag.Diagnostic{Pos: at, Code: Code, Message: message, Secret: b.secret, Discreet: message,
		Notes: noteOf(policy, at), Hint: p.witness(texts)}
	p.diags.Add(d)
}

// noteOf returns a note at the policy's position, or nil if at is that position.
func noteOf(policy *Policy, at diag.Pos) []diag.Note {
	if at == policy.At {
		return nil
	}
	return []diag.Note{{Pos: policy.At, Message: "the policy is here"}}
}

// witness describes a node with the variables in texts, as an example of a violation.
func (p *prover) witness(texts way) string {
	facts := p.sample(texts).String()
	if facts == "" {
		return "for example, a node without any facts"
	}
	return "for example, a node with the facts " + facts
}

// where describes the requests for which a violation occurs. when is the condition of the winning binding.
func (p *prover) where(policy *Policy, texts way, when []lookup.Term) string {
	terms := slices.Clone(when)
	policy.region.literals(func(l *literal) {
		if l.category != "" && p.space.implies(texts, l) &&
			!slices.ContainsFunc(terms, func(t lookup.Term) bool { return t.Name == l.category }) {
			terms = append(terms, lookup.Term{Name: l.category, Value: l.text})
		}
	})
	var parts []string
	for _, t := range terms {
		parts = append(parts, t.Name+" is '"+t.Value+"'")
	}
	if len(parts) == 0 {
		return ""
	}
	return " where " + strings.Join(parts, " and ")
}

// maxNotes limits the number of bindings named in a warning.
const maxNotes = 3

// Report adds a warning for each policy that is neither proven nor broken.
func (r *Result) Report(diags *diag.List) {
	for _, o := range r.open {
		diags.Add(o.warning())
	}
}

func (o *Open) warning() diag.Diagnostic {
	if l := o.kindless; l != nil && len(o.computed) == 0 {
		return diag.Diagnostic{Pos: o.At, Severity: diag.Warning, Code: Code,
			Message: "the policy '" + o.Name + "' is not proven: its condition compares " + syntax.Print(l.operand) +
				" with the string '" + l.written + "', which never equals a number or a boolean",
			Hint: "to compare the text of any value, write " + syntax.Print(&expr.Node{Op: expr.Concat,
				Kids: []*expr.Node{l.operand}}) + " == '" + l.written + "'"}
	}
	d := diag.Diagnostic{Pos: o.At, Severity: diag.Warning, Code: Code,
		Message: "the policy '" + o.Name + "' is not proven: the value of " + diag.Quoted(o.keys) +
			" depends on facts or other keys",
		Hint: "'bindc check --facts-dir DIR' checks it for real nodes"}
	for i, pos := range o.computed {
		if i == maxNotes {
			break
		}
		d.Notes = append(d.Notes, diag.Note{Pos: pos, Message: "this value is computed"})
	}
	return d
}
