package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/facts"
	"bindc/internal/cli"
	"bindc/internal/fsx"
	"bindc/internal/lookup"
	"bindc/internal/report"
	"bindc/internal/revision"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// blaming is the state of one run of 'bindc blame'.
type blaming struct {
	flags
	site, node, environment string
	factsFile, factsDir     string
	facts, variables        []string
	answer                  string // value of --format
	cmd                     *cobra.Command
	compiled                *compilation
	paths                   map[string]string // maps file names in the snapshot to paths on disk
}

var errUnbound = &cli.Answer{Reason: "not found", Status: cli.ExitNo}

func (b *bounds) blameCommand() *cobra.Command {
	f := &blaming{flags: flags{bounds: b}}
	cmd := &cobra.Command{
		Use:   "blame KEY",
		Short: "Show which commit last changed the value of a key",
		Long: "blame looks KEY up for a node, as 'bindq explain' does, and prints the commit,\n" +
			"author and date of the last change of the binding that wins. For a merged value\n" +
			"it prints every binding that contributes. It reports lines that are not\n" +
			"committed.\n\n" +
			"Exit status: 0 found, 1 not found or errors in the site, 2 on an error.",
		Example: "  bindc blame ntp::package --site site --node web1 --facts-dir facts\n" +
			"  bindc blame ntp::package --fact osfamily=Debian --format json",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.cmd = cmd
			return f.run(args[0])
		},
	}
	f.addSite(cmd)
	f.addBuild(cmd)
	cmd.Flags().StringVar(&f.site, "site", ".", "`DIR` of the site in the working tree")
	f.addRequest(cmd)
	cmd.Flags().BoolVar(&f.all, "all", false, "show all errors of the site")
	f.answer = "text"
	cli.AddFormat(cmd, &f.answer, cli.Forms)
	return cmd
}

// addRequest adds the flags that describe the node, the same as in 'bindq lookup'.
func (f *blaming) addRequest(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.factsFile, "facts", "", "`FILE` of facts from facter, Puppet or PuppetDB")
	flags.StringVar(&f.factsDir, "facts-dir", "", "`DIR` with one facts file per node (default $BINDQ_FACTS_DIR)")
	cmd.MarkFlagsMutuallyExclusive("facts", "facts-dir")
	flags.StringArrayVar(&f.facts, "fact", nil, "one fact, `NAME=TEXT` or NAME:=JSON (repeatable)")
	flags.StringArrayVar(&f.variables, "var", nil, "a variable that is not a fact: `NAME=TEXT` or NAME:=JSON")
	flags.StringVar(&f.node, "node", "", "certname, the `NAME` of the node")
	flags.StringVar(&f.environment, "environment", "",
		"`NAME` of the environment (default: the fact 'environment', or production)")
}

func (f *blaming) run(key string) error {
	c, err := compiled(f.cmd, f.site, "", &f.flags)
	if err != nil {
		return err
	}
	if err := c.report(f.cmd, &f.flags); err != nil {
		return err
	}
	f.compiled, f.paths = c, map[string]string{}
	for path, i := range c.site.InputOf {
		f.paths[c.site.Inputs[i].Path] = path
	}
	vars, err := f.request()
	if err != nil {
		return err
	}
	tmp, remove, err := fsx.Scratch("bindc-blame-")
	if err != nil {
		return err
	}
	defer remove()
	f.signals.last = remove
	path := filepath.Join(tmp, "site.bsnap")
	if _, err := snapshot.Write(path, c.content); err != nil {
		return err
	}
	snap, err := bindings.Open(path, bindings.Options{StrictVariables: f.strictVars})
	if err != nil {
		return err
	}
	defer snap.Close()
	return f.explain((*lookup.Snapshot)(snap), key, vars)
}

// request returns the facts of the node that the flags describe.
func (f *blaming) request() (*bindings.Facts, error) {
	var node facts.Node
	var err error
	dir := cmp.Or(f.factsDir, os.Getenv("BINDQ_FACTS_DIR"))
	switch {
	case f.factsFile != "":
		src, err := os.ReadFile(f.factsFile)
		if err != nil {
			return nil, err
		}
		nodes, err := facts.Parse(f.factsFile, src)
		if err != nil {
			return nil, err
		}
		if node, err = facts.Choose(nodes, f.node); err != nil {
			return nil, err
		}
	case f.factsDir != "" && f.node == "":
		return nil, errors.New("--facts-dir: expected --node NAME with it")
	case dir != "" && f.node != "":
		if node, err = facts.NewFleet(dir).Node(f.node); err != nil {
			return nil, err
		}
	}
	if node, err = node.WithFacts("--fact", f.facts); err != nil {
		return nil, err
	}
	if node.Vars, err = facts.With("--var", node.Vars, f.variables); err != nil {
		return nil, err
	}
	return facts.Variables(node, bindings.FactsOptions{Node: f.node, Environment: f.environment})
}

