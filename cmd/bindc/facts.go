package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/facts"
	"bindc/internal/cli"
	"bindc/internal/fsx"
	"bindc/internal/lookup"
	"bindc/internal/puppetdb"
	bindings "bindc/runtime"
	"bindc/ship"
)

type factsFlags struct {
	server, query, dir, snap  string
	caFile, certFile, keyFile string
	tokenFile                 string
	nodesAtOnce               int
	prune                     bool
	stall                     time.Duration
}

func factsCommand() *cobra.Command {
	f := factsFlags{nodesAtOnce: 200}
	cmd := &cobra.Command{
		Use:   "facts",
		Short: "Fetch the facts of all nodes from PuppetDB",
		Long: "facts writes the facts of each node to DIR/CERTNAME.json, for --facts-dir of the\n" +
			"other verbs. It fetches active nodes, or those that a query selects. With a\n" +
			"snapshot it only fetches the facts that the snapshot can use. A file is replaced\n" +
			"if its facts have changed. After a failure, run it again: the files that were\n" +
			"written are valid.\n\n" +
			"Exit status: 0, or 2 on an error.",
		Example: "  bindc facts --puppetdb https://puppetdb.example.com:8081 -o facts",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			return f.fetch(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.server, "puppetdb", "", "`URL` of PuppetDB, such as https://HOST:8081")
	flags.StringVarP(&f.dir, "output", "o", "", "`DIR` for the files, one per node")
	flags.StringVarP(&f.snap, "snapshot", "s", "", "snapshot `FILE`; fetch only the facts that it can use")
	flags.StringVar(&f.query, "query", "", "`QUERY` for the nodes, in PQL or as an AST; its rows need a certname")
	flags.StringVar(&f.certFile, "cert", "", "`FILE` with the client's certificate, in PEM")
	flags.StringVar(&f.keyFile, "key", "", "`FILE` with the certificate's private key, in PEM")
	flags.StringVar(&f.caFile, "ca-file", "", "`FILE` of CA certificates to trust in addition to the system's")
	flags.StringVar(&f.tokenFile, "token-file", "", "`FILE` with a Puppet Enterprise access token")
	flags.Var(cli.AtLeastOne(&f.nodesAtOnce), "page", "fetch `N` nodes per request")
	flags.BoolVar(&f.prune, "prune", false, "remove the files of nodes that were not fetched")
	flags.DurationVar(&f.stall, "stall-timeout", ship.StallTimeout,
		"abort a transfer that makes no progress for `TIME`")
	cli.Required(cmd, "puppetdb")
	cli.Required(cmd, "output")
	cmd.MarkFlagsRequiredTogether("cert", "key")
	return cmd
}

// fetch writes the facts of the selected nodes to files in --output.
func (f *factsFlags) fetch(ctx context.Context, out, errOut io.Writer) error {
	db, err := f.open()
	if err != nil {
		return err
	}
	only, err := f.needed()
	if err != nil {
		return err
	}
	names, err := db.Names(ctx, f.query)
	if err != nil {
		return &cli.External{Err: err}
	}
	if len(names) == 0 {
		return &cli.External{Err: fmt.Errorf("%s: found no nodes", db.URL.Redacted())}
	}
	if err := checkFileNames(names); err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir, 0o777); err != nil {
		return err
	}
	d := factsDir{path: f.dir}
	if err := d.write(ctx, db, names, only, f.nodesAtOnce, errOut); err != nil {
		return err
	}
	if err := d.dropOthers(f.prune, errOut); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: %s, %d changed, %d removed\n", f.dir, diag.Count(len(d.fetched), "node"), d.changed,
		d.removed)
	return err
}

