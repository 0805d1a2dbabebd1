// Package compile composes a site: it decides for all possible requests which binding wins, refuses what conflicts, and
// turns strings and expressions into programs (language.md, sections 5 to 9). It reads no files and knows no bytes of
// the snapshot; its result is a snapshot.Content.
//
// Compile is the pipeline. Each pass is a function in a file of its own, which takes what earlier passes returned:
//
//	rank.go                             the precedence of every condition
//	place.go, transfer.go, collect.go   every binding in the scope of its layer and condition
//	rewrite.go                          final values: aliases and renames, types that are demanded, merges of Hiera 5
//	order.go, contribute.go, levels.go  the index: keys in order, contributions as lists, what can win in levels
//	check.go                            conflicts, promises that are not kept, loops
//	content.go                          the result
//
// Two things grow on the way: the numbers of keys and values (tables.go), and the diagnostics.
package compile

import (
	"bindc/internal/diag"
	"bindc/loader"
	"bindc/snapshot"
)

// Options change what a site means. The zero value is the default.
type Options struct {
	StrictVariables bool // the use of an unknown variable is an error of the lookup
	Effort          int  // bounds the comparisons to find conflicts and loops, see effort; default: DefaultEffort
}

// Compile composes site. It reports to diags; the Content is only valid if diags has not failed. If the site could not
// be read completely, Compile returns nil: which bindings win is unknown.
func Compile(site *loader.Site, opts Options, diags *diag.List) *snapshot.Content {
	if diags.Incomplete() {
		return nil
	}
	return compose(newEnv(site, opts.StrictVariables, opts.Effort, diags))
}

func compose(e *env) *snapshot.Content {
	ranks := rankConditions(e.site)
	placed := placeBindings(e.site, ranks)
	placed.addBindings(transferParameters(e, placed))
	placed.addUnwritten(bindCollected(placed))
	rewritten := rewrite(e, placed)
	ordered := orderKeys(rewritten)
	internal := listContributions(e, ordered)
	levels := fillLevels(e, ordered, internal)
	check(e, ordered, levels)
	out := content(e, ordered, levels)
	out.ARM8 = ordered.totals.arm8 || internal.arm8
	return out
}
