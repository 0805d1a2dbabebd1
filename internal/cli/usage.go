package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// usageWidth is the width of help, for a terminal of 80 columns.
const usageWidth = 80

// printUsage prints the part of help below the text of a verb. It is a function because a template of cobra makes the
// linker keep every exported method: text/template finds methods by name.
func printUsage(cmd *cobra.Command) error {
	line := cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		line = cmd.CommandPath() + " VERB"
	}
	text := &strings.Builder{}
	fmt.Fprintf(text, "Usage:\n  %s\n\nExamples:\n%s\n\n", line, cmd.Example)
	if cmd.HasAvailableSubCommands() {
		text.WriteString("Available Commands:\n")
		for _, verb := range cmd.Commands() {
			if verb.IsAvailableCommand() || verb.Name() == "help" {
				fmt.Fprintf(text, "  %-*s %s\n", verb.NamePadding(), verb.Name(), verb.Short)
			}
		}
		text.WriteString("\n")
	}
	flags := strings.TrimRight(cmd.LocalFlags().FlagUsagesWrapped(usageWidth), " \n")
	fmt.Fprintf(text, "Flags:\n%s\n", flags)
	_, err := fmt.Fprint(cmd.OutOrStderr(), text)
	return err
}
