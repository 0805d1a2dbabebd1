package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/cli"
	"bindc/internal/decision"
	"bindc/internal/recipe"
	"bindc/internal/value"
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
	return f.trust.report(path, func(file *snapshot.Snapshot) error {
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

type valuesShape struct {
	Key           string           `json:"key"`
	Options       json.RawMessage  `json:"lookup_options,omitempty"`
	Bindings      []candidateShape `json:"bindings"`
	Contributions []candidateShape `json:"contributions,omitempty"`
}

func (f *tableFlags) values(out io.Writer, key string, t *decision.Table) error {
	s := shower{f.showSensitive, formOf(f.render)}
	shape := valuesShape{key, options(t, s.form), s.rows(t.Rows), s.rows(t.Contributions)}
	if f.render != "s" {
		return printShape(out, f.render, shape)
	}
	return onPage(out, func(p *page) {
		fmt.Fprintln(p, p.paint(bold, key))
		p.options(t)
		p.rows(shape.Bindings)
		if len(shape.Contributions) > 0 {
			fmt.Fprintf(p, "\n%s\n", p.paint(bold, "contributions to "+key))
			p.rows(shape.Contributions)
		}
	})
}

// options is what lookup_options say, or true where that depends on the request; nil where they say nothing.
func options(t *decision.Table, f form) json.RawMessage {
	switch {
	case !t.Touched:
		return nil
	case t.Options.IsUndef():
		return json.RawMessage("true")
	}
	return appendForm(nil, t.Options, f) // the keys of options are strings, so their texts differ
}

// options says what lookup_options say, and so whether it is the first row that counts.
func (p *page) options(t *decision.Table) {
	text := "lookup_options: " + string(value.AppendJSON(nil, t.Options))
	switch {
	case !t.Touched:
		return
	case t.Options.IsUndef():
		text = "lookup_options depend on the node: all that hold for it may count"
	case t.Merged:
		text += ", so all count that hold for a node"
	}
	p.wrapped(2, yellow, strings.Fields(text))
}

// rows is a table of conditions, values and places.
func (p *page) rows(rows []candidateShape) {
	for i := range rows {
		r := &rows[i]
		p.wrapped(2, "", condition(r.Name, r.When, "always"))
		p.line(6, p.outcomeStyle(r.Outcome), "= "+r.Outcome.text())
		fmt.Fprint(p, "      ")
		p.place(6, r.At, r.Layer)
	}
}

func (p *page) outcomeStyle(o outcome) string {
	if o.Error != nil {
		return red
	}
	return green
}
