package cli

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// wordsAfterCursor is an environment variable with the words that follow the cursor. Completion
// scripts set it, because the arguments of __complete end at the cursor, but a flag after the
// cursor may name the snapshot whose keys to complete.
const wordsAfterCursor = "BINDC_WORDS_AFTER_CURSOR"

// scriptChanges lists changes to cobra's completion scripts, by shell: the old text and its
// replacement.
var scriptChanges = map[string][][2]string{
	"bash": {
		{`    out=$(eval "${requestComp}" 2>/dev/null)`,
			`    out=$(export ` + wordsAfterCursor + `="${COMP_WORDS[*]:COMP_CWORD+1}"; eval "${requestComp}" 2>/dev/null)`},
	},
	"zsh": {{`    words=("${=words[1,CURRENT]}")`,
		"    local -x " + wordsAfterCursor + `="${words[CURRENT+1,-1]}"` + "\n" +
			`    words=("${=words[1,CURRENT]}")`}},
	"fish": {{`    set -l results (eval $requestComp 2> /dev/null)`,
		"    set -lx " + wordsAfterCursor + " (string sub -s (math (commandline -C) + 1) -- (commandline -b))\n" +
			`    set -l results (eval $requestComp 2> /dev/null)`}},
}

// seeAfterCursor changes a completion script so that it sets wordsAfterCursor.
func seeAfterCursor(shell, script string) string {
	for _, change := range scriptChanges[shell] {
		script = strings.Replace(script, change[0], change[1], 1)
	}
	return script
}

// contextFlags lists flags whose values affect the completion of other words.
var contextFlags = []string{"-s", "--snapshot", "--facts-dir"}

// withFlagsAfterCursor returns the arguments of __complete together with the context flags after
// the cursor.
func withFlagsAfterCursor(root *cobra.Command, args []string) []string {
	unquoted := strings.NewReplacer(" = ", "=", "'", "", `"`, "").Replace(os.Getenv(wordsAfterCursor))
	after := strings.Fields(unquoted)
	isRequest := len(args) > 1 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
	if !isRequest || len(after) == 0 || root.PersistentFlags().Lookup("snapshot") == nil {
		return args
	}
	var flags []string
	for i, word := range after {
		name, _, hasValue := strings.Cut(word, "=")
		switch {
		case !slices.Contains(contextFlags, name):
		case hasValue:
			flags = append(flags, word)
		case i+1 < len(after):
			flags = append(flags, word, after[i+1])
		}
	}
	verb := 2
	if strings.HasPrefix(args[1], "-") || len(args) == 2 {
		verb = 1
	}
	return slices.Concat(args[:verb], flags, args[verb:])
}
