package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"bindc/diag"
	"bindc/facts"
	"bindc/internal/cli"
	"bindc/internal/fsx"
	"bindc/internal/lint"
	"bindc/internal/lookup"
	"bindc/internal/proof/params"
	"bindc/internal/report/decision"
	"bindc/internal/syntax"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// checkFleet looks up every key of the site for each node. It reports each failure once, with the nodes that it
// affects. If whole is false, nodes is not the whole fleet, and checkFleet does not report values that no node has.
func (c *compilation) checkFleet(cmd *cobra.Command, nodes []facts.Node, whole bool, jobs int) error {
	temporary, remove, err := fsx.Scratch("bindc-check-")
	if err != nil {
		return err
	}
	defer remove()
	path := filepath.Join(temporary, "site.bsnap")
	if _, err := snapshot.Write(path, c.content); err != nil {
		return err
	}
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		return err
	}
	defer snap.Close()
	f := fleet{snap: snap, params: c.params, keys: slices.Sorted(snap.Keys()),
		problems: map[problem][]facts.Node{}, onlyBinding: map[string]source{}}
	f.check(cmd, nodes, jobs)
	if f.err != nil {
		return f.err
	}
	files := map[string]string{} // maps file names in the snapshot to paths on disk
	for file, i := range c.site.InputOf {
		files[c.site.Inputs[i].Path] = file
	}
	encrypted := map[string]bool{} // keys with encrypted values
	for p, hit := range f.problems {
		if p.code == bindings.CodeEncrypted {
			encrypted[p.key] = true
			continue
		}
		d := p.diagnostic(hit, len(nodes), files)
		isParameter := p.refused != (params.RefusedValue{}) || p.code == bindings.CodeEvaluation && c.params != nil
		if !isParameter || !c.params.Affects(p.key, d.Pos, &p.refused, d.Notes) {
			c.diags.Add(d)
		}
	}
	if n := len(encrypted); n > 0 {
		c.diags.Add(diag.Diagnostic{Pos: diag.Pos{File: nodes[0].File}, Severity: diag.Info, Code: "eyaml",
			Message: diag.Count(n, "key") + " could not be checked for some nodes: encrypted for hiera-eyaml: " +
				diag.Quoted(slices.Sorted(maps.Keys(encrypted))),
			Hint: "'bindq dump -s FILE --facts-dir DIR --node NAME --eyaml-key KEY' looks them up with the " +
				"private key"})
	}
	asked, err := askedVariables(path)
	if err != nil {
		return err
	}
	c.checkNames(nodes, asked)
	if !whole {
		return nil
	}
	if len(f.values) < len(nodes) {
		f.values = nil // requests of some nodes failed, so their values are unknown
	}
	known := variablesOf(nodes)
	lint.CheckFleet(c.site, lint.Fleet{Values: f.values, Known: known, Missing: missing(asked, nodes)}, &c.diags)
	return nil
}

// askedVariables returns the variables that the snapshot at path uses. It omits the variables that every node has.
func askedVariables(path string) ([]string, error) {
	file, err := snapshot.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return decision.CustomVariables(file)
}

func missing(asked []string, nodes []facts.Node) []string {
	return slices.DeleteFunc(asked, func(name string) bool {
		return slices.ContainsFunc(nodes, func(n facts.Node) bool { return n.Has(name) })
	})
}

// checkNames reports contradictory facts files, and files without any fact that Facter sends or the site uses: they are
// probably not facts files.
func (c *compilation) checkNames(nodes []facts.Node, asked []string) {
	known := map[string]bool{} // whether a file has a known fact, by file name
	for _, n := range nodes {
		if text := n.Contradiction(); text != "" {
			c.diags.Add(diag.Diagnostic{Pos: diag.Pos{File: n.File}, Severity: diag.Warning, Code: "facts",
				Message: text})
		}
		for name := range n.Facts.Entries() {
			known[n.File] = known[n.File] || syntax.Everywhere(name.String()) || slices.Contains(asked, name.String())
		}
	}
	for file, is := range known {
		if !is {
			c.diags.Add(diag.Diagnostic{Pos: diag.Pos{File: file}, Severity: diag.Info, Code: "facts",
				Message: "nothing in this file is a fact that Facter sends or the site uses; is it a facts " +
					"file?"})
		}
	}
}

