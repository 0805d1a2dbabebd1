package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"bindc/internal/cli"
	"bindc/internal/decision"
	"bindc/internal/diag"
	"bindc/internal/facts"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// checkFleet looks every key of a site up for each node of a fleet, and adds each error once to what is wrong with the
// site, with the nodes it hits. The error is that it cannot be done.
func (c *compilation) checkFleet(cmd *cobra.Command, nodes []facts.Node, jobs int) error {
	temporary, err := os.MkdirTemp("", "bindc-check-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	path := filepath.Join(temporary, "site.bsnap")
	if _, err := snapshot.Write(path, c.content); err != nil {
		return err
	}
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		return err
	}
	defer snap.Close()
	f := fleet{snap: snap, keys: slices.Sorted(snap.Keys()),
		hits: map[problem][]facts.Node{}, sole: map[string]string{}}
	f.check(cmd, nodes, jobs)
	if f.err != nil {
		return f.err
	}
	files := map[string]string{} // by the names that snapshots have them under
	for file, i := range c.site.InputOf {
		files[c.site.Inputs[i].Path] = file
	}
	encrypted := map[string]bool{} // keys
	for p, hit := range f.hits {
		if p.code == bindings.CodeEncrypted {
			encrypted[p.key] = true
			continue
		}
		c.diags.Add(p.diagnostic(hit, len(nodes), files))
	}
	if n := len(encrypted); n > 0 {
		c.diags.Add(diag.Diagnostic{Pos: diag.Pos{File: nodes[0].File}, Severity: diag.Info, Code: "eyaml",
			Message: diag.Count(n, "key") + " could not be checked for some nodes: encrypted for hiera-eyaml"})
	}
	return c.noteMissing(path, nodes)
}

// noteMissing warns of variables that paths or values ask for and that no node has: a check without them is a check of
// what nodes get that have none of them.
func (c *compilation) noteMissing(path string, nodes []facts.Node) error {
	file, err := snapshot.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	asked, err := decision.Asked(file)
	if err != nil {
		return err
	}
	missing := slices.DeleteFunc(asked, func(name string) bool {
		return slices.ContainsFunc(nodes, func(n facts.Node) bool { return n.Has(name) })
	})
	if len(missing) > 0 {
		c.diags.Add(diag.Diagnostic{Pos: diag.Pos{File: nodes[0].File}, Severity: diag.Warning, Code: "facts_missing",
			Message: "paths or values ask for $" + strings.Join(missing, ", $") +
				", which no node has: what depends on them was checked as if they were not set",
			Hint: "variables that are no facts stand beside these: {certname: NAME, facts: {...}, vars: {NAME: ...}}"})
	}
	return nil
}

// fleet is what a check finds.
type fleet struct {
	snap *bindings.Snapshot
	keys []string

	mu   sync.Mutex
	hits map[problem][]facts.Node
	sole map[string]string // where a key is bound that is bound once
	err  error             // the first that is about no binding
}

// problem is an error of a key, or of a request where the key is "".
type problem struct {
	key     string
	at      string // where the winner is written, as a snapshot tells it
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
	var r *bindings.Request
	if err == nil {
		r, err = f.snap.Request(vars)
	}
	if err != nil {
		f.hit(problem{}, err, n)
		return
	}
	for _, key := range f.keys {
		if _, _, err := r.Lookup(key); err != nil {
			at, broken := f.place(r, key)
			f.hit(problem{key: key, at: at}, cmp.Or(broken, err), n)
		}
	}
}

// place is where the binding of key is written that wins in r. One that is bound once is asked about once: telling it
// takes longer than the lookup.
func (f *fleet) place(r *bindings.Request, key string) (string, error) {
	f.mu.Lock()
	at, known := f.sole[key]
	f.mu.Unlock()
	if known {
		return at, nil
	}
	e, err := r.Explain(key)
	if err != nil {
		return "", err
	}
	for _, c := range e.Candidates {
		if c.State == bindings.Wins {
			at = c.At
		}
	}
	if len(e.Candidates) == 1 {
		f.mu.Lock()
		f.sole[key] = at
		f.mu.Unlock()
	}
	return at, nil
}

func (f *fleet) hit(p problem, err error, n facts.Node) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var e *bindings.Error
	if !errors.As(err, &e) {
		f.err = cmp.Or(f.err, err)
		return
	}
	p.code, p.message = e.Code, err.Error()
	f.hits[p] = append(f.hits[p], n)
}

// namedNodes is how many nodes are named with an error.
const namedNodes = 5

// diagnostic is p, which hits some of so many nodes. What is wrong with a request is so with its facts.
func (p problem) diagnostic(hit []facts.Node, of int, files map[string]string) diag.Diagnostic {
	slices.SortFunc(hit, func(a, b facts.Node) int { return strings.Compare(a.Name, b.Name) })
	names := make([]string, len(hit))
	for i, n := range hit {
		names[i] = n.Name
	}
	who := fmt.Sprintf("%d of %s: %s", len(hit), diag.Count(of, "node"), listed(names))
	d := diag.Diagnostic{Code: diag.Code(p.code), Message: p.message, Pos: diag.Pos{File: hit[0].File}}
	if p.key == "" {
		d.Notes = []diag.Note{{Pos: d.Pos, Message: "of " + who}}
		return d
	}
	d.Pos = position(p.at, files)
	quoted := "'" + p.key + "'"
	if !strings.Contains(d.Message, quoted) {
		d.Message = quoted + ": " + d.Message
	}
	d.Notes = []diag.Note{{Pos: diag.Pos{File: hit[0].File}, Message: quoted + " is so for " + who}}
	if p.code == bindings.CodeProducer { // of a program that is not this one
		d.Severity = diag.Info
	}
	return d
}

// position is a place that a snapshot tells, path:line:col.
func position(at string, files map[string]string) diag.Pos {
	rest, col, _ := cutLast(at)
	path, line, ok := cutLast(rest)
	if !ok {
		return diag.Pos{File: at}
	}
	file, known := files[path]
	if !known {
		file = path
	}
	return diag.Pos{File: file, Line: line, Col: col}
}

// cutLast cuts the number off that stands behind the last colon.
func cutLast(text string) (before string, n int, ok bool) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return text, 0, false
	}
	n, err := strconv.Atoi(text[i+1:])
	return text[:i], n, err == nil
}

func listed(names []string) string {
	if len(names) <= namedNodes {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:namedNodes], ", "), len(names)-namedNodes)
}
