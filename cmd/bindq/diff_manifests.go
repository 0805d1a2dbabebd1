package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/manifest"
	"bindc/internal/report"
)

// findUses adds to changes the places in --manifests that still look up removed keys.
func (f *diffFlags) findUses(cmd *cobra.Command, changes *report.Diff) error {
	if len(f.manifests) == 0 {
		return nil
	}
	calls, err := manifest.Read(f.manifests)
	if err != nil {
		return fmt.Errorf("--manifests: %w", err)
	}
	if calls.Files == 0 {
		note(cmd, "--manifests: no manifest (*.pp) is below "+diag.Quoted(f.manifests))
	}
	uses := map[string][]report.Use{}
	for _, u := range calls.Uses {
		uses[u.Key] = append(uses[u.Key], report.Use{At: u.At.String(), By: u.By})
	}
	changes.SetAskedFor(uses)
	if slices.ContainsFunc(changes.Keys, func(k report.Key) bool { return k.Gone }) {
		noteUnread(cmd, &calls)
	}
	return nil
}

// noteUnread prints notes about lookups of removed keys that findUses may have missed, because a manifest has a syntax
// error or a lookup computes its key.
func noteUnread(cmd *cobra.Command, calls *manifest.Calls) {
	for _, at := range calls.Wrong {
		note(cmd, at.String()+": syntax error; the rest of this manifest may look up removed keys")
	}
	if n := len(calls.Computed); n > 0 {
		text := " computes its key, in "
		if n > 1 {
			text = " compute their keys, the first in "
		}
		note(cmd, diag.Count(n, "lookup")+text+calls.Computed[0].String()+
			"; it may look up a removed key")
	}
}
