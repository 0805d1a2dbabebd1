// Package compile composes a site. It decides for all possible requests which binding wins, and rejects conflicts
// (language.md, sections 5 to 9). It reads no files and does not encode the snapshot. Its result is a snapshot.Content.
//
// The passes are packages below internal; only the warning about levels that Puppet must read is in foreign.go. Compile
// calls the passes in this order, each with the results of earlier ones.
//
//	place    the precedence of every condition; every binding in the scope of its layer and condition
//	rewrite  the final bindings, in which bindings that depend on others are replaced
//	index    keys in the order of the snapshot, contributions as lists, the bindings that can win in levels
//	check    conflicts, abstract and override bindings, types, loops
//
// Passes also add to two shared structures: the keys and values (place.Tables), and the diagnostics (pass.Env).
package compile

import (
	"context"

	"bindc/compile/internal/check"
	"bindc/compile/internal/index"
	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/compile/internal/rewrite"
	"bindc/diag"
	"bindc/loader"
	"bindc/snapshot"
)

// DefaultEffort allows a few seconds of comparisons. A site with a million bindings needs a hundredth of this effort.
const DefaultEffort = 1 << 25

// Options configures Compile. The zero value is valid.
type Options struct {
	StrictVariables bool // unknown variables make lookups fail
	Effort          int  // limit on the comparisons that find conflicts and loops; 0: DefaultEffort

	Context context.Context // once it is done, Compile returns nil after the current pass; may be nil

	IsParameter func(key string) bool // reports whether a class has a parameter with this key, for hints; may be nil
}

// Compile compiles site and adds diagnostics to diags. The Content is valid only if diags has no errors. If the site
// could not be read completely, Compile returns nil, because it is unknown which bindings win.
func Compile(site *loader.Site, opts Options, diags *diag.List) *snapshot.Content {
	if diags.Incomplete() {
		return nil
	}
	e := newEnv(site, opts, diags)
	e.IsParameter = opts.IsParameter
	if opts.Context != nil {
		e.Stopped = func() bool { return opts.Context.Err() != nil }
	}
	return compose(e)
}

func newEnv(site *loader.Site, opts Options, diags *diag.List) *pass.Env {
	effort := opts.Effort
	if effort <= 0 {
		effort = DefaultEffort
	}
	return pass.NewEnv(site, opts.StrictVariables, effort, diags)
}

func compose(e *pass.Env) *snapshot.Content {
	ranks := place.RankConditions(e.Site)
	placed := place.Bindings(e.Site, ranks)
	if e.Stopped() {
		return nil
	}
	rewritten := rewrite.Apply(e, placed)
	ordered := index.OrderKeys(rewritten)
	if e.Stopped() {
		return nil
	}
	lists := index.ListContributions(e, ordered)
	levels := index.FillLevels(e, ordered, lists)
	if e.Stopped() {
		return nil
	}
	check.Run(e, ordered, levels)
	warnOfForeign(e)
	return content(e, ordered, lists, levels)
}
