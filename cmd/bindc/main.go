// Command bindc compiles a site of Puppet configuration data into a snapshot.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"bindc/internal/cli"
	"bindc/internal/report"
)

// errRefused means that errors were found and have been printed.
var errRefused = &cli.Answer{Reason: "errors were found", Status: cli.ExitNo}

func main() {
	collectGarbageLate()
	os.Exit(cli.Execute(command(os.Args[1:]), message, func(*cobra.Command, error) int { return cli.ExitError }))
}

func verbs(b *bounds) cli.Verbs {
	return cli.Verbs{
		"adopt":        b.adoptCommand,
		"blame":        b.blameCommand,
		"build":        b.buildCommand,
		"check":        b.checkCommand,
		"convert":      convertCommand,
		"enc":          encCommand,
		"environments": b.environmentsCommand,
		"explore":      b.exploreCommand,
		"eyaml":        eyamlCommand,
		"facts":        factsCommand,
		"fmt":          fmtCommand,
		"init":         initCommand,
		"link":         b.linkCommand,
		"lsp":          b.lspCommand,
		"migrate":      b.migrateCommand,
		"plan":         b.planCommand,
		"push":         pushCommand,
		"schema":       schemaCommand,
		"slice":        sliceCommand,
		"test":         b.testCommand,
	}
}

// command returns the root command. It creates only the verb that args names, because creating all verbs is slow.
func command(args []string) *cobra.Command {
	root := cli.NewProgram("bindc", "Compile Puppet configuration data into a snapshot",
		"bindc reads a site of structured bindings and Hiera 2 data, decides for all\n"+
			"possible nodes which binding wins, reports errors, and writes one immutable\n"+
			"snapshot, from which bindq and the Go runtime answer lookups.\n\n"+
			"Exit status: 0 the site is valid, 1 the site has errors, 2 another error: usage,\n"+
			"input or output.",
		"  bindc build site -o site.snap")
	b := &bounds{}
	b.add(root)
	cli.Finish(root, verbs(b), args)
	explainCodes(root)
	return root
}

func message(err error) string { return report.Message(err, report.CodeOf(err)) }
