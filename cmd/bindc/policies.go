package main

import (
	"slices"
	"strings"

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
	fleet []facts.Node // nodes for which decidePolicies checks the unproven policies
}

func (p *policies) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&p.files, "policy", nil,
		"`FILE` of policies to prove, in addition to CONFDIR/policies (repeatable)")
}

// prove proves the policies of the site in dir, and records the proven ones in the content. It also checks the data
// against the classes that receive it. If the site has errors, it only reads the policies.
func (c *compilation) prove(f *flags, dir string, disk fsx.Disk) error {
	opts := proof.Options{Disk: disk, Policies: f.policies.files, Fleet: len(f.policies.fleet) > 0,
		Params: params.Options{Strict: f.strict.includes("parameter_type"), Require: f.requireParams,
			Lint: f.lint.wants("missing_parameter"), Later: len(f.policies.fleet) > 0, Entries: f.entryClasses}}
	if opts.Fleet {
		opts.Params.Variable = func(name string) []string { return textsOf(f.policies.fleet, name) }
	}
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

// textsOf returns the strings that a variable, such as role or facts.role, has on the given nodes.
func textsOf(nodes []facts.Node, variable string) (out []string) {
	root, rest, isPath := strings.Cut(variable, ".")
	for _, n := range nodes {
		sources := []bindings.Value{n.Vars, n.Facts}
		path := variable
		switch {
		case isPath && root == "facts":
			sources, path = sources[1:], rest
		case isPath && root == "trusted":
			sources, path = []bindings.Value{n.Trusted}, rest
		}
		for _, v := range sources {
			ok := v.Kind() == bindings.Hash
			for name := range strings.SplitSeq(path, ".") {
				if ok = ok && v.Kind() == bindings.Hash; ok {
					v, ok = v.Get(name)
				}
			}
			if text, err := v.Text(); ok && err == nil && !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return out
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
