package main

import (
	"io"

	"github.com/spf13/cobra"

	"bindc/diag"
)

// codesTopic is the argument of 'bindc help' that lists the codes of diagnostics.
const codesTopic = "codes"

// explainCodes extends the help verb of root: 'bindc help CODE' explains the code of a diagnostic.
func explainCodes(root *cobra.Command) {
	help, _, err := root.Find([]string{"help"})
	if err != nil || help == root {
		return // with only --version, the program has no verbs
	}
	help.Use = "help [VERB|CODE]"
	help.Short = "Help about a verb or a diagnostic code"
	help.Long = "help prints what VERB does, as VERB --help. For the CODE of a diagnostic it\n" +
		"prints what the code means, the rule it comes from, and an example that is\n" +
		"refused with it. 'bindc help codes' lists all codes.\n\n" +
		"Exit status: 0, or 2 if there is no such command or code."
	help.Example = "  bindc help conflict"
	help.Args = cobra.MaximumNArgs(2)
	help.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		topics := []string{codesTopic + "\tall codes"}
		for _, verb := range root.Commands() {
			if verb.IsAvailableCommand() {
				topics = append(topics, verb.Name()+"\t"+verb.Short)
			}
		}
		for _, r := range diag.Catalogue() {
			topics = append(topics, string(r.Code)+"\t"+r.Sentence)
		}
		return topics, cobra.ShellCompDirectiveNoFileComp
	}
	help.RunE = func(cmd *cobra.Command, args []string) error {
		if verb, rest, err := root.Find(args); err == nil && len(rest) == 0 {
			verb.InitDefaultHelpFlag()
			return verb.Help()
		}
		return explainCode(cmd.OutOrStdout(), args[0])
	}
}

func explainCode(out io.Writer, code string) error {
	if code == codesTopic {
		return diag.Explain(out)
	}
	rule, err := diag.Find(code)
	if err != nil {
		return err
	}
	return rule.Explain(out)
}
