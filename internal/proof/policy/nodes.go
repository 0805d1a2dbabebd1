package policy

import (
	"bindc/diag"
	bindings "bindc/runtime"
)

type Node struct {
	Name  string
	File  string // path of the facts file
	Facts *bindings.Facts
}

// Decide checks unproven policies for the given nodes. It adds an error for each node that breaks a policy, and a note
// for each policy that no node breaks.
func (r *Result) Decide(nodes []Node, diags *diag.List) error {
	if len(r.open) == 0 {
		return nil
	}
	o, err := r.prover.snapshotOf()
	if err != nil {
		return err
	}
	for _, policy := range r.open {
		broken := 0
		for _, n := range nodes {
			for _, key := range policy.keys {
				b, err := o.examine(policy.Policy, key, n.Facts)
				if err != nil {
					return err
				}
				if b != nil {
					broken++
					r.prover.reportNode(policy.Policy, key, n, b, diags)
				}
			}
		}
		if broken == 0 {
			d := policy.warning()
			d.Severity, d.Hint = diag.Info, ""
			d.Message += "; it holds for each of " + diag.Count(len(nodes), "node")
			diags.Add(d)
		}
	}
	return nil
}

func (p *prover) reportNode(policy *Policy, key string, n Node, b *breach, diags *diag.List) {
	at := b.at
	if at.File != "" {
		at.File = p.Files(at.File)
	} else {
		at = policy.At
	}
	message := "'" + key + "' breaks the policy '" + policy.Name + "' for the node '" + n.Name + "': " + b.message
	diags.Add(diag.Diagnostic{Pos: at, Code: Code, Message: message, Secret: b.secret, Discreet: message,
		Notes: append(noteOf(policy, at), diag.Note{Pos: diag.Pos{File: n.File}, Message: "the facts of the node"})})
}

// Close closes the snapshot that was used for lookups.
func (r *Result) Close() {
	if r.prover != nil && r.prover.opened != nil {
		r.prover.opened.Close()
	}
}