// variablesOf returns the sorted names of all variables that nodes have, each with a leading '$'.
func variablesOf(nodes []facts.Node) []string {
	names := map[string]bool{}
	for _, n := range nodes {
		for name := range n.Facts.Entries() {
			names["$"+name.String()] = true
		}
		for name := range n.Vars.Entries() {
			names["$"+name.String()] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// fleet collects the problems of all nodes. mu guards the fields below it, because nodes are checked concurrently.
type fleet struct {
	snap   *bindings.Snapshot
	params *params.Checker
	keys   []string

	mu          sync.Mutex
	problems    map[problem][]facts.Node
	values      [][]string        // values of the dimensions, one list per node
	onlyBinding map[string]source // by key, for keys with only one binding
	explainer   lookup.Explainer
	err         error // first error that is not the fault of the data
}

type source struct {
	at     string // position as recorded in the snapshot, FILE:LINE:COLUMN
	secret bool   // the value may be sensitive, so its line is not shown
}

// problem is an error in the lookup of a key. If key is "", the request of a node failed before any lookup.
type problem struct {
	key     string
	at      source // position of the winning binding
	code    bindings.Code
	message string
	refused params.RefusedValue // why Puppet refuses the value, if it does
}

// check looks up all keys for every node, jobs nodes at a time. If jobs is 0, it uses all processors.
func (f *fleet) check(cmd *cobra.Command, nodes []facts.Node, jobs int) {
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	progress := cli.NewProgress(cmd.ErrOrStderr())
	progress.Begin("looking up all keys for nodes", len(nodes))
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
	vars, err := facts.Variables(n, bindings.FactsOptions{})
	var r *bindings.Request
	if err == nil {
		r, err = f.snap.Request(vars)
	}
	if err != nil {
		f.addProblem(problem{}, err, n)
		return
	}
	f.addValues(r)
	for _, key := range f.keys {
		v, found, err := r.Lookup(key)
		if err != nil {
			at, broken := f.failed(r, key, err)
			f.addProblem(problem{key: key, at: at}, cmp.Or(broken, err), n)
		} else if found {
			f.checkParameter(r, key, v, n)
		}
	}
}

// checkParameter records a problem if key is a class parameter and Puppet would refuse v as its value.
func (f *fleet) checkParameter(r *bindings.Request, key string, v bindings.Value, n facts.Node) {
	refused, err := f.params.Refuses((*lookup.Request)(r), key, lookup.Value(v))
	if refused == nil && err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.err = cmp.Or(f.err, err)
		return
	}
	p := problem{key: key, at: source{refused.At, v.Sensitive()}, code: "parameter_type",
		message: refused.Message, refused: *refused}
	f.problems[p] = append(f.problems[p], n)
}

func (f *fleet) addValues(r *bindings.Request) {
	var values []string
	for _, t := range (*lookup.Request)(r).Dimensions() {
		values = append(values, t.Value)
	}
	f.mu.Lock()
	f.values = append(f.values, values)
	f.mu.Unlock()
}

// winner returns the binding of key that wins in r, or the highest merged binding. If key has only one binding, winner
// caches it, because Explain is slower than a lookup.
func (f *fleet) winner(r *bindings.Request, key string) (source, error) {
	f.mu.Lock()
	at, known := f.onlyBinding[key]
	f.mu.Unlock()
	if known {
		return at, nil
	}
	e, err := f.explainer.Briefly((*lookup.Request)(r), key, 1)
	if err != nil {
		return source{}, err
	}
	for _, c := range e.Candidates {
		if c.State == lookup.Wins || c.State == lookup.Merged && at.at == "" {
			mayBeSecret := c.State == lookup.Merged || e.Options != nil // convert_to may make the value Sensitive
			at = source{c.At, mayBeSecret}
		}
	}
	if len(e.Candidates) == 1 && e.Options == nil { // lookup_options may differ between requests
		f.mu.Lock()
		f.onlyBinding[key] = at
		f.mu.Unlock()
	}
	return at, nil
}

// failed returns the place of the mistake if a lookup fails.
func (f *fleet) failed(r *bindings.Request, key string, why error) (source, error) {
	at, err := f.winner(r, key)
	var failure *bindings.Error
	if err != nil || !errors.As(why, &failure) || failure.Code != bindings.CodeEvaluation {
		return at, err
	}
	e, err := f.explainer.Briefly((*lookup.Request)(r), key, 1)
	if err == nil && e.Options != nil {
		at.at = params.FailedAt(e, why)
	}
	return at, err
}

func (f *fleet) addProblem(p problem, err error, n facts.Node) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var e *bindings.Error
	if !errors.As(err, &e) {
		f.err = cmp.Or(f.err, err)
		return
	}
	p.code, p.message = e.Code, err.Error()
	f.problems[p] = append(f.problems[p], n)
}

const namedNodes = 5

// diagnostic returns the diagnostic for p, which affects the nodes in hit. A problem without a key is reported at a
// node's facts file.
func (p problem) diagnostic(hit []facts.Node, of int, files map[string]string) diag.Diagnostic {
	slices.SortFunc(hit, func(a, b facts.Node) int { return strings.Compare(a.Name, b.Name) })
	names := make([]string, len(hit))
	for i, n := range hit {
		names[i] = n.Name
	}
	who := fmt.Sprintf("%d of %s: %s", len(hit), diag.Count(of, "node"), firstNodes(names))
	d := diag.Diagnostic{Code: diag.Code(p.code), Message: p.message, Pos: diag.Pos{File: hit[0].File}}
	if p.key == "" {
		d.Notes = []diag.Note{{Pos: d.Pos, Message: "affects " + who}}
		return d
	}
	d.Pos = position(p.at.at, files)
	if p.refused.Perhaps {
		who += ", if they declare the class"
	}
	quoted := "'" + p.key + "'"
	if !strings.Contains(d.Message, quoted) {
		d.Message = quoted + ": " + d.Message
	}
	if p.at.secret {
		d.Secret, d.Discreet = true, d.Message
	}
	d.Notes = []diag.Note{{Pos: diag.Pos{File: hit[0].File}, Message: "affects " + quoted + " on " + who}}
	if p.refused.Doubtful {
		d.Severity = diag.Warning
	}
	if p.code == bindings.CodeProducer { // an external program reported the error
		d.Severity = diag.Info
	}
	return d
}

// position parses a position recorded in a snapshot. files maps file names in the snapshot to file names on disk.
func position(at string, files map[string]string) diag.Pos {
	p := diag.ParsePos(at)
	if file, known := files[p.File]; known {
		p.File = file
	}
	return p
}

func firstNodes(names []string) string {
	if len(names) <= namedNodes {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:namedNodes], ", "), len(names)-namedNodes)
}
