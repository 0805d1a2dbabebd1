// Package enc runs an external node classifier of Puppet for nodes, and writes its output into a site. The URI scheme
// 'enc' reads it there.
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

// Classifier is an external node classifier.
type Classifier struct {
	Command []string // program and arguments; the certname is appended
	Site    string
	Jobs    int // number of nodes to classify at a time; 0 means one per processor
	Timeout time.Duration
	Context context.Context // stops the classifier when it is done; may be nil
	Asked   func()          // called for each node, concurrently; may be nil
	Prune   bool            // remove this package's files for nodes that are not listed
}

// Counts holds the number of files by result.
type Counts struct{ Changed, Same, Failed, Removed int }

// Node is a node to classify, with the position of its name in the list.
type Node struct {
	Name string
	Pos  diag.Pos
}

// maxName limits the length of a certname, because it becomes the name of a file.
const maxName = 200

var certname = pattern.Lazy(`^[A-Za-z0-9_][A-Za-z0-9._@-]*$`)

func isCertname(name string) bool {
	return len(name) <= maxName && certname().MatchString(name) && !strings.Contains(name, "..")
}

// Nodes parses a list of certnames, one per line. It reports invalid names, because they could be paths outside the
// directory or options of the program.
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

// Ask runs the classifier for each node, and writes the outputs that have changed. If the classifier fails for a node,
// the node's file is kept and diags has the reason. Ask returns an error if it cannot write at all.
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

// askAll runs the classifier for each node, and records the checksums of changed files in now.
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

// askNode runs the classifier for one node and writes its file. changed reports whether the file has changed.
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

// isValid reports whether a site can read the output for a node. It adds problems to diags.
func isValid(n Node, answer []byte, diags *diag.List) bool {
	var own diag.List
	datafile.NewReader(nil, fsx.Disk{}).Source(fmt.Sprintf("classifier %s", n.Name), answer, datafile.Classified, &own)
	diags.AddAll(&own)
	return !own.Failed()
}
