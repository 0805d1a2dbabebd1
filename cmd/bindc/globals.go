package main

import (
	"github.com/spf13/cobra"

	"bindc/compile"
	"bindc/internal/cli"
	"bindc/loader"
)

// bounds holds the limits of a compilation. Every verb has flags for them.
type bounds struct{ effort, alternatives int }

// add sets the default limits and adds their flags to root.
func (b *bounds) add(root *cobra.Command) {
	b.effort, b.alternatives = compile.DefaultEffort, loader.DefaultAlternatives
	flags := root.PersistentFlags()
	flags.Var(cli.AtLeastOne(&b.effort), "max-effort", "stop the search for conflicts and loops after `N` "+
		"comparisons of bindings")
	flags.Var(cli.AtLeastOne(&b.alternatives), "max-alternatives",
		"allow at most `N` alternatives of conditions, over all bindings")
}
