package proof

import (
	"bindc/diag"
)

// forced returns the keys that must stay in Hiera 5 because a manifest looks them up with a
// computed merge. It maps each key to a description of the reason.
func (o *Options) forced() map[string]string {
	out := map[string]string{}
	for _, c := range o.Calls.All {
		for _, key := range c.Keys {
			if !c.MergeKnown && out[key] == "" {
				out[key] = c.At.String() + " looks it up with a computed merge"
			}
		}
	}
	return out
}

// reportCalls reports lookups and manifests that could not be analyzed.
func (p *prover) reportCalls(diags *diag.List) {
	note := func(at diag.Pos, severity diag.Severity, message string) {
		diags.Add(diag.Diagnostic{Pos: at, Severity: severity, Code: "migrate", Message: message})
	}
	p.report.Manifests, p.report.Calls = p.opts.Calls.Files, len(p.opts.Calls.All)
	for _, c := range p.opts.Calls.All {
		if c.Keys == nil && !c.MergeKnown {
			p.report.Unreadable++
			note(c.At, diag.Info, "the key and the merge of this "+c.Function+
				"() are computed: every key was compared "+
				"with every merge, without merge options")
		}
	}
	for _, at := range p.opts.Calls.Wrong {
		p.report.Unreadable++
		note(at, diag.Warning, "syntax error: the rest of this manifest cannot be read, and its merges may be missed")
	}
}
