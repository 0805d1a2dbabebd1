package main

import (
	"github.com/spf13/cobra"

	"bindc/facts"
	"bindc/internal/fsx"
	"bindc/internal/proof"
	"bindc/internal/proof/params"
	"bindc/internal/proof/policy"
	"bindc/internal/proof/record"
	bindings "bindc/runtime"
)

type policies struct {
	files []string
	fleet bool // whether decidePolicies will check unproven policies against a fleet
}

func (p *policies) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&p.files, "policy", nil,
		"`FILE` of policies to prove, in addition to CONFDIR/policies (repeatable)")
}

// prove proves the policies of the site in dir, and records the proven ones in the content. It also checks the data
// against the classes that receive it. If the site has errors, it only reads the policies.
func (c *compilation) prove(f *flags, dir string, disk fsx.Disk) error {
	opts := proof.Options{Disk: disk, Policies: f.policies.files, Fleet: f.policies.fleet,
		Params: params.Options{Strict: f.strict.includes("parameter_type"), Require: f.requireParams,
			Lint: f.lint.wants("missing_parameter"), Later: f.policies.fleet}}
	found, err := proof.Check(dir, c.site, c.content, opts, &c.diags)
	if err != nil || found.Policies == nil {
		return err
	}
	c.proofs, c.params = found.Policies, found.Params
	var proven []record.Policy
	for _, p := range c.proofs.Proven {
		proven = append(proven, record.Policy{Name: p.Name, Digest: p.Digest})
	}
	record.Add(c.content, proven)
	return nil
}

// decidePolicies checks each policy that could not be proven for all requests, but only for the given nodes.
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
