package main

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/facts"
	"bindc/internal/lookup"
)

// manyKeys is the maximum number of keys that completion offers. If more keys match, it offers only the next segment of
// each.
const manyKeys = 100

// completeKeys completes the arguments of cmd from the snapshot's keys. cmd accepts at most the given number of
// arguments.
func (s *source) completeKeys(cmd *cobra.Command, most int) {
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return s.keysFrom(typed)
	}
}

type completer func(typed string) ([]string, cobra.ShellCompDirective)

// completeFlag completes the value of a flag. The snapshot may be the argument of the verb.
func (s *source) completeFlag(cmd *cobra.Command, flag string, words completer) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, args []string, typed string) (
		[]string, cobra.ShellCompDirective) {
		if len(args) > 0 && strings.Contains(cmd.Use, "[FILE]") {
			if _, err := s.pathOrArgument(args); err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
		}
		return words(typed)
	})
	if err != nil {
		panic(err) // only if the flag does not exist
	}
}

func (s *source) completePrefix(cmd *cobra.Command) {
	s.completeFlag(cmd, "prefix", func(typed string) ([]string, cobra.ShellCompDirective) {
		keys, how := s.keysFrom(typed)
		return keys, how | cobra.ShellCompDirectiveNoSpace
	})
}

// inSnapshot calls list with the snapshot, and returns those words that begin with the typed text.
func (s *source) inSnapshot(typed string, list func(*lookup.Snapshot) ([]string, error)) (
	words []string, how cobra.ShellCompDirective) {
	path, err := s.path()
	if err == nil {
		err = s.ask(path, func(snap *lookup.Snapshot) error {
			words, err = list(snap)
			return err
		})
	}
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	unusable := func(word string) bool { return !strings.HasPrefix(word, typed) || diag.Visible(word) != word }
	return slices.DeleteFunc(words, unusable), cobra.ShellCompDirectiveNoFileComp
}

// keysFrom returns the keys that begin with the typed text. If there are many, it cuts them after the next '::'.
func (s *source) keysFrom(typed string) ([]string, cobra.ShellCompDirective) {
	keys, how := s.inSnapshot(typed, func(snap *lookup.Snapshot) (keys []string, err error) {
		for key := range snap.Keys() {
			if strings.HasPrefix(key, typed) {
				keys = append(keys, strings.Clone(key))
			}
		}
		return keys, nil
	})
	if len(keys) <= manyKeys {
		slices.Sort(keys)
		return keys, how
	}
	return nextSegments(keys, len(typed)), how | cobra.ShellCompDirectiveNoSpace
}

// nextSegments cuts each key after the first '::' beyond the typed text, which has the given length. It returns the
// results sorted and without duplicates.
func nextSegments(keys []string, typed int) []string {
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

// nodesFrom completes --node from the facts directory. Without a facts directory, it offers the nodes that conditions
// name.
func (s *source) nodesFrom(typed string) ([]string, cobra.ShellCompDirective) {
	dir := s.dirOfFacts()
	if dir == "" {
		return s.inSnapshot(typed, func(snap *lookup.Snapshot) ([]string, error) {
			compared, err := snap.Compared()
			return compared["node"], err
		})
	}
	names, err := facts.Names(dir)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, typed) })
	return names, cobra.ShellCompDirectiveNoFileComp
}

// factsFrom completes NAME=VALUE. It offers the variables that lookups depend on and, after the '=', the values that
// conditions compare the variable with.
func (s *source) factsFrom(typed string) ([]string, cobra.ShellCompDirective) {
	if name, _, hasValue := strings.Cut(typed, "="); hasValue {
		return s.inSnapshot(typed, func(snap *lookup.Snapshot) ([]string, error) {
			compared, err := snap.Compared()
			words := compared[name]
			for i := range words {
				words[i] = name + "=" + words[i]
			}
			return words, err
		})
	}
	words, how := s.inSnapshot(typed, func(snap *lookup.Snapshot) ([]string, error) {
		names, _, _, needsErr := snap.Needs()
		compared, err := snap.Compared()
		delete(compared, "node") // --node sets this variable
		names = slices.AppendSeq(names, maps.Keys(compared))
		slices.Sort(names)
		names = slices.Compact(names)
		for i := range names {
			names[i] += "="
		}
		return names, cmp.Or(needsErr, err)
	})
	return words, how | cobra.ShellCompDirectiveNoSpace
}
