package main

import (
	"io"
	"slices"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/cli"
	"bindc/internal/recipe"
	"bindc/internal/report"
	"bindc/internal/report/decision"
	"bindc/snapshot"
)

// tableFlags are the flags of the verbs that show decision tables.
type tableFlags struct {
	source
	render        string
	showSensitive bool
}

func (f *tableFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.render, "render-as", "s", "`FORM` to print the answer in: s for text, json, yaml")
	cli.Words(cmd, "render-as", renderings)
	f.completeKeys(cmd, 1)
	cmd.Flags().BoolVar(&f.showSensitive, "show-sensitive", false, "show sensitive values")
}

// table hands on the decision table of a key. The error is errNotFound where there is none.
func (f *tableFlags) table(cmd *cobra.Command, key string, do func(*decision.Table) error) error {
	if err := checkRendering(f.render); err != nil {
		return err
	}
	path, err := f.path()
	if err != nil {
		return err
	}
	return f.signers.Use(path, func(file *snapshot.Snapshot) error {
		book, err := f.book(file, false)
		if err != nil {
			return err
		}
		table, err := book.Values(key)
		if err != nil {
			return err
		}
		if len(table.Rows) == 0 || recipe.IsInternal(key) {
			return unbound(cmd, file, key)
		}
		return do(table)
	})
}

// unbound says that nothing binds key.
func unbound(cmd *cobra.Command, file *snapshot.Snapshot, key string) error {
	text := key + ": nothing binds this key"
	if hint := diag.DidYouMean(key, slices.Collect(file.Keys())); hint != "" {
		text += "; " + hint
	}
	say(cmd, text)
	return errNotFound
}

func valuesCommand() *cobra.Command {
	var f tableFlags
	cmd := &cobra.Command{
		Use:   "values KEY",
		Short: "Show who gets which value of a key, and where it is written",
		Long: "values prints all bindings of a key in order of precedence: a node gets the\n" +
			"value of the first whose condition holds for it.\n\n" +
			"Exit status: 0 the key is bound, 1 it is not, 2 an error.",
		Example: "  bindq values ntp::package -s site.bsnap",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.table(cmd, args[0], func(t *decision.Table) error {
				return f.values(cmd.OutOrStdout(), args[0], t)
			})
		},
	}
	f.addSnapshot(cmd)
	f.addIdentity(cmd)
	f.add(cmd)
	return cmd
}

func (f *tableFlags) values(out io.Writer, key string, t *decision.Table) error {
	v := styleOf(f.showSensitive, f.render).Values(key, t)
	if f.render != "s" {
		return printReport(out, f.render, v)
	}
	return onPage(out, func(p *report.Page) { p.Values(v) })
}
