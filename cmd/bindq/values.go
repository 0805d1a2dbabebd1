package main

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/lookup"
	"bindc/internal/recipe"
	"bindc/internal/report"
	"bindc/internal/report/affected"
	"bindc/internal/report/decision"
	"bindc/snapshot"
)

type tableFlags struct {
	source
	output
	showSensitive bool
	all           bool
}

func (f *tableFlags) add(cmd *cobra.Command) {
	f.output.add(cmd, "text")
	f.completeKeys(cmd, 1)
	cmd.Flags().BoolVar(&f.showSensitive, "show-sensitive", false, "show sensitive values")
}

// table calls do with the decision table of key. If nothing binds key, it returns errNotFound.
func (f *tableFlags) table(cmd *cobra.Command, key string, do func(*decision.Table) error) error {
	path, err := f.path()
	if err != nil {
		return err
	}
	return f.signers.Use(path, func(file *snapshot.Snapshot) error {
		tables, err := f.tables(file, false)
		if err != nil {
			return err
		}
		table, err := tables.Values(key)
		if err != nil {
			return err
		}
		if len(table.Rows) == 0 || recipe.IsInternal(key) {
			return unbound(cmd, file, key)
		}
		return do(table)
	})
}

// unbound prints that nothing binds key, and returns errNotFound.
func unbound(cmd *cobra.Command, file *snapshot.Snapshot, key string) error {
	text := key + ": nothing binds this key"
	if hint := diag.DidYouMean(key, slices.Collect(file.Keys())); hint != "" {
		text += "; " + hint
	}
	say(cmd, text)
	return errNotFound
}

func (g *globals) valuesCommand() *cobra.Command {
	f := tableFlags{source: source{globals: g}}
	cmd := &cobra.Command{
		Use:   "values KEY [VALUE]",
		Short: "Show which nodes get which value of a key, and its source",
		Long: "values prints the decision table of a key, all of its bindings in order of\n" +
			"precedence: a node gets the value of the first binding whose condition holds for\n" +
			"it. With --facts-dir it lists the nodes of each binding.\n\n" +
			"With VALUE (JSON or text), values prints when this value wins and which bindings\n" +
			"hide it. With facts, it also prints whether that node gets the value; with\n" +
			"--facts-dir alone, it lists the nodes that get it.\n\n" +
			"Exit status: 0 the key is bound (to VALUE), 1 it is not, 2 on an error.",
		Example: "  bindq values ntp::package -s site.snap\n" +
			"  bindq values ntp::package ntp -s site.snap --facts web1.json",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && f.describesNode() {
				return errors.New("values KEY describes all nodes, so it takes no facts of one node: add VALUE, or run " +
					"'bindq explain KEY'")
			}
			return f.table(cmd, args[0], func(t *decision.Table) error {
				if len(args) == 1 {
					return f.values(cmd, args[0], t)
				}
				return f.forValue(cmd, args[0], args[1], t)
			})
		},
	}
	f.addRequest(cmd)
	f.add(cmd)
	cmd.Flags().BoolVar(&f.all, "all", false, "show every binding and node")
	return cmd
}

func (f *tableFlags) values(cmd *cobra.Command, key string, t *decision.Table) error {
	s := styleOf(f.showSensitive, f.format)
	v := s.Values(key, t)
	outcome, err := f.forFleet(cmd, key, s, v.AddNode)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if f.format != "text" {
		return cmp.Or(printReport(out, f.format, v), outcome)
	}
	err = onPage(out, func(p *report.Page) {
		p.All = f.all
		p.Values(v)
	})
	return cmp.Or(err, outcome)
}

// forFleet explains key for each node of the facts directory, and calls add with the explanation. It does nothing if
// the flags name a node. outcome is an error if some nodes had errors.
func (f *tableFlags) forFleet(cmd *cobra.Command, key string, s report.Style,
	add func(string, *report.Explanation)) (outcome, err error) {
	dir := f.dirOfFacts()
	if dir == "" || f.node != "" {
		return nil, nil
	}
	fleet, err := f.addNodes(cmd, dir, key, s, add)
	if err != nil {
		return nil, err
	}
	return fleet.outcome(nil), nil
}

// fewNodes is the maximum number of nodes for which reading the bindings of each node is faster than reading all
// bindings.
const fewNodes = 200

// addNodes calls add with the explanation of key for each node of the fleet in dir.
func (f *tableFlags) addNodes(cmd *cobra.Command, dir, key string, s report.Style,
	add func(string, *report.Explanation)) (*fleet, error) {
	fleet, err := f.readFleet(cmd, dir)
	if err != nil {
		return nil, err
	}
	path, err := f.path()
	if err != nil {
		return nil, err
	}
	return fleet, f.ask(path, func(snap *lookup.Snapshot) (err error) {
		var index lookup.Index
		if len(fleet.nodes) > fewNodes {
			err = snap.Protect(func() error {
				index, err = snap.Index()
				return err
			})
			if err != nil {
				return err
			}
		}
		reports, wrong := make([]*report.Explanation, len(fleet.nodes)), make([]error, len(fleet.nodes))
		affected.InParallel(len(fleet.nodes), func(i int) {
			wrong[i] = snap.Protect(func() error {
				r, err := affected.Request(snap, fleet.nodes[i])
				if err == nil {
					reports[i], err = s.ExplainBriefly(r, key, 0, index) // AddNode ignores the others
				}
				return err
			})
		})
		for i, n := range fleet.nodes {
			if wrong[i] == nil {
				add(n.Name, reports[i])
			}
		}
		return fleet.reportEach(wrong)
	})
}

// forValue prints which nodes of the facts directory get the value in text. If flags describe a node, it prints why
// that node gets the value or not.
func (f *tableFlags) forValue(cmd *cobra.Command, key, text string, t *decision.Table) error {
	s := styleOf(f.showSensitive, f.format)
	if f.describesNode() {
		return f.forNode(cmd, key, func(e *lookup.Explanation) error {
			w, err := s.WhyNot(key, text, t, e)
			if err != nil {
				return err
			}
			return f.printWhyNot(cmd.OutOrStdout(), w)
		})
	}
	w, err := s.WhyNot(key, text, t, nil)
	if err != nil {
		return err
	}
	outcome, err := f.forFleet(cmd, key, s, w.AddNode)
	if err != nil {
		return err
	}
	return cmp.Or(outcome, f.printWhyNot(cmd.OutOrStdout(), w))
}

// forNode calls do with the explanation of key for the node that the flags select.
func (f *tableFlags) forNode(cmd *cobra.Command, key string, do func(*lookup.Explanation) error) error {
	return f.request(cmd, func(_ *lookup.Snapshot, r *lookup.Request) error {
		if err := f.checkDoubts(cmd, r, []string{key}, nil); err != nil {
			return err
		}
		e, err := r.Explain(key)
		if err != nil {
			return err
		}
		return do(e)
	})
}

// printWhyNot prints which nodes get a value, or why they do not. If nothing binds the key to the value, it returns
// errNotFound.
func (f *tableFlags) printWhyNot(out io.Writer, w *report.WhyNot) (err error) {
	if f.format != "text" {
		err = printReport(out, f.format, w)
	} else {
		err = onPage(out, func(p *report.Page) {
			p.All = f.all
			p.WhyNot(w)
		})
	}
	if err == nil && !w.IsBound() {
		err = errNotFound
	}
	return err
}
