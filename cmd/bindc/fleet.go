package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"bindc/internal/cli"
	"bindc/internal/facts"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// checkFleet looks every key of a site up for each node of a fleet, and prints each error once with the nodes it hits.
// The error says that there were some.
func checkFleet(cmd *cobra.Command, content *snapshot.Content, dir string, jobs int) error {
	nodes, err := facts.ReadDir(dir)
	if err != nil {
		return err
	}
	temporary, err := os.MkdirTemp("", "bindc-check-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	path := filepath.Join(temporary, "site.bsnap")
	if _, err := snapshot.Write(path, content); err != nil {
		return err
	}
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		return err
	}
	defer snap.Close()
	f := fleet{snap: snap, keys: slices.Sorted(snap.Keys()), hits: map[problem][]string{}}
	f.check(cmd, nodes, jobs)
	return f.report(cmd, len(nodes))
}

// fleet is what a check finds.
type fleet struct {
	snap *bindings.Snapshot
	keys []string

	mu   sync.Mutex
	hits map[problem][]string // the nodes of each
}

// problem is an error of a key, or of the request where the key is "".
type problem struct {
	key     string
	code    bindings.Code
	message string
}

// check looks up for as many nodes at a time as there are jobs.
func (f *fleet) check(cmd *cobra.Command, nodes []facts.Node, jobs int) {
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	progress := cli.NewProgress(cmd.ErrOrStderr())
	progress.Begin("looking all keys up for nodes", len(nodes))
	var wg sync.WaitGroup
	next := make(chan facts.Node)
	for range min(jobs, len(nodes)) {
		wg.Go(func() {
			for n := range next {
				f.node(n)
				progress.Done()
			}
		})
	}
	for _, n := range nodes {
		next <- n
	}
	close(next)
	wg.Wait()
	progress.End()
}

func (f *fleet) node(n facts.Node) {
	vars, err := n.Variables(bindings.FactsOptions{})
	if err == nil {
		var r *bindings.Request
		if r, err = f.snap.Request(vars); err == nil {
			for _, key := range f.keys {
				if _, _, err := r.Lookup(key); err != nil {
					f.hit(key, err, n.Name)
				}
			}
			return
		}
	}
	f.hit("", err, n.Name)
}

func (f *fleet) hit(key string, err error, node string) {
	p := problem{key: key, message: err.Error()}
	var e *bindings.Error
	if errors.As(err, &e) {
		p.code = e.Code
	}
	f.mu.Lock()
	f.hits[p] = append(f.hits[p], node)
	f.mu.Unlock()
}

// namedNodes is how many nodes are named with an error.
const namedNodes = 5

func (f *fleet) report(cmd *cobra.Command, nodes int) error {
	var all []problem
	for p := range f.hits {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b problem) int {
		return strings.Compare(a.key+"\x00"+a.message, b.key+"\x00"+b.message)
	})
	for _, p := range all {
		names := f.hits[p]
		slices.Sort(names)
		text := p.message
		if p.key != "" {
			text = p.key + ": " + strings.TrimPrefix(text, "'"+p.key+"': ")
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "error: %s [%s]\n  on %d of %d nodes: %s\n", text, p.code, len(names), nodes,
			listed(names))
	}
	if len(all) > 0 {
		return errRefused
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%d keys for each of %d nodes: no errors\n", len(f.keys), nodes)
	return nil
}

func listed(names []string) string {
	if len(names) <= namedNodes {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:namedNodes], ", "), len(names)-namedNodes)
}
