// Command bindq answers lookups from a snapshot that bindc wrote.
package main

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/cli"
	"bindc/internal/lookup"
	"bindc/origin"
	bindings "bindc/runtime"
	"bindc/ship"
)

// Answers of verbs that are printed already.
var (
	errNotFound = &cli.Answer{Reason: "not found", Status: cli.ExitNo}
	errDiffers  = &cli.Answer{Reason: "the snapshots differ", Status: cli.ExitNo}
	errReported = &cli.Answer{Reason: "a lookup failed", Status: cli.ExitError}
)

func main() { os.Exit(execute(command(os.Args[1:]))) }

// execute runs the verb that the arguments name, prints its error and returns the exit status.
func execute(root *cobra.Command) int { return cli.Execute(root, message, statusOf) }

// statusOf returns the exit status for an error of a verb. A refused snapshot is an answer.
func statusOf(verb *cobra.Command, err error) int {
	if verb.Name() == "verify" && codeOf(err) == codeRefused || ships(verb) && isRefused(err) {
		return cli.ExitNo
	}
	return cli.ExitError
}

// command returns the program. For 'serve', which Puppet starts and waits for, it has no other verb.
func command(args []string) *cobra.Command {
	root := cli.NewProgram("bindq", "Answer lookups from a snapshot",
		"bindq maps a snapshot that bindc wrote and answers lookups for the facts of a\n"+
			"node. -s FILE says which snapshot, or BINDQ_SNAPSHOT in the environment.\n\n"+
			"Exit status: 0 yes, found, sound; 1 no, not found; 2 it could not be done:\n"+
			"usage, a damaged snapshot, an error of the lookup.",
		"  facter --json | bindq lookup ntp::package -s site.bsnap --facts -")
	if len(args) > 0 && args[0] == "serve" {
		root.AddCommand(serveCommand())
	} else {
		root.AddCommand(lookupCommand(), dumpCommand(), keysCommand(), batchCommand(), valuesCommand(),
			whyNotCommand(), diffCommand(), sliceCommand(), nodesCommand(), serveCommand(), hieraConfigCommand(),
			verifyCommand(), infoCommand(), pullCommand(), followCommand(), activateCommand(),
			rollbackCommand(), resetCommand(), statusCommand(), gcCommand())
	}
	cli.Finish(root)
	return root
}

// ships tells whether a verb takes a snapshot into force.
func ships(verb *cobra.Command) bool {
	return slices.Contains([]string{"pull", "activate", "rollback"}, verb.Name())
}

// message is an error as it is shown: KEY: message [code]. What comes from outside cannot harm a terminal.
func message(err error) string {
	var all unusable
	if errors.As(err, &all) {
		return strings.Join(all.lines(), "\n")
	}
	text := err.Error()
	var e *bindings.Error
	if errors.As(err, &e) && e.Key != "" {
		text = e.Key + ": " + strings.TrimPrefix(text, "'"+e.Key+"': ")
	}
	if code := codeOf(err); code != "" {
		text += " [" + string(code) + "]"
	}
	return diag.Visible(text)
}

// codeRefused is the code of an *origin.Refusal.
const codeRefused bindings.Code = "snapshot_refused"

// codeOf returns the stable code of an error, "" if the error has none.
func codeOf(err error) bindings.Code {
	var e *bindings.Error
	var refusal *origin.Rejection
	var held *ship.Refusal
	var other *cli.External
	code := lookup.CodeOf(err)
	switch {
	case errors.As(err, &e):
		return code
	case errors.As(err, &refusal), errors.As(err, &held):
		return codeRefused
	case code == bindings.CodeUsage && errors.As(err, &other):
		return ""
	}
	return code
}

// addShowSensitive adds the flag with which somebody asks for sensitive values where no key is asked for.
func addShowSensitive(cmd *cobra.Command, show *bool) {
	cmd.Flags().BoolVar(show, "show-sensitive", false, "show sensitive values too")
}
