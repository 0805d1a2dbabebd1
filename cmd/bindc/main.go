// Command bindc compiles a site of Puppet configuration data into a snapshot.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/cli"
	bindings "bindc/runtime"
)

// Exit statuses, as docs/cli.md has them.
const (
	exitRefused = 1 // errors were found in the input
	exitCannot  = 2 // usage, input or output
)

// errRefused says that diagnostics were printed and the site is not compiled.
var errRefused = errors.New("errors were found")

// garbagePercent lets the heap grow to three times what is in use before it is collected. A build leaves little behind
// and much garbage, the trees of the files it parses: of a large site, with Go's 100 it takes a tenth more processor
// time.
const garbagePercent = 200

func main() {
	debug.SetGCPercent(garbagePercent)
	root := command()
	switch err := root.Execute(); {
	case err == nil:
	case errors.Is(err, errRefused):
		os.Exit(exitRefused)
	default:
		fmt.Fprintln(os.Stderr, "bindc:", message(err))
		os.Exit(exitCannot)
	}
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:   "bindc",
		Short: "Compile Puppet configuration data into a snapshot",
		Long: "bindc reads a site of structured bindings and Hiera-2 data, decides for all\n" +
			"possible nodes which binding wins, refuses what is wrong, and writes one\n" +
			"immutable snapshot that bindq and the Go runtime answer lookups from.\n\n" +
			"Exit status: 0 the site is good, 1 errors were found in it, 2 it could not be\n" +
			"done: usage, input or output.",
		Example:       "  bindc build site -o site.bsnap",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(buildCommand(), checkCommand(), convertCommand(), explainCommand(), fmtCommand(), initCommand(),
		schemaCommand(), migrateCommand(), encCommand(), environmentsCommand(), pushCommand(), eyamlCommand(),
		adoptCommand())
	cli.Finish(root)
	return root
}

// message is an error as it is shown: those not of the operating system are of usage. What comes from outside cannot
// harm a terminal.
func message(err error) string {
	var path *fs.PathError
	var link *os.LinkError
	var other *elsewhere
	var coded *bindings.Error
	if errors.As(err, &path) || errors.As(err, &link) || errors.As(err, &other) {
		return diag.Visible(err.Error())
	}
	if errors.As(err, &coded) {
		return diag.Visible(err.Error()) + " [" + string(coded.Code) + "]"
	}
	return diag.Visible(err.Error()) + " [usage]"
}
