package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// The error for a verb of another program suggests our command.
func TestSuggestsOurCommandForOtherProgramsVerb(t *testing.T) {
	for line, want := range map[string]string{
		"bindc validate":  "unknown verb 'validate'; run 'bindc check CONFDIR'",
		"bindq lint":      "unknown verb 'lint'; run 'bindc check CONFDIR --lint'",
		"bindq why":       "unknown verb 'why'; run 'bindq explain KEY'",
		"bindq list":      "unknown verb 'list'; run 'bindq keys'",
		"bindsync list":   "unknown verb 'list'; run 'bindsync status'",
		"bindsync undo":   "unknown verb 'undo'; run 'bindsync rollback NAME'",
		"bindsync status": "'status' is a verb of bindsync: run 'bindsync status'",
		"bindq versoin":   "unknown verb 'versoin'; did you mean 'version'?",
		"bindq frobnify":  "unknown verb 'frobnify' (see bindq --help)",
	} {
		args := strings.Fields(line)
		root := &cobra.Command{Use: args[0], SilenceUsage: true, SilenceErrors: true}
		Finish(root, nil, args[1:])
		root.SetArgs(args[1:])
		if err := root.Execute(); err == nil || err.Error() != want {
			t.Errorf("%s: found '%v', expected '%s'", line, err, want)
		}
	}
}

// A suggested command begins with a program and one of its verbs. No suggestion replaces an existing verb.
func TestSuggestedCommandsExist(t *testing.T) {
	for name, run := range commandOf {
		words := strings.Fields(run)
		if program := programOf[words[1]]; program != words[0] {
			t.Errorf("%s: '%s': '%s' is a verb of '%s'", name, run, words[1], program)
		}
		if program := programOf[name]; program != "" {
			t.Errorf("'%s' is a verb of %s", name, program)
		}
	}
}
