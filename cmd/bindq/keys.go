package main

import (
	"bufio"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/cli"
	"bindc/internal/lookup"
)

func (g *globals) keysCommand() *cobra.Command {
	s := source{globals: g}
	var prefix string
	var o output
	cmd := &cobra.Command{
		Use:   "keys [FILE]",
		Short: "List the keys of a snapshot",
		Long: "keys prints all keys, sorted, one per line; as JSON or YAML, an array.\n\n" +
			"Exit status: 0, or 2 on an error.",
		Example: "  bindq keys -s site.snap --prefix ntp::",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := s.pathOrArgument(args)
			if err != nil {
				return err
			}
			return s.ask(path, func(snap *lookup.Snapshot) error {
				keys := sortedKeys(snap, prefix)
				notePrefix(cmd, snap, prefix, len(keys))
				if o.format != "text" {
					return printReport(cmd.OutOrStdout(), o.format, keys)
				}
				out := bufio.NewWriter(cmd.OutOrStdout())
				for _, key := range keys {
					fmt.Fprintln(out, diag.Visible(key)) // Flush returns any error
				}
				return out.Flush()
			})
		},
	}
	cmd.Flags().StringVar(&prefix, "prefix", "", "only keys that begin with `TEXT`")
	cli.AllowEmpty(cmd, "prefix")
	s.completePrefix(cmd)
	o.add(cmd, "text")
	return cmd
}

// notePrefix prints a note if no key begins with prefix. It suggests the start of a key up to a '::'.
func notePrefix(cmd *cobra.Command, snap *lookup.Snapshot, prefix string, n int) {
	if n > 0 || prefix == "" {
		return
	}
	starts := map[string]bool{}
	for key := range snap.Keys() {
		for i := 0; ; {
			next := strings.Index(key[i:], "::")
			if next < 0 {
				break
			}
			i += next + len("::")
			starts[key[:i]] = true
		}
	}
	text := "no key begins with '" + prefix + "'"
	if hint := diag.DidYouMean(prefix, slices.Sorted(maps.Keys(starts))); hint != "" {
		text += "; " + hint
	}
	note(cmd, text)
}

func sortedKeys(snap *lookup.Snapshot, prefix string) []string {
	out := []string{}
	for key := range snap.Keys() {
		if strings.HasPrefix(key, prefix) {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}
