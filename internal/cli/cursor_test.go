package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Each change applies to the script that this version of cobra generates.
func TestScriptsPassTheWordsAfterTheCursor(t *testing.T) {
	root := &cobra.Command{Use: "program"}
	root.AddCommand(&cobra.Command{Use: "verb", Run: func(*cobra.Command, []string) {}})
	for shell, changes := range scriptChanges {
		script, err := completionScript(root, shell)
		if err != nil {
			t.Fatal(err)
		}
		changed := seeAfterCursor(shell, script)
		for _, change := range changes {
			if !strings.Contains(script, change[0]) {
				t.Errorf("%s: cobra's script lacks '%s'", shell, change[0])
			}
			if !strings.Contains(changed, change[1]) {
				t.Errorf("%s: the script lacks '%s'", shell, change[1])
			}
		}
	}
}

func TestCompletionUsesFlagsAfterCursor(t *testing.T) {
	for _, c := range []struct{ args, after, want string }{
		{"__complete lookup k", "-s a", "__complete lookup -s a k"},
		{"__complete lookup k", "--snapshot = 'a' x", "__complete lookup --snapshot=a k"},
		{"__complete lookup k", "--node x --facts-dir f", "__complete lookup --facts-dir f k"},
		{"__completeNoDesc lookup k", "-s a", "__completeNoDesc lookup -s a k"},
		{"__complete -s b lookup", "-s a", "__complete -s a -s b lookup"},
		{"__complete lo", "-s a", "__complete -s a lo"},
		{"__complete lookup k", "-s", "__complete lookup k"},
		{"__complete", "-s a", "__complete"},
		{"lookup k", "-s a", "lookup k"},
		{"", "-s a", ""},
	} {
		t.Setenv(wordsAfterCursor, c.after)
		root := &cobra.Command{Use: "program"}
		root.PersistentFlags().StringP("snapshot", "s", "", "")
		got := withFlagsAfterCursor(root, strings.Fields(c.args))
		if !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s | %s: found %q, expected %s", c.args, c.after, got, c.want)
		}
	}
	t.Setenv(wordsAfterCursor, "-s a")
	args := []string{"__complete", "lookup", "k"}
	if got := withFlagsAfterCursor(&cobra.Command{Use: "program"}, args); !slices.Equal(got, args) {
		t.Errorf("a program without -s: found %q", got)
	}
}
