package main

import (
	"embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"bindc/diag"
)

//go:embed starter control
var starter embed.FS

func initCommand() *cobra.Command {
	var puppet bool
	cmd := &cobra.Command{
		Use:   "init DIR",
		Short: "Create a small site to start from",
		Long: "init writes a site into DIR, which must be empty or missing: a hierarchy, two\n" +
			"modules, structured bindings, and facts of two nodes. Comments explain each\n" +
			"file. It prints the commands to try next. With --puppet the site is a control\n" +
			"repository, which both Puppet and bindc can read.\n\n" +
			"Exit status: 0, or 2 on an error.",
		Example: "  bindc init new-site",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := makeSite(args[0])
			if err == nil && puppet {
				err = addPuppet(args[0])
			}
			if err != nil {
				return err
			}
			return sayNext(cmd.OutOrStdout(), args[0], puppet)
		},
	}
	cmd.Flags().BoolVar(&puppet, "puppet", false, "create a control repository that Puppet can read too")
	return cmd
}

// makeSite writes the new site into dir, which must be empty or missing.
func makeSite(dir string) error {
	if err := mustBeEmpty(dir); err != nil {
		return err
	}
	site, err := fs.Sub(starter, "starter")
	if err != nil {
		return err
	}
	return os.CopyFS(dir, site)
}

// addPuppet turns the new site into a control repository. It renames each hiera.yaml to hiera2.yaml, because Puppet
// reads a hiera.yaml as Hiera 5.
func addPuppet(dir string) error {
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Base(path) == "hiera.yaml" {
			err = os.Rename(path, filepath.Join(filepath.Dir(path), "hiera2.yaml"))
		}
		return err
	})
	if err != nil {
		return err
	}
	control, err := fs.Sub(starter, "control")
	if err != nil {
		return err
	}
	return os.CopyFS(dir, control)
}

func sayNext(out io.Writer, dir string, puppet bool) error {
	_, err := fmt.Fprintf(out, `%s is a new site. Read binder_config.yaml first, then try:

  cd %s
  bindc check . --strict --facts-dir facts
  bindc build . -o site.snap
  bindq explain web::workers -s site.snap --facts facts/web1.yaml
  bindq values ntp::package -s site.snap
  bindq dump site.snap --facts facts/db1.yaml --format yaml
  bindq nodes site.snap --facts-dir facts
`, diag.Visible(dir), diag.Visible(quotedForShell(dir)))
	if err == nil && puppet {
		_, err = io.WriteString(out, `
It is also a Puppet environment, with hiera.yaml, environment.conf and manifests.
With the module bindc, Puppet reads /var/lib/bindc/production.snap: build the
environment production there.
`)
	}
	return err
}

// quotedForShell returns text as one word for a shell. A leading '-' becomes "./-", so that text is not an option.
func quotedForShell(text string) string {
	if strings.HasPrefix(text, "-") {
		text = "./" + text
	}
	if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./+:@%") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
