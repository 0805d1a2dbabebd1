// Command bindq answers lookups from a snapshot that bindc wrote.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"bindc/internal/cli"
	"bindc/internal/report"
)

// These errors only set the exit status: the verb has printed its answer.
var (
	errNotFound = &cli.Answer{Reason: "not found", Status: cli.ExitNo}
	errDiffers  = &cli.Answer{Reason: "the snapshots differ", Status: cli.ExitNo}
	errReported = &cli.Answer{Reason: "a lookup failed", Status: cli.ExitError}
)

func main() { os.Exit(execute(command(os.Args[1:]))) }

func execute(root *cobra.Command) int { return cli.Execute(root, message, statusOf) }

// statusOf returns the exit status for an error of a verb. If verify rejects a snapshot, that is a result of the
// verb, not a failure.
func statusOf(verb *cobra.Command, err error) int {
	if verb.Name() == "verify" && report.CodeOf(err) == report.CodeRefused {
		return cli.ExitNo
	}
	return cli.ExitError
}

func (g *globals) verbs() cli.Verbs {
	return cli.Verbs{
		"batch":        g.batchCommand,
		"diff":         g.diffCommand,
		"dump":         g.dumpCommand,
		"explain":      g.explainCommand,
		"hiera-config": g.hieraConfigCommand,
		"info":         g.infoCommand,
		"keys":         g.keysCommand,
		"lookup":       g.lookupCommand,
		"nodes":        g.nodesCommand,
		"serve":        g.serveCommand,
		"values":       g.valuesCommand,
		"verify":       g.verifyCommand,
	}
}

func command(args []string) *cobra.Command {
	root := cli.NewProgram("bindq", "Answer lookups from a snapshot",
		"bindq maps a snapshot that bindc wrote and answers lookups for the facts of a\n"+
			"node. -s FILE, or BINDQ_SNAPSHOT in the environment, names the snapshot.\n\n"+
			"Exit status: 0 yes, found or valid; 1 no or not found; 2 an error: usage, a\n"+
			"damaged snapshot or a failed lookup.",
		"  facter --json | bindq lookup ntp::package -s site.snap --facts -")
	g := &globals{}
	g.add(root)
	cli.Finish(root, g.verbs(), args)
	return root
}

func message(err error) string { return report.Message(err, report.CodeOf(err)) }

// addShowSensitive adds --show-sensitive to a verb whose arguments do not name keys.
func addShowSensitive(cmd *cobra.Command, show *bool) {
	cmd.Flags().BoolVar(show, "show-sensitive", false, "show sensitive values too")
}
