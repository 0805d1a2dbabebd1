package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bindc/internal/cli"
)

// formats are the values of --format, and renderings those of --render-as that mean the same.
var (
	formats    = []string{"text", "json", "yaml"}
	renderings = []string{"s", "json", "yaml"}
)

// output is how a verb prints its answer.
type output struct {
	format string // one of formats
	bare   bool   // the answer for a single key is not put into a hash
}

// add adds --format to a verb. It also adds --render-as, for people who know it from 'puppet lookup': there, the answer
// for a single key is bare.
func (o *output) add(cmd *cobra.Command, usual string) {
	o.format = usual
	cmd.Flags().Var(formatFlag{o, formats}, "format", "`FORM` of the answer: "+strings.Join(formats, ", "))
	cmd.Flags().Var(formatFlag{o, renderings}, "render-as", "`FORM`, as for 'puppet lookup'")
	cli.Words(cmd, "format", formats)
	cli.Words(cmd, "render-as", renderings)
	cmd.MarkFlagsMutuallyExclusive("format", "render-as")
	if err := cmd.Flags().MarkHidden("render-as"); err != nil {
		panic(err) // there is no such flag
	}
}

// formatFlag is the value of --format or --render-as.
type formatFlag struct {
	*output
	words []string
}

func (f formatFlag) Set(text string) error {
	i := slices.Index(f.words, text)
	if i < 0 {
		return fmt.Errorf("expected one of %s", strings.Join(f.words, ", "))
	}
	f.format, f.bare = formats[i], &f.words[0] == &renderings[0]
	return nil
}

func (f formatFlag) String() string {
	if f.output == nil {
		return ""
	}
	return f.format
}

// Type returns the word for the value in help.
func (f formatFlag) Type() string { return "FORM" }
