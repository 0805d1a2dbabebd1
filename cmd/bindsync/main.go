// Command bindsync keeps the store of snapshots on a Puppet server: it fetches releases, checks them and activates
// them.
package main

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bindc/internal/cli"
	"bindc/internal/report"
	bindings "bindc/runtime"
	"bindc/ship"
)

func main() { os.Exit(execute(command(os.Args[1:]))) }

func execute(root *cobra.Command) int { return cli.Execute(root, message, statusOf) }

func (store *storeFlag) verbs() cli.Verbs {
	return cli.Verbs{
		"activate": store.activateCommand,
		"follow":   store.followCommand,
		"gc":       store.gcCommand,
		"pull":     store.pullCommand,
		"reset":    store.resetCommand,
		"rollback": store.rollbackCommand,
		"status":   store.statusCommand,
	}
}

func command(args []string) *cobra.Command {
	root := cli.NewProgram("bindsync", "Keep the store of snapshots on a server",
		"bindsync fetches the snapshots that a pipeline has pushed, checks who signed\n"+
			"them and what changes, and activates them for bindq, Puppet and the Go runtime.\n\n"+
			"Exit status: 0 done; 1 a release is refused, or a name needs attention; 2\n"+
			"another error: usage, network or disk.",
		"  bindsync pull file:site.snap --name production")
	store := &storeFlag{}
	store.add(root)
	cli.Finish(root, store.verbs(), args)
	return root
}

// statusOf returns the exit status for an error of a verb: 1 if a release was rejected, otherwise 2.
func statusOf(verb *cobra.Command, err error) int {
	if slices.Contains([]string{"pull", "activate", "rollback"}, verb.Name()) && isRefused(err) {
		return cli.ExitNo
	}
	return cli.ExitError
}

// message returns an error as bindsync prints it. A configuration may have several problems, each on its line.
func message(err error) string {
	var all unusable
	if errors.As(err, &all) {
		return strings.Join(all.lines(), "\n")
	}
	return report.Message(err, codeOf(err))
}

// codeOf returns the stable code of an error, or "" if the error has none.
func codeOf(err error) bindings.Code {
	var refusal *ship.Refusal
	if errors.As(err, &refusal) {
		return report.CodeRefused
	}
	return report.CodeOf(err)
}
