package main

import (
	"sync"

	"github.com/spf13/cobra"

	"bindc/facts"
	"bindc/internal/examples"
	"bindc/internal/fsx"
	"bindc/internal/proof/params"
	"bindc/internal/proof/policy"
	"bindc/internal/proof/record"
	bindings "bindc/runtime"
)

// policies holds the policies of a site.
type policies struct {
	files []string
	fleet bool // policies that are not proven are decided for a fleet later
}

func (p *policies) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&p.files, "policy", nil,
		"`FILE` of policies to prove, in addition to CONFDIR/policies (repeatable)")
}

// prove proves the policies of the site in dir, checks its data against the classes that receive it, and records the
// proven policies in its content. If the site has errors, it only reads the policies.
func (c *compilation) prove(f *flags, dir string, disk fsx.Disk) error {
	policies := policy.Read(dir, f.policies.files, disk, &c.diags)
	policy.Policies.WarnOfMisspelt(dir, disk, &c.diags)
	examples.Folder.WarnOfMisspelt(dir, disk, &c.diags)
	if c.diags.Failed() {
		return nil
	}
	files := sync.OnceValue(c.files)
	site := policy.Site{Content: c.content, Files: func(input string) string { return files()[input] }}
	var err error
	if c.proofs, err = policy.Prove(site, policies, &c.diags); err != nil {
		return err
	}
	if !f.policies.fleet {
		c.proofs.Report(&c.diags)
	}
	checks := params.Options{Strict: f.strict, Require: f.requireParams, Lint: f.lint.wants("missing_parameter"),
		Disk: disk}
	if c.params, err = params.Check(c.site, c.content, checks, &c.diags); err != nil {
		return err
	}
	var proven []record.Policy
	for _, p := range c.proofs.Proven {
		proven = append(proven, record.Policy{Name: p.Name, Digest: p.Digest})
	}
	record.Add(c.content, proven)
	return nil
}

// files maps the names of inputs in the snapshot to their paths.
func (c *compilation) files() map[string]string {
	out := map[string]string{}
	for file, i := range c.site.InputOf {
		if name := c.site.Inputs[i].Path; out[name] == "" || file < out[name] {
			out[name] = file
		}
	}
	return out
}

// decidePolicies decides the policies that are not proven for the nodes of a fleet.
func (c *compilation) decidePolicies(nodes []facts.Node) error {
	if c.proofs == nil {
		return nil
	}
	var fleet []policy.Node
	for _, n := range nodes {
		f, err := facts.Variables(n, bindings.FactsOptions{})
		if err != nil {
			continue // checkFleet has reported it
		}
		fleet = append(fleet, policy.Node{Name: n.Name, File: n.File, Facts: f})
	}
	return c.proofs.Decide(fleet, &c.diags)
}
