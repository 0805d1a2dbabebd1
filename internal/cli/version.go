package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is the version of a release, which packagers set:
//
//	go build -ldflags '-X bindc/internal/cli.release=1.2.3' ./cmd/...
var release string

// Version returns the version of the program, and the commit if it is known.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return cmp.Or(release, "unknown")
	}
	return describe(release, info)
}

func describe(release string, info *debug.BuildInfo) string {
	version := cmp.Or(release, info.Main.Version)
	if version == "" || version == "(devel)" {
		version = "devel"
	}
	commit, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = ", commit " + s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = " with changes"
		}
	}
	if commit == "" {
		changed = ""
	}
	return version + commit + changed
}

// versionFlag is the flag that prints the version. It replaces cobra's own, which would need the
// version at every start.
const versionFlag = "version"

func printVersion(root *cobra.Command) error {
	_, err := fmt.Fprintf(root.OutOrStdout(), "%s %s\n", root.Name(), Version())
	return err
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of the program",
		Long: "version prints the version, the commit it was built from, if that is known,\n" +
			"the version of Go and the platform.\n\nExit status: 0.",
		Example: "  bindq version",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s, %s %s/%s\n", cmd.Root().Name(), Version(),
				runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
