package main

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"bindc/internal/cli"
	"bindc/internal/lookup"
	"bindc/internal/report"
	bindings "bindc/runtime"
)

type dumpFlags struct {
	source
	prefix string
	output
	reveal bool
}

func (g *globals) dumpCommand() *cobra.Command {
	f := dumpFlags{source: source{globals: g}}
	cmd := &cobra.Command{
		Use:   "dump [FILE]",
		Short: "Print every key of a node with its value",
		Long: "dump looks every key up for one node, and prints the answers as one JSON object\n" +
			"or as YAML. Failed lookups are reported on standard error; the other keys are\n" +
			"still printed.\n\n" +
			"Exit status: 0, or 2 on an error, even of a single lookup.",
		Example: "  bindq dump -s site.snap --facts web1.json --prefix ntp::",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := f.pathOrArgument(args); err != nil {
				return err
			}
			return f.run(cmd)
		},
	}
	f.addRequest(cmd)
	cmd.Flags().StringVar(&f.prefix, "prefix", "", "only keys that begin with `TEXT`")
	cli.AllowEmpty(cmd, "prefix")
	f.output.add(cmd, "json")
	f.completePrefix(cmd)
	addShowSensitive(cmd, &f.reveal)
	return cmd
}

// run prints all values. It hides sensitive values unless --show-sensitive is given, because the user did not name
// their keys.
func (f *dumpFlags) run(cmd *cobra.Command) error {
	return f.request(cmd, func(snap *lookup.Snapshot, r *lookup.Request) error {
		keys := sortedKeys(snap, f.prefix)
		notePrefix(cmd, snap, f.prefix, len(keys))
		if err := f.checkDoubts(cmd, r, keys, nil); err != nil {
			return err
		}
		return f.dump(cmd, snap, r)
	})
}

func (f *dumpFlags) dump(cmd *cobra.Command, snap *lookup.Snapshot, r *lookup.Request) error {
	out := bufio.NewWriter(cmd.OutOrStdout())
	p := hashPrinter{w: out, format: f.format}
	var failed error
	for _, key := range sortedKeys(snap, f.prefix) {
		v, found, err := r.Lookup(key)
		if f.reveal {
			v = v.Reveal()
		}
		if err == nil && found {
			err = p.add(key, bindings.Value(v))
		}
		if report.CodeOf(err) == bindings.CodeDamaged {
			return withKey(key, err)
		}
		if err != nil { // other keys are still printed
			failed = withKey(key, err)
			fmt.Fprintln(cmd.ErrOrStderr(), "bindq:", message(failed))
		}
	}
	if err := errors.Join(p.end(), out.Flush()); err != nil || failed == nil {
		return err
	}
	return errReported
}
