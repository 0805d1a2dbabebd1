package main

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"bindc/internal/diag"
)

//go:embed starter
var starter embed.FS

func initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init DIR",
		Short: "Make a small site to start from",
		Long: "init writes a site into DIR, which is empty or not there yet: a hierarchy, two\n" +
			"modules, structured bindings, facts of two nodes; each file says what it shows.\n" +
			"It prints the commands to try next.\n\n" +
			"Exit status: 0, or 2 it could not be written.",
		Example: "  bindc init new-site",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := makeSite(args[0]); err != nil {
				return err
			}
			return sayNext(cmd.OutOrStdout(), args[0])
		},
	}
}

// makeSite writes the site into a directory, if nothing is there that it could be mixed with.
func makeSite(dir string) error {
	there, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(there) > 0 {
		return fmt.Errorf("expected a directory that is empty or not there yet, found '%s' in '%s'",
			there[0].Name(), dir)
	}
	site, err := fs.Sub(starter, "starter")
	if err != nil {
		return err
	}
	return os.CopyFS(dir, site)
}

func sayNext(out io.Writer, dir string) error {
	_, err := fmt.Fprintf(out, `%s holds a site; binder_config.yaml is where to begin reading. Try:

  cd %s
  bindc check . --strict --facts-dir facts
  bindc build . -o site.bsnap
  bindq lookup web::workers -s site.bsnap --facts facts/web1.yaml --explain
  bindq values ntp::package -s site.bsnap
  bindq dump site.bsnap --facts facts/db1.yaml --render-as yaml
  bindq nodes site.bsnap --facts-dir facts
`, diag.Visible(dir), diag.Visible(quotedForShell(dir)))
	return err
}

// quotedForShell is a word that a shell takes as text.
func quotedForShell(text string) string {
	if strings.HasPrefix(text, "-") {
		text = "./" + text
	}
	if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./+:@%") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
