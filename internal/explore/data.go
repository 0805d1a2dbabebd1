package explore

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"bindc/facts"
	"bindc/internal/lookup"
	"bindc/internal/report/decision"
	"bindc/snapshot"
)

// Data is one version of the data that the pages show: a snapshot and the facts of a fleet. Only the counts, which are
// computed in the background, change after Open.
type Data struct {
	ID string // changes with the content of any page
	Style

	path   string
	file   *snapshot.Snapshot
	snap   *lookup.Snapshot
	single *decision.Tables                // reads the bindings of one key at a time
	whole  atomic.Pointer[decision.Tables] // has the bindings of all keys; nil until readWhole
	keys   []string                        // all bound keys, sorted
	inputs []snapshot.Input
	facts  []string // sorted names of the variables that answers depend on
	reads  []string // sorted paths of the variables that conditions and values read, such as os.family
	old    *Data    // the version to compare with, or nil

	nodes    []facts.Node // sorted by name
	number   map[string]int
	counting sync.Once
	census   *census
	cache    keyCache

	maxAnswered int // the constant maxAnswered, except in tests

	tally *tally      // how many nodes each binding reaches
	diff  *difference // changes from old; nil if old is nil
	diffs differences // changes from the other versions that users selected

	Since time.Time // when Server.Show first got this version

	notes    []string     // messages about facts that could not be read
	warnings string       // diagnostics of the build, as text
	unread   []UnreadFile // files of the site that bindc never reads, sorted by path
}

// Style determines how pages show data.
type Style struct {
	Name      string // name of the site or snapshot, shown in titles
	SourceURL string // URL of a source line, with {path}, {line} and {revision}; "" if there is none
	Revision  string // replaces {revision} in SourceURL
	Sensitive bool   // show sensitive values
}

// Source is the input of Open.
type Source struct {
	Style
	Path     string       // snapshot file
	Nodes    []facts.Node // the fleet, in any order
	Notes    []string     // messages about facts that could not be read
	Warnings string       // diagnostics of the build, as text
	Unread   []UnreadFile // files of the site that bindc never reads, sorted by path
	Old      *Data        // the version to compare with, or nil
}

// Open opens a snapshot with the facts of a fleet. There is no Close: the garbage collector closes the snapshot file
// when the Data is unreachable.
func Open(from Source) (*Data, error) {
	file, err := snapshot.Open(from.Path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from.Path, err)
	}
	snap, err := lookup.New(file, lookup.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from.Path, err)
	}
	file.Release() // the file stays open until d is unreachable
	d := &Data{Style: from.Style, path: from.Path, file: file, snap: snap, nodes: slices.Clone(from.Nodes),
		old: from.Old, number: map[string]int{}, notes: from.Notes, warnings: from.Warnings,
		unread: from.Unread, maxAnswered: maxAnswered}
	slices.SortFunc(d.nodes, func(a, b facts.Node) int { return cmp.Compare(a.Name, b.Name) })
	for i, n := range d.nodes {
		d.number[n.Name] = i
	}
	if err := d.read(d.prepare); err != nil {
		return nil, fmt.Errorf("%s: %w", from.Path, err)
	}
	return d, nil
}

// prepare reads the parts of the snapshot that every page needs, and sets d.ID.
func (d *Data) prepare() (err error) {
	if d.single, err = decision.NewTables(d.file, false, nil); err != nil {
		return err
	}
	if d.inputs, err = d.file.Inputs(); err != nil {
		return err
	}
	for i := range d.inputs {
		d.inputs[i].Path = strings.Clone(d.inputs[i].Path)
	}
	d.keys = slices.Sorted(d.snap.Keys())
	if d.facts, _, _, err = d.snap.Needs(); err != nil {
		return err
	}
	if d.reads, err = d.snap.Reads(); err != nil {
		return err
	}
	d.ID, err = d.identify()
	d.census, d.tally = newCensus(d), newTally()
	if d.old != nil {
		d.diff = newDifference()
	}
	return err
}

// identify returns a digest of everything on which pages depend: the program, the snapshots, the facts and the style.
func (d *Data) identify() (string, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %s %q\n", assetsID(), d.file.Digest(), fmt.Sprintf("%+v", d.Style))
	if d.old != nil {
		fmt.Fprintf(sum, "%s\n", d.old.ID)
	}
	fmt.Fprintf(sum, "%q %q %q\n", d.notes, d.warnings, d.unread)
	for _, n := range d.nodes {
		text, err := json.Marshal(n)
		if err != nil {
			return "", err
		}
		sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil))[:12], nil
}

// read calls do, which reads the snapshot. If the file was truncated meanwhile, read returns an error instead of
// crashing.
func (d *Data) read(do func() error) error {
	defer runtime.KeepAlive(d)
	return d.file.Protect(do)
}

// tables returns the tables of the whole snapshot once they are available, because these are faster.
func (d *Data) tables() *decision.Tables { return cmp.Or(d.whole.Load(), d.single) }

// readWhole reads the bindings of all keys. After that, the table of a key takes microseconds instead of milliseconds,
// even if the site has bindings for tens of thousands of nodes.
func (d *Data) readWhole() error {
	return d.read(func() error {
		whole, err := decision.NewTables(d.file, true, nil)
		if err == nil {
			d.whole.Store(whole)
		}
		return err
	})
}

// index returns the parts of the snapshot that are already in memory, so that explanations need not read them again.
func (d *Data) index() lookup.Index {
	return lookup.Index{Bindings: d.tables().Bindings(), Inputs: d.inputs}
}

func (d *Data) digest() string { return d.file.Digest().String() }

func (d *Data) node(name string) (facts.Node, bool) {
	i, ok := d.number[name]
	if !ok {
		return facts.Node{}, false
	}
	return d.nodes[i], true
}

func (d *Data) nodeNames() []string {
	names := make([]string, len(d.nodes))
	for i := range names {
		names[i] = d.nodes[i].Name
	}
	return names
}

func (d *Data) hasKey(key string) bool {
	_, found := slices.BinarySearch(d.keys, key)
	return found
}

// input returns the index of a file in d.inputs.
func (d *Data) input(path string) (int, bool) {
	return slices.BinarySearchFunc(d.inputs, path, func(in snapshot.Input, path string) int {
		return cmp.Compare(in.Path, path)
	})
}
