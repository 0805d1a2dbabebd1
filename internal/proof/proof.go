// Package proof checks a compiled site for all possible requests. It proves the site's policies and checks the data
// against the classes that receive it.
package proof

import (
	"context"
	"sync"

	"bindc/diag"
	"bindc/internal/examples"
	"bindc/internal/fsx"
	"bindc/internal/proof/params"
	"bindc/internal/proof/policy"
	"bindc/loader"
	"bindc/snapshot"
)

// Options configures Check.
type Options struct {
	Disk     fsx.Disk        // for reading policy files and manifests
	Context  context.Context // if not nil, Check returns an error once it is done
	Policies []string        // additional policy files
	Fleet    bool            // do not report unproven policies; the caller decides them
	Params   params.Options  // Check sets Disk and Context
}

// Result is the result of Check. If the site or a policy file has errors, its fields are nil.
type Result struct {
	Policies *policy.Result
	Params   *params.Checker
}

// Check checks the compiled site in dir and adds diagnostics to diags. If content is nil or diags already has errors,
// it only reads the policy files.
func Check(dir string, site *loader.Site, content *snapshot.Content, opts Options, diags *diag.List) (Result, error) {
	policies := policy.Read(dir, opts.Policies, opts.Disk, diags)
	policy.Policies.WarnOfMisplaced(dir, opts.Disk, diags)
	examples.Folder.WarnOfMisplaced(dir, opts.Disk, diags)
	examples.Folder.WarnOfUnread(dir, opts.Disk, diags)
	if content == nil || diags.Failed() {
		return Result{}, nil
	}
	files := sync.OnceValue(func() map[string]string { return filesOf(site) })
	proved, err := policy.Prove(policy.Input{Content: content, Context: opts.Context,
		Files: func(input string) string { return files()[input] }}, policies, diags)
	if err != nil {
		return Result{}, err
	}
	if !opts.Fleet {
		proved.Report(diags)
	}
	opts.Params.Disk, opts.Params.Context = opts.Disk, opts.Context
	checked, err := params.Check(site, content, opts.Params, diags)
	return Result{proved, checked}, err
}

// filesOf maps the names of files in the snapshot to their paths.
func filesOf(site *loader.Site) map[string]string {
	out := map[string]string{}
	for file, i := range site.InputOf {
		if name := site.Inputs[i].Path; out[name] == "" || file < out[name] {
			out[name] = file
		}
	}
	return out
}
