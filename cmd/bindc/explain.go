package main

import (
	"github.com/spf13/cobra"

	"bindc/diag"
)

func explainCommand() *cobra.Command {
	var markdown bool
	cmd := &cobra.Command{
		Use:   "explain [CODE]",
		Short: "Say what the code of a diagnostic means, or list all codes",
		Long: "explain prints what a code means, the rule it comes from, and an example that is\n" +
			"refused with it. Without CODE it lists all codes.\n\n" +
			"Exit status: 0, or 2 there is no such code.",
		Example: "  bindc explain conflict",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var codes []string
			for _, r := range diag.Catalogue() {
				codes = append(codes, string(r.Code)+"\t"+r.Sentence)
			}
			return codes, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			if markdown {
				return diag.Document(out)
			}
			if len(args) == 0 {
				return diag.Explain(out)
			}
			rule, err := diag.Find(args[0])
			if err != nil {
				return err
			}
			return rule.Explain(out)
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print all of it as Markdown")
	return cmd
}
