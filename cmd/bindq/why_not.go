package main

import (
	"io"

	"github.com/spf13/cobra"

	"bindc/internal/lookup"
	"bindc/internal/report"
	"bindc/internal/report/decision"
)

func whyNotCommand() *cobra.Command {
	var f tableFlags
	cmd := &cobra.Command{
		Use:   "why-not KEY VALUE",
		Short: "Say for whom a value would win, and what hides it",
		Long: "why-not finds the bindings of a key to a value, JSON or else text, and says for\n" +
			"whom each would win and which others hide it; of a multibinding also what is\n" +
			"contributed. With facts it also says what became of them for that node.\n\n" +
			"Exit status: 0 something binds the key to the value, 1 nothing does, 2 an error.",
		Example: "  bindq why-not ntp::package ntp -s site.bsnap --facts web1.json",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.table(cmd, args[0], func(t *decision.Table) error {
				return f.forNode(cmd, args[0], func(e *lookup.Explanation) error {
					return f.whyNot(cmd.OutOrStdout(), args[0], args[1], t, e)
				})
			})
		},
	}
	f.addRequest(cmd)
	f.add(cmd)
	return cmd
}

// forNode hands on what becomes of the bindings of key for the node of the flags, if they give any.
func (f *tableFlags) forNode(cmd *cobra.Command, key string, do func(*lookup.Explanation) error) error {
	if !f.hasFacts() {
		return do(nil)
	}
	return f.request(cmd, func(_ *lookup.Snapshot, r *lookup.Request) error {
		if err := f.doubt(cmd, r, []string{key}, nil); err != nil {
			return err
		}
		e, err := r.Explain(key)
		if err != nil {
			return err
		}
		return do(e)
	})
}

// whyNot prints who gets a value; e is what became of its bindings for the node of the flags, or nil.
func (f *tableFlags) whyNot(out io.Writer, key, text string, t *decision.Table, e *lookup.Explanation) error {
	w, err := styleOf(f.showSensitive, f.render).WhyNot(key, text, t, e)
	if err != nil {
		return err
	}
	if f.render != "s" {
		err = printReport(out, f.render, w)
	} else {
		err = onPage(out, func(p *report.Page) { p.WhyNot(w) })
	}
	if err == nil && !w.IsBound() {
		err = errNotFound
	}
	return err
}
