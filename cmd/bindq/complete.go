package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/lookup"
)

// manyKeys is how many are too many to choose from.
const manyKeys = 100

// completeKeys has the first arguments of a verb completed from the keys of the snapshot, at most so many.
func (s *source) completeKeys(cmd *cobra.Command, most int) {
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return s.keysFrom(typed)
	}
}

// completePrefix has --prefix completed from them.
func (s *source) completePrefix(cmd *cobra.Command) {
	cmd.RegisterFlagCompletionFunc("prefix", func(_ *cobra.Command, args []string, typed string) (
		[]string, cobra.ShellCompDirective) {
		if _, err := s.only(args); err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		keys, how := s.keysFrom(typed)
		return keys, how | cobra.ShellCompDirectiveNoSpace
	})
}

// keysFrom is the keys that begin with what is typed; where there are many, only as far as the next '::'.
func (s *source) keysFrom(typed string) ([]string, cobra.ShellCompDirective) {
	path, err := s.path()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var keys []string
	err = s.ask(path, func(snap *lookup.Snapshot) error {
		for key := range snap.Keys() {
			if strings.HasPrefix(key, typed) && diag.Visible(key) == key {
				keys = append(keys, strings.Clone(key))
			}
		}
		return nil
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	if len(keys) <= manyKeys {
		slices.Sort(keys)
		return keys, cobra.ShellCompDirectiveNoFileComp
	}
	return begun(keys, len(typed)), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// begun is keys as far as the first '::' behind what is typed, each once and sorted.
func begun(keys []string, typed int) []string {
	seen := map[string]bool{}
	var out []string
	for _, key := range keys {
		if i := strings.Index(key[typed:], "::"); i >= 0 {
			key = key[:typed+i+len("::")]
		}
		if !seen[key] {
			seen[key] = true
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}
