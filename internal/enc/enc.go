// Package enc runs one of Puppet's external node classifiers and writes its output to a site, where
// the URI scheme enc reads it.
package enc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"time"

	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/fsx"
	"bindc/internal/pattern"
	"bindc/internal/subprocess"
)

// Classifier runs an external node classifier. Command and Site are required.
type Classifier struct {
	Command []string // program and arguments; the certname is added as the last argument
	Site    string
	Jobs    int // number of nodes to classify concurrently; 0 means GOMAXPROCS
	Timeout time.Duration
	Context context.Context // stops the classifier when done; may be nil
	Asked   func()          // called after each node, concurrently; may be nil
	Prune   bool            // remove files of nodes that are not in the list; see written.prune
}

// Counts contains the numbers of files that were changed, unchanged, not written and removed.
type Counts struct{ Changed, Same, Failed, Removed int }

// Node is a node to classify. Pos is the position of its name in the list.
type Node struct {
	Name string
	Pos  diag.Pos
}

// maxName limits the length of a certname, which becomes part of a file name.
const maxName = 200

var certname = pattern.Lazy(`^[A-Za-z0-9_][A-Za-z0-9._@-]*$`)

func isCertname(name string) bool {
	return len(name) <= maxName && certname().MatchString(name) && !strings.Contains(name, "..")
}

// Nodes parses a list of certnames, one per line. It adds an error to diags for each invalid name,
// because a name could be a path to another directory or an option of the classifier. refused is
// the number of invalid names.
func Nodes(file string, src []byte, diags *diag.List) (nodes []Node, refused int) {
	seen := map[string]bool{}
	number := 0
	for line := range strings.Lines(string(src)) {
		number++
		name := strings.TrimSpace(line)
		at := diag.Pos{File: file, Line: number, Col: 1 + strings.Index(line, name)}
		switch {
		case name == "" || name[0] == '#' || seen[name]:
		case !isCertname(name):
			refused++
			diags.Errorf(at, "enc", "expected a certname, of letters, digits, '.', '_', '@' and '-', at most %d, "+
				"found '%s'", maxName, name)
		default:
			seen[name] = true
			nodes = append(nodes, Node{name, at})
		}
	}
	return nodes, refused
}

// Ask runs the classifier for each node and writes the output if it has changed. If the classifier
// fails for a node, Ask adds an error to diags and keeps the node's file. Ask itself returns an
// error only if it cannot write files.
func (c *Classifier) Ask(nodes []Node, diags *diag.List) (Counts, error) {
	dir := filepath.Join(c.Site, datafile.ClassifiedDir)
	if err := os.MkdirAll(dir, 0o775); err != nil {
		return Counts{}, err
	}
	if err := fsx.ClearDir(dir); err != nil {
		return Counts{}, err
	}
	before, err := readWritten(dir)
	if err != nil {
		return Counts{}, err
	}
	now := maps.Clone(before)
	counts := c.askAll(dir, nodes, now, diags)
	if c.Prune {
		counts.Removed, err = now.prune(dir, nodes, diags)
	}
	return counts, errors.Join(err, now.write(dir, before))
}

// askAll runs the classifier for each node, several at a time. It sets now to the checksums of the
// files that it has written.
func (c *Classifier) askAll(dir string, nodes []Node, now written, diags *diag.List) Counts {
	var mu sync.Mutex
	var counts Counts
	ask := func(n Node) {
		answer, changed, err := c.askNode(dir, n, diags)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			counts.Failed++
			if !errors.Is(err, errReported) {
				diags.Add(diag.Diagnostic{Pos: n.Pos, Code: "enc", Message: n.Name + ": " + err.Error()})
			}
		case changed:
			counts.Changed++
			now[n.Name] = sumOf(answer)
		default:
			counts.Same++
		}
	}
	queue := make(chan Node)
	var running sync.WaitGroup
	jobs := c.Jobs
	if jobs <= 0 {
		jobs = goruntime.GOMAXPROCS(0)
	}
	for range min(jobs, len(nodes)) {
		running.Go(func() {
			for n := range queue {
				ask(n)
				if c.Asked != nil {
					c.Asked()
				}
			}
		})
	}
	for _, n := range nodes {
		queue <- n
	}
	close(queue)
	running.Wait()
	return counts
}

var (
	errReported = errors.New("reported as diagnostics")
	errNothing  = errors.New("the program printed nothing; it may not know the node")
)

// askNode runs the classifier for one node and writes the node's file. changed reports whether the
// file has changed.
func (c *Classifier) askNode(dir string, n Node, diags *diag.List) (answer []byte, changed bool, err error) {
	if c.Context != nil && c.Context.Err() != nil {
		return nil, false, c.Context.Err()
	}
	answer, err = subprocess.Run(c.Context, "", c.Timeout, append(c.Command[:len(c.Command):len(c.Command)], n.Name))
	switch {
	case err != nil:
		return nil, false, err
	case len(bytes.TrimSpace(answer)) == 0:
		return nil, false, errNothing
	case !isValid(n, answer, diags):
		return nil, false, errReported
	}
	path := filepath.Join(dir, n.Name+datafile.ClassifiedExt)
	if old, err := (fsx.Disk{}).ReadFile(path); err == nil && bytes.Equal(old, answer) {
		return answer, false, nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, err
	}
	return answer, true, fsx.Replace(path, fsx.ReplaceOptions{Limit: fs.ModePerm, Many: true}, func(f *os.File) error {
		_, err := f.Write(answer)
		return err
	})
}

// isValid reports whether a site can use the output for a node. It adds problems to diags.
func isValid(n Node, answer []byte, diags *diag.List) bool {
	var own diag.List
	datafile.NewReader(nil, fsx.Disk{}).Source(fmt.Sprintf("classifier %s", n.Name), answer, datafile.Classified, &own)
	diags.AddAll(&own)
	return !own.Failed()
}
