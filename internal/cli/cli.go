// Package cli implements the parts of the command line that all programs share.
package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Verbs maps the name of each verb to a function that creates its command.
type Verbs map[string]func() *cobra.Command

// Finish adds verbs to root, and the verbs that all programs have. If the first argument is a verb,
// Finish adds only that verb, because creating all verbs would delay the start. It also makes cobra
// report errors on one line, with a suggestion for a misspelt verb or flag.
func Finish(root *cobra.Command, verbs Verbs, args []string) {
	root.Flags().BoolP(versionFlag, "v", false, "version for "+root.Name())
	root.SetFlagErrorFunc(suggestFlag)
	root.SetUsageFunc(printUsage)
	root.CompletionOptions.DisableDefaultCmd = true
	switch {
	case len(args) == 1 && (args[0] == "--"+versionFlag || args[0] == "-v"): // --version needs no verb
	case len(args) > 0 && verbs[args[0]] != nil:
		root.AddCommand(verbs[args[0]]())
	default:
		for _, verb := range verbs {
			root.AddCommand(verb())
		}
		addCommon(root)
	}
	root.InitDefaultHelpCmd()
	for _, verb := range root.Commands() {
		if verb.Name() == "help" {
			verb.Long = "help prints what VERB does, as VERB --help.\n\nExit status: 0."
			verb.Use, verb.Example = "help [VERB]", "  "+root.Name()+" help version"
			continue
		}
		finish(verb)
	}
	watchRepeats(root.PersistentFlags())
	completeFlags(root, root.PersistentFlags())
	if complete := withFlagsAfterCursor(root, args); len(complete) > len(args) {
		root.SetArgs(complete)
	}
	askForVerb(root)
}

// addCommon adds the verbs version, completion and man.
func addCommon(root *cobra.Command) {
	for _, verb := range []*cobra.Command{versionCommand(), completionCommand(), manCommand()} {
		verb.Long = strings.ReplaceAll(verb.Long, "bindq", root.Name())
		verb.Example = strings.ReplaceAll(verb.Example, "bindq", root.Name())
		root.AddCommand(verb)
	}
}

// finish sets the argument checks and the completion of a verb and its subcommands.
func finish(verb *cobra.Command) {
	if verb.HasSubCommands() {
		askForVerb(verb)
		for _, below := range verb.Commands() {
			finish(below)
		}
		return
	}
	verb.Args = rejectEmptyFlags(sayExpected(verb.Args))
	watchRepeats(verb.Flags())
	complete(verb)
}

// askForVerb makes a command that has subcommands print its help if it is called without one.
func askForVerb(cmd *cobra.Command) {
	cmd.Args = suggestVerb
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { // without RunE, cobra would not call Args
		if version := cmd.Flags().Lookup(versionFlag); version != nil && version.Changed {
			return printVersion(cmd)
		}
		return cmd.Help()
	}
}

// sayExpected returns an argument check that behaves like check but whose error contains the verb's
// usage.
func sayExpected(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check == nil || check(cmd, args) == nil {
			return nil
		}
		found := strings.Join(append([]string{cmd.CommandPath()}, args...), " ")
		return fmt.Errorf("expected '%s %s', found '%s'%s (see %s --help)", cmd.Parent().CommandPath(), cmd.Use, found,
			detached(cmd, args), cmd.CommandPath())
	}
}

// detached returns a hint if a surplus argument may be meant as the value of a flag that takes its value only after
// '=', such as --lint=CODES. Otherwise it returns "".
func detached(cmd *cobra.Command, args []string) (hint string) {
	if len(args) == 0 {
		return ""
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.NoOptDefVal != "" && f.Value.Type() != "bool" {
			name, _ := pflag.UnquoteUsage(f)
			hint = fmt.Sprintf("; values of --%s follow '=', as in --%s=%s", f.Name, f.Name, name)
		}
	})
	return hint
}

// mayBeEmpty is the annotation of flags whose value may be an empty string.
const mayBeEmpty = "may be empty"

// AllowEmpty lets a flag have an empty string as its value. All other flags reject empty strings.
func AllowEmpty(cmd *cobra.Command, flag string) {
	if err := cmd.Flags().SetAnnotation(flag, mayBeEmpty, nil); err != nil {
		panic(err)
	}
}

// rejectEmptyFlags returns an argument check that rejects flags whose value is an empty string, and
// then calls check. An empty string usually comes from an unset shell variable: --allowed-signers
// "$SIGNERS" must not mean that no signature is needed.
func rejectEmptyFlags(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) (err error) {
		cmd.Flags().Visit(func(f *pflag.Flag) {
			if _, allowed := f.Annotations[mayBeEmpty]; err == nil && !allowed && hasEmptyText(f.Value) {
				kind, _ := pflag.UnquoteUsage(f)
				err = fmt.Errorf("--%s: expected %s, found an empty string; is a shell variable unset?", f.Name, kind)
			}
		})
		if err != nil {
			return err
		}
		if err := lacking(cmd.Flags()); err != nil {
			return err
		}
		noteRepeats(cmd)
		return check(cmd, args)
	}
}

func hasEmptyText(v pflag.Value) bool {
	if list, isList := v.(pflag.SliceValue); isList && v.Type() == "stringArray" {
		return slices.Contains(list.GetSlice(), "")
	}
	return v.Type() == "string" && v.String() == ""
}

// needed is the annotation of flags that have an effect only with another one. Its value is the name of that flag.
const needed = "needs"

// Needs makes each of the given flags an error unless the command line also has the flag called needs.
func Needs(cmd *cobra.Command, needs string, flags ...string) {
	for _, flag := range flags {
		if err := cmd.Flags().SetAnnotation(flag, needed, []string{needs}); err != nil {
			panic(err)
		}
	}
}

// lacking returns an error about a flag in f that has no effect without another one.
func lacking(f *pflag.FlagSet) (err error) {
	f.Visit(func(flag *pflag.Flag) {
		if names := flag.Annotations[needed]; err == nil && len(names) > 0 && !f.Changed(names[0]) {
			kind, _ := pflag.UnquoteUsage(f.Lookup(names[0]))
			err = fmt.Errorf("--%s has no effect without --%s", flag.Name, strings.TrimSpace(names[0]+" "+kind))
		}
	})
	return err
}
