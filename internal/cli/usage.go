package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usageWidth is the width of help texts in columns.
const usageWidth = 80

// printUsage prints the part of the help text after a verb's description. It replaces cobra's
// template: text/template finds methods by name, so the linker would have to keep every exported
// method.
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
	fmt.Fprintf(text, "Flags:\n%s\n", flagUsages(cmd.LocalNonPersistentFlags()))
	if cmd.HasAvailablePersistentFlags() {
		fmt.Fprintf(text, "\n"+
			"Global flags, for all verbs:\n"+
			"%s\n", flagUsages(cmd.PersistentFlags()))
	}
	if cmd.HasAvailableInheritedFlags() {
		fmt.Fprintf(text, "\nGlobal flags (see %s --help):\n%s\n", cmd.Root().Name(), flagNames(cmd.InheritedFlags()))
	}
	_, err := fmt.Fprint(cmd.OutOrStderr(), text)
	return err
}

func flagUsages(flags *pflag.FlagSet) string {
	return strings.TrimRight(flags.FlagUsagesWrapped(usageWidth), " \n")
}

// flagNames returns the flags without descriptions, as many on a line as fit.
func flagNames(flags *pflag.FlagSet) string {
	const indent = "  "
	lines := []string{indent}
	flags.VisitAll(func(f *pflag.Flag) {
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if kind, _ := pflag.UnquoteUsage(f); kind != "" {
			name += " " + kind
		}
		last := &lines[len(lines)-1]
		switch {
		case *last == indent:
			*last += name
		case len(*last)+len("; ")+len(name) <= usageWidth:
			*last += "; " + name
		default:
			*last += ";"
			lines = append(lines, indent+name)
		}
	})
	return strings.Join(lines, "\n")
}
