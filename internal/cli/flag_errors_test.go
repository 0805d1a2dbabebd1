package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// The error for a flag of another program suggests the flag or verb that does the same, if the verb has that flag.
func TestSuggestsOurFlagForOtherProgramsFlag(t *testing.T) {
	const unknown = "unknown flag: "
	for line, want := range map[string]string{
		"ask --json":                "--json; write --format json",
		"ask --yaml":                "--yaml; write --format yaml",
		"ask -o json":               "-o; write --format FORM",
		"ask -ojson":                "-ojson; write --format json",
		"ask --output json":         "--output; write --format FORM",
		"ask --explain":             "--explain; run 'bindq explain KEY'",
		"ask --facts f.json":        "--facts; write --facts-dir DIR",
		"ask --merge deep":          "--merge; only 'bindq lookup' has it",
		"ask --default x":           "--default; only 'bindq lookup' has it",
		"ask -c hiera.yaml":         "-c; write -s FILE, the snapshot",
		"ask --config=hiera.yaml":   "--config; write -s FILE, the snapshot",
		"ask -d":                    "-d; run 'bindq explain KEY'",
		"ask --debug":               "--debug; run 'bindq explain KEY'",
		"ask -a":                    "-a (see program ask --help)",
		"look -a":                   "-a; write --merge unique",
		"look --hash":               "--hash; write --merge hash",
		"look --knock-out-prefix x": `--knock-out-prefix; write --merge '{"strategy": "deep", "knockout_prefix": PREFIX}'`,
		"ask -n web1":               "-n (see program ask --help)",
		"look -n web1":              "-n; write --node NAME",
		"look --certname web1":      "--certname; write --node NAME",
		"ask --nodes dir":           "--nodes; write --facts-dir DIR",
		"look --json":               "--json (see program look --help)",
		"ask --formt json":          "--formt; did you mean '--format'?",
		"ask --nothing":             "--nothing (see program ask --help)",
		"ask --format xml":          "--format: expected one of text, json, yaml, found 'xml' (see program ask --help)",
	} {
		form := "text"
		root := &cobra.Command{Use: "program", SilenceUsage: true, SilenceErrors: true}
		root.PersistentFlags().StringP("snapshot", "s", "", "a `FILE`")
		run := func(*cobra.Command, []string) error { return nil }
		Finish(root, Verbs{
			"ask": func() *cobra.Command {
				ask := &cobra.Command{Use: "ask", RunE: run}
				AddFormat(ask, &form, Forms)
				ask.Flags().String("facts-dir", "", "a `DIR`")
				return ask
			},
			"look": func() *cobra.Command {
				look := &cobra.Command{Use: "look", RunE: run}
				look.Flags().String("merge", "", "a `STRATEGY`")
				look.Flags().String("node", "", "a `NAME`")
				return look
			},
		}, nil)
		root.SetArgs(strings.Fields(line))
		err := root.Execute()
		if strings.HasPrefix(want, "-") && !strings.HasPrefix(want, "--format:") {
			want = unknown + want
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s: found '%v', expected '%s'", line, err, want)
		}
	}
}

// errorOf returns the text of the error of a command line for a program with one verb, or "".
func errorOf(line, name string, verb func() *cobra.Command) string {
	root := &cobra.Command{Use: "program", SilenceUsage: true, SilenceErrors: true}
	Finish(root, Verbs{name: func() *cobra.Command {
		cmd := verb()
		cmd.RunE = func(*cobra.Command, []string) error { return nil }
		return cmd
	}}, nil)
	root.SetArgs(strings.Fields(line))
	if err := root.Execute(); err != nil {
		return err.Error()
	}
	return ""
}

// A flag such as --lint takes its value only after '='. If an argument is left over, the error says so.
func TestSurplusArgumentMayBeValueOfFlag(t *testing.T) {
	check := func() *cobra.Command {
		check := &cobra.Command{Use: "check DIR", Args: cobra.ExactArgs(1)}
		check.Flags().String("lint", "", "report `CODES`")
		check.Flags().Lookup("lint").NoOptDefVal = "all"
		check.Flags().Bool("all", false, "everything")
		return check
	}
	const expected, help = "expected 'program check DIR', found 'program check", " (see program check --help)"
	for line, want := range map[string]string{
		"check site --lint fact": expected + " site fact'; values of --lint follow '=', as in --lint=CODES" + help,
		"check site --all true":  expected + " site true'" + help,
		"check --lint":           expected + "'" + help,
	} {
		if got := errorOf(line, "check", check); got != want {
			t.Errorf("%s: found '%s', expected '%s'", line, got, want)
		}
	}
}

// A flag that has an effect only with another one is an error without it, whatever its kind.
func TestFlagWithoutTheOneItNeedsIsRejected(t *testing.T) {
	build := func() *cobra.Command {
		build := &cobra.Command{Use: "build", Args: cobra.NoArgs}
		build.Flags().String("push", "", "a `TARGET`")
		build.Flags().String("user", "", "a `NAME`")
		build.Flags().Bool("plain", false, "without TLS")
		Needs(build, "push", "user", "plain")
		return build
	}
	for line, want := range map[string]string{
		"build --user x":              "--user has no effect without --push TARGET",
		"build --plain":               "--plain has no effect without --push TARGET",
		"build --user x --push there": "",
		"build":                       "",
	} {
		if got := errorOf(line, "build", build); got != want {
			t.Errorf("%s: found '%s', expected '%s'", line, got, want)
		}
	}
}
