package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bindc/diag"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

func completionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print completions for a shell: " + strings.Join(shells, ", "),
		Long: "completion prints a script that completes verbs, flags, their values, files, and\n" +
			"keys of the snapshot. For the shell that runs:\n\n" +
			"  source <(bindq completion bash)     # needs the package bash-completion\n" +
			"  source <(bindq completion zsh)\n" +
			"  bindq completion fish | source\n\n" +
			"To load it in every new shell, write it to one of these files:\n\n" +
			"  /etc/bash_completion.d/bindq        # bash\n" +
			"  \"${fpath[1]}/_bindq\"               # zsh\n" +
			"  ~/.config/fish/completions/bindq.fish\n\n" +
			"Exit status: 0, or 2 on an error.",
		Example:   "  bindq completion bash > bindq.bash",
		ValidArgs: shells,
		Args:      cobra.ExactArgs(1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		root, out := cmd.Root(), cmd.OutOrStdout()
		if !slices.Contains(shells, args[0]) {
			return fmt.Errorf("completion: expected one of %s, found '%s'", diag.Quoted(shells), args[0])
		}
		script, err := completionScript(root, args[0])
		if err == nil {
			_, err = io.WriteString(out, seeAfterCursor(args[0], script))
		}
		return err
	}
	return cmd
}

// completionScript returns cobra's completion script for a shell. For an unknown shell, it returns
// the one for PowerShell.
func completionScript(root *cobra.Command, shell string) (string, error) {
	var out strings.Builder
	var err error
	switch shell {
	case "bash":
		err = root.GenBashCompletionV2(&out, true)
	case "zsh":
		err = root.GenZshCompletion(&out)
	case "fish":
		err = root.GenFishCompletion(&out, true)
	default:
		err = root.GenPowerShellCompletionWithDesc(&out)
	}
	return out.String(), err
}

// Words makes the shell complete the value of a flag from words. It panics if the flag does not
// exist.
func Words(cmd *cobra.Command, flag string, words []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // unreachable unless the flag does not exist
	}
}

// Required makes a verb fail if a flag is not given. The error contains the flag's usage.
func Required(cmd *cobra.Command, flag string) {
	f, check := cmd.Flags().Lookup(flag), cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if placeholder, _ := pflag.UnquoteUsage(f); !f.Changed {
			return fmt.Errorf("%s: expected --%s %s (see %s --help)", cmd.Name(), flag, placeholder, cmd.CommandPath())
		}
		if check == nil {
			return nil
		}
		return check(cmd, args)
	}
}

// Values with these placeholders are completed as files or as directories.
var (
	filePlaces = []string{"FILE", "OLD", "NEW"}
	dirPlaces  = []string{"DIR", "DIRS", "CONFDIR"}
)

// complete sets the completion of a verb's arguments and flags. Their placeholders say whether to
// complete files, directories or nothing. It does not change completions that are already set.
func complete(verb *cobra.Command) {
	completeFlags(verb, verb.Flags())
	completeArguments(verb)
}

func completeFlags(cmd *cobra.Command, flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if _, registered := cmd.GetFlagCompletionFunc(f.Name); registered {
			return
		}
		placeholder, _ := pflag.UnquoteUsage(f)
		switch {
		case slices.Contains(filePlaces, placeholder):
		case slices.Contains(dirPlaces, placeholder):
			completeDirs(cmd, f.Name)
		default:
			Words(cmd, f.Name, nil)
		}
	})
}

// completeDirs makes the shell complete the value of a flag with directories.
func completeDirs(cmd *cobra.Command, flag string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string,
		cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	})
	if err != nil {
		panic(err) // unreachable unless the flag does not exist
	}
}

// completeArguments makes the shell complete arguments according to the placeholders in verb.Use.
func completeArguments(verb *cobra.Command) {
	if verb.ValidArgsFunction != nil || verb.ValidArgs != nil {
		return
	}
	words := strings.FieldsFunc(verb.Use, func(r rune) bool { return strings.ContainsRune(" []", r) })[1:]
	verb.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) < len(words) && slices.Contains(filePlaces, words[len(args)]):
			return nil, cobra.ShellCompDirectiveDefault
		case len(args) < len(words) && slices.Contains(dirPlaces, words[len(args)]):
			return nil, cobra.ShellCompDirectiveFilterDirs
		case len(words) > 0 && words[len(words)-1] == "FILE...":
			return nil, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}
