// Package cli is what the two programs have in common on the command line.
package cli

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"bindc/internal/diag"
)

// Version is the version of the build: the module's, or the commit it was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "devel-" + s.Value[:min(12, len(s.Value))]
		}
	}
	return "devel"
}

// Finish words what cobra says of a command line that fits none of root's verbs, in one line each, with a suggestion
// for a verb or a flag that is misspelt. It is called when root has all its verbs.
func Finish(root *cobra.Command) {
	root.SetFlagErrorFunc(suggestFlag)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	for _, verb := range root.Commands() {
		verb.Args = sayExpected(verb.Args)
	}
	root.Args = suggestVerb
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() } // else cobra does not call Args
}

// sayExpected is check with an error that shows the usage of the verb.
func sayExpected(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check == nil || check(cmd, args) == nil {
			return nil
		}
		found := strings.Join(append([]string{cmd.CommandPath()}, args...), " ")
		return fmt.Errorf("expected '%s %s', found '%s' (see %s --help)", cmd.Parent().CommandPath(), cmd.Use, found,
			cmd.CommandPath())
	}
}

func suggestVerb(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, verb := range root.Commands() {
		names = append(names, verb.Name())
	}
	if hint := diag.DidYouMean(args[0], names); hint != "" {
		return fmt.Errorf("unknown verb '%s'; %s", args[0], hint)
	}
	return fmt.Errorf("unknown verb '%s' (see %s --help)", args[0], root.Name())
}

func suggestFlag(cmd *cobra.Command, err error) error {
	if !cmd.HasParent() && cmd.Flags().NArg() > 0 { // before a flag of its own stands a verb that there is not
		return suggestVerb(cmd, cmd.Flags().Args())
	}
	name, ok := strings.CutPrefix(err.Error(), "unknown flag: ")
	if !ok {
		return fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	if hint := diag.DidYouMean(name, names); hint != "" {
		return fmt.Errorf("%w; %s", err, hint)
	}
	return fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())
}

// Color tells whether f is a terminal that wants colour.
func Color(f *os.File) bool {
	return os.Getenv("NO_COLOR") == "" && term.IsTerminal(int(f.Fd()))
}