// open returns a client for the PuppetDB of the flags, without connecting to it.
func (f *factsFlags) open() (*puppetdb.DB, error) {
	u, err := url.Parse(f.server)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("--puppetdb: expected https://HOST:PORT, found '%s'", ship.Redacted(f.server))
	}
	if u.User != nil {
		return nil, errors.New(
			"--puppetdb: PuppetDB does not accept passwords; remove the user from the URL, and give --cert " +
				"and --key, or --token-file")
	}
	client, err := ship.ClientWithCertificate(f.caFile, f.certFile, f.keyFile, f.stall)
	if err != nil {
		return nil, fmt.Errorf("cannot read the certificates for PuppetDB: %w", err)
	}
	db := &puppetdb.DB{URL: u, Client: client}
	if f.tokenFile != "" {
		text, err := os.ReadFile(f.tokenFile)
		if err != nil {
			return nil, err
		}
		if db.Token = strings.TrimSpace(string(text)); db.Token == "" || strings.ContainsAny(db.Token, "\r\n") {
			return nil, fmt.Errorf("--token-file %s: expected one line with a token", f.tokenFile)
		}
	}
	return db, nil
}

// needed returns the names of the facts that the snapshot uses; nil means all facts.
func (f *factsFlags) needed() ([]string, error) {
	if f.snap == "" {
		return nil, nil
	}
	snap, err := bindings.Open(f.snap, bindings.Options{})
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	variables, _, _, err := (*lookup.Snapshot)(snap).Needs()
	if err != nil || slices.Contains(variables, "facts") {
		return nil, err
	}
	names := make([]string, len(variables))
	for i, name := range variables {
		names[i], _, _ = strings.Cut(name, ".")
	}
	return names, nil
}

func checkFileNames(names []string) error {
	for _, name := range names {
		if strings.HasPrefix(name, ".") || strings.ContainsAny(name, "/\\\x00") {
			return fmt.Errorf("the certname '%s' cannot be a file name; exclude the node with --query",
				diag.Visible(name))
		}
	}
	return nil
}

type factsDir struct {
	path             string
	fetched          []string // names of the fetched nodes, sorted
	changed, removed int
}

// write fetches the facts of the named nodes, atOnce nodes per request, and writes their files. If only is nil, it
// fetches all facts.
func (d *factsDir) write(ctx context.Context, db *puppetdb.DB, names, only []string, atOnce int,
	errOut io.Writer) error {
	progress := cli.NewProgress(errOut)
	progress.Begin("fetching facts", len(names))
	missing := 0
	defer func() {
		progress.End()
		if missing > 0 {
			fmt.Fprintf(errOut, "note: PuppetDB has no facts for %s; no files are written for them\n",
				diag.Count(missing, "node"))
		}
	}()
	for page := range slices.Chunk(names, atOnce) {
		nodes, err := db.Facts(ctx, page, only)
		if err != nil {
			return &cli.External{Err: err}
		}
		missing += len(page) - len(nodes)
		for _, n := range nodes {
			if err := d.writeNode(n); err != nil {
				return err
			}
			progress.Done()
		}
	}
	return nil
}

// writeNode writes a node's file, unless its content is unchanged. A new file is readable only by its owner and group,
// because facts may be secret.
func (d *factsDir) writeNode(n facts.Node) error {
	text, err := n.MarshalJSON()
	if err != nil {
		return err
	}
	text = append(text, '\n')
	d.fetched = append(d.fetched, n.Name)
	path := d.file(n.Name)
	if old, err := os.ReadFile(path); err == nil && string(old) == string(text) {
		return nil
	}
	d.changed++
	return fsx.Replace(path, fsx.ReplaceOptions{Limit: 0o640}, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
}

func (d *factsDir) file(name string) string { return filepath.Join(d.path, name+".json") }

// dropOthers removes the files of nodes that were not fetched. Without prune, it reports them instead.
func (d *factsDir) dropOthers(prune bool, errOut io.Writer) error {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return err
	}
	var others []string
	for _, e := range entries {
		name, isFacts := strings.CutSuffix(e.Name(), ".json")
		if _, found := slices.BinarySearch(d.fetched, name); isFacts && !found && !strings.HasPrefix(name, ".") {
			others = append(others, name)
		}
	}
	if len(others) > 0 && !prune {
		_, err := fmt.Fprintf(errOut, "note: %s has %s of nodes that were not fetched: %s; --prune removes them\n",
			d.path, diag.Count(len(others), "file"), diag.Quoted(others))
		return err
	}
	for _, name := range others {
		if err := os.Remove(d.file(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		d.removed++
	}
	return nil
}