// explain prints the last change of each binding that contributes to the value of key.
func (f *blaming) explain(snap *lookup.Snapshot, key string, vars *bindings.Facts) error {
	r, err := snap.Request((*lookup.Facts)(vars))
	if err != nil {
		return err
	}
	for _, doubt := range report.Doubts(r) {
		fmt.Fprintln(f.cmd.ErrOrStderr(), "bindc: note:", diag.Visible(doubt))
	}
	if unset := r.Unset(); len(unset) > 0 {
		fmt.Fprintln(f.cmd.ErrOrStderr(), "bindc: note: these variables of conditions are not set:",
			diag.Visible(strings.Join(unset, ", ")))
	}
	e, err := report.Style{Form: report.People}.Explain(r, key)
	if err != nil {
		return err
	}
	b := blame{Key: key, Bindings: []blamed{}}
	for _, c := range slices.Concat(e.Candidates, e.Contributions) {
		if c.State == lookup.Wins || c.State == lookup.Merged {
			b.Bindings = append(b.Bindings, f.blame(c))
		}
	}
	if len(b.Bindings) == 0 {
		text := key + ": not found for this node"
		if hint := diag.DidYouMean(key, slices.Collect(snap.Keys())); hint != "" {
			text += "; " + hint
		}
		fmt.Fprintln(f.cmd.ErrOrStderr(), "bindc:", diag.Visible(text))
		return errUnbound
	}
	if f.answer != "text" {
		return report.Write(f.cmd.OutOrStdout(), f.answer == "yaml", b)
	}
	return b.print(f.cmd.OutOrStdout())
}

type blame struct {
	Key      string   `json:"key"`
	Bindings []blamed `json:"bindings"`
}

// blamed is a binding and the last commit that changed it. If no commit is known, Reason explains why.
type blamed struct {
	At      string `json:"at"`
	Layer   string `json:"layer"`
	State   string `json:"state"`
	Line    int    `json:"line,omitempty"` // the first line that the commit changed
	Commit  string `json:"commit,omitempty"`
	Author  string `json:"author,omitempty"`
	Mail    string `json:"mail,omitempty"`
	Date    string `json:"date,omitempty"`
	Summary string `json:"summary,omitempty"`
	Reason  string `json:"not_committed,omitempty"`
}

// blame finds the commit that last changed the binding c.
func (f *blaming) blame(c report.Candidate) blamed {
	b := blamed{At: c.At, Layer: c.Layer, State: c.State}
	line, err := f.lastChange(c.At)
	if err != nil {
		b.Reason = err.Error()
		return b
	}
	b.Line, b.Commit, b.Author, b.Mail, b.Summary = line.Number, line.Commit, line.Author, line.Mail, line.Summary
	b.Date = line.Date.Format("2006-01-02 15:04:05 -0700")
	return b
}

// lastChange returns what git blame reports for the binding at a position of the form FILE:LINE:COLUMN.
func (f *blaming) lastChange(at string) (*revision.Line, error) {
	pos := diag.ParsePos(at)
	if pos.Line == 0 {
		return nil, errors.New("the position has no line")
	}
	path, ok := f.paths[pos.File]
	if !ok {
		return nil, fmt.Errorf("%s is not a file of the site", pos.File)
	}
	repo, err := revision.Open(f.signals.stopped, filepath.Dir(path))
	if errors.Is(err, revision.ErrNoRepository) {
		return nil, revision.ErrNoRepository
	}
	if err != nil {
		return nil, err
	}
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return repo.Blame(path, pos.Line, lastLine(string(source), pos.Line))
}

func (b *blame) print(w io.Writer) error {
	file, ok := w.(*os.File)
	screen := report.Screen{Color: ok && cli.Color(file), Width: cli.Width(w)}
	return report.Print(w, screen, func(p *report.Page) {
		for _, c := range b.Bindings {
			who := "not committed: " + c.Reason
			if c.Commit != "" {
				who = fmt.Sprintf("%s  %s <%s>  %s", c.Commit[:12], c.Author, c.Mail, c.Date)
			}
			fmt.Fprintf(p, "%s  (%s, %s)\n", diag.Visible(c.At), diag.Visible(c.Layer), c.State)
			if c.Commit != "" && !strings.Contains(c.At, fmt.Sprintf(":%d:", c.Line)) {
				who += fmt.Sprintf("  line %d", c.Line)
			}
			fmt.Fprintf(p, "    %s\n", diag.Visible(who))
			if c.Summary != "" {
				fmt.Fprintf(p, "    %s\n", diag.Visible(c.Summary))
			}
		}
	})
}
