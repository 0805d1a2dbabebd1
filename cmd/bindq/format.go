package main

import (
	"github.com/spf13/cobra"

	"bindc/internal/cli"
)

// renderings lists the values of --render-as. Each means the same as the element of cli.Forms with the same index.
var renderings = []string{"s", "json", "yaml"}

type output struct {
	format string // one of cli.Forms
	bare   bool   // print the answer for a single key without a hash
}

// add adds --format, with the given default. It also adds a hidden --render-as for users of 'puppet lookup', which
// prints the answer for a single key without a hash.
func (o *output) add(cmd *cobra.Command, usual string) {
	o.format = usual
	cli.AddFormat(cmd, &o.format, cli.Forms)
	cli.AddForms(cmd, "render-as", "`FORM`, as for 'puppet lookup'", renderings,
		func(i int) { o.format, o.bare = cli.Forms[i], true }, func() string { return "" })
	cmd.MarkFlagsMutuallyExclusive("format", "render-as")
	if err := cmd.Flags().MarkHidden("render-as"); err != nil {
		panic(err) // only if the flag does not exist
	}
}
