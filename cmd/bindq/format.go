package main

import (
	"github.com/spf13/cobra"

	"bindc/internal/cli"
)

// renderings lists the --render-as values that mean the same as cli.Forms.
var renderings = []string{"s", "json", "yaml"}

// output holds the format in which a verb prints its answer.
type output struct {
	format string // one of cli.Forms
	bare   bool   // print the answer for a single key without a hash
}

// add adds --format to a verb. It also adds --render-as, for people who know it from 'puppet lookup': there, the answer
// for a single key is bare.
func (o *output) add(cmd *cobra.Command, usual string) {
	o.format = usual
	cli.AddFormat(cmd, &o.format, cli.Forms)
	cli.AddForms(cmd, "render-as", "`FORM`, as for 'puppet lookup'", renderings,
		func(i int) { o.format, o.bare = cli.Forms[i], true }, func() string { return "" })
	cmd.MarkFlagsMutuallyExclusive("format", "render-as")
	if err := cmd.Flags().MarkHidden("render-as"); err != nil {
		panic(err) // the flag does not exist
	}
}
