package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/internal/cli"
	"bindc/internal/enc"
	"bindc/internal/subprocess"
	"bindc/loader"
)

// classifying is the state of one run of 'bindc enc'.
type classifying struct {
	nodes   string
	prune   bool
	jobs    int
	timeout time.Duration
	signals signals
}

func encCommand() *cobra.Command {
	var c classifying
	cmd := &cobra.Command{
		Use:   "enc CONFDIR --nodes FILE -- PROG [ARG...]",
		Short: "Run a node classifier and store its output in a site",
		Long: "enc runs the external node classifier PROG once for each node, as Puppet does,\n" +
			"with ARG and the certname as arguments. It checks the output and writes it to\n" +
			"CONFDIR/enc/CERTNAME.yaml, which the scheme enc: reads. Unchanged files are not\n" +
			"written. If PROG fails for a node, its file is kept and the error reported. FILE\n" +
			"lists the certnames, one per line; - is standard input. With --prune, FILE lists\n" +
			"all nodes: the files that enc wrote for others are removed.\n\n" +
			"Exit status: 0 all nodes are classified, 1 some are not, 2 an error: usage, or\n" +
			"CONFDIR or FILE is missing.",
		Example: "  bindc enc site --nodes nodes.txt -- sh node.sh",
		Args:    cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() != 1 {
				return fmt.Errorf("enc: expected CONFDIR before '--', and the program after it")
			}
			return c.run(cmd, args[0], args[1:])
		},
	}
	cmd.Flags().StringVar(&c.nodes, "nodes", "", "`FILE` of certnames, - for standard input")
	cmd.Flags().Var(cli.AtLeastOne(&c.jobs), "jobs", "classify `N` nodes at a time (default: one per processor)")
	cmd.Flags().DurationVar(&c.timeout, "timeout", subprocess.DefaultTimeout, "stop PROG after `TIME`")
	cmd.Flags().BoolVar(&c.prune, "prune", false, "remove the files of nodes that FILE does not list")
	cmd.MarkFlagRequired("nodes")
	return cmd
}

func (c *classifying) run(cmd *cobra.Command, site string, command []string) error {
	if c.timeout <= 0 {
		return fmt.Errorf("--timeout: expected a time above 0, found %s", c.timeout)
	}
	if _, err := os.ReadDir(site); err != nil {
		return fmt.Errorf("cannot read the site: %w", err)
	}
	name, src, err := c.readNodes(cmd.InOrStdin())
	if err != nil {
		return fmt.Errorf("--nodes: %w", err)
	}
	c.signals.handle()
	var diags diag.List
	nodes, refused := enc.Nodes(name, src, &diags)
	progress := cli.NewProgress(cmd.ErrOrStderr())
	progress.Begin("asking for nodes", len(nodes))
	asks := enc.Classifier{Command: command, Site: site, Jobs: c.jobs, Timeout: c.timeout,
		Context: c.signals.stopped, Asked: progress.Done,
		Prune: c.prune && refused == 0} // a list with errors may lack nodes
	var counts enc.Counts
	c.signals.uninterrupted(func() { counts, err = asks.Ask(nodes, &diags) })
	progress.End()
	if err != nil {
		return err
	}
	loader.CheckClassified(site, &diags)
	wd, _ := os.Getwd()
	if err := diag.Render(cmd.ErrOrStderr(), "text", diags.Sorted(), wd, cli.Color(os.Stderr)); err != nil {
		return err
	}
	summary := fmt.Sprintf("%s: %d changed, %d unchanged, %d failed", diag.Count(len(nodes)+refused, "node"),
		counts.Changed, counts.Same, counts.Failed+refused)
	if c.prune {
		summary += fmt.Sprintf(", %d removed", counts.Removed)
	}
	fmt.Fprintln(cmd.OutOrStdout(), summary)
	if counts.Failed+refused > 0 || diags.Failed() {
		return errRefused
	}
	return nil
}

// readNodes reads the list of nodes from the file of --nodes or from standard input. name is the name of the list in
// messages.
func (c *classifying) readNodes(stdin io.Reader) (name string, src []byte, err error) {
	if c.nodes == standardInput {
		src, err = io.ReadAll(stdin)
		return "standard input", src, err
	}
	src, err = os.ReadFile(c.nodes)
	return c.nodes, src, err
}
