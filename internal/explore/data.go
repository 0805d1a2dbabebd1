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

// Data is one version of the data that the pages show: a snapshot and the facts of a fleet. A Data does not change,
// except that counts become available.
type Data struct {
	ID string // identifies the content of all pages
	Style

	path   string
	file   *snapshot.Snapshot
	snap   *lookup.Snapshot
	single *decision.Tables                // looks up the bindings of single keys
	whole  atomic.Pointer[decision.Tables] // holds the bindings of all keys, once counting has read them
	keys   []string                        // all bound keys, sorted
	inputs []snapshot.Input
	facts  []string // sorted names of the variables that answers depend on
	reads  []string // sorted paths of the variables that conditions and values read, such as os.family
	old    *Data    // the version to compare with, or nil

	nodes    []facts.Node // nodes of the fleet, sorted by name
	number   map[string]int
	counting sync.Once
	census   *census
	cache    keyCache

	maxAnswered int // maximum number of nodes for which to look up a key

	tally *tally      // counts of the nodes that bindings reach
	diff  *difference // changes since the version old
	diffs differences // changes since other versions

	Since time.Time // when the server first showed this version

	notes    []string     // messages about facts that could not be read
	warnings string       // diagnostics of the build
	unread   []UnreadFile // files of the site that are never read, sorted by path
}

// Style says how pages show data.
type Style struct {
	Name      string // name of the site or snapshot, for titles
	SourceURL string // address of a line, with {path}, {line} and {revision}; may be ""
	Revision  string // revision of the site, which replaces {revision} in SourceURL
	Sensitive bool   // show sensitive values
}

// Source is the input of Open: a snapshot and the facts of a fleet.
type Source struct {
	Style
	Path     string       // path of the snapshot
	Nodes    []facts.Node // nodes of the fleet
	Notes    []string     // messages about facts that could not be read
	Warnings string       // diagnostics of the build, as text
	Unread   []UnreadFile // files of the site that are never read, sorted by path
	Old      *Data        // the version to compare with, or nil
}

// Open opens a version of the data. The garbage collector closes the version after its last use.
func Open(from Source) (*Data, error) {
	file, err := snapshot.Open(from.Path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from.Path, err)
	}
	snap, err := lookup.New(file, lookup.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from.Path, err)
	}
	file.Release() // called when d is unreachable
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

// prepare reads what every page needs.
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

// identify returns an ID for the content of all pages. It depends on the program, the snapshots and the facts.
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

// read calls do, which reads the snapshot. If the file has been truncated, read returns an error.
func (d *Data) read(do func() error) error {
	defer runtime.KeepAlive(d)
	return d.file.Protect(do)
}

// tables returns the decision tables.
func (d *Data) tables() *decision.Tables { return cmp.Or(d.whole.Load(), d.single) }

// readWhole reads the bindings of all keys. After that, creating a key's table takes microseconds instead of
// milliseconds, even if the site has bindings for tens of thousands of nodes.
func (d *Data) readWhole() error {
	return d.read(func() error {
		whole, err := decision.NewTables(d.file, true, nil)
		if err == nil {
			d.whole.Store(whole)
		}
		return err
	})
}

// index returns what explanations need not read again.
func (d *Data) index() lookup.Index {
	return lookup.Index{Bindings: d.tables().Bindings(), Inputs: d.inputs}
}

// digest returns the digest of the snapshot.
func (d *Data) digest() string { return d.file.Digest().String() }

// node returns the node called name.
func (d *Data) node(name string) (facts.Node, bool) {
	i, ok := d.number[name]
	if !ok {
		return facts.Node{}, false
	}
	return d.nodes[i], true
}

// nodeNames returns the names of all nodes.
func (d *Data) nodeNames() []string {
	names := make([]string, len(d.nodes))
	for i := range names {
		names[i] = d.nodes[i].Name
	}
	return names
}

// hasKey reports whether something binds key.
func (d *Data) hasKey(key string) bool {
	_, found := slices.BinarySearch(d.keys, key)
	return found
}

// input returns the number of an input file.
func (d *Data) input(path string) (int, bool) {
	return slices.BinarySearchFunc(d.inputs, path, func(in snapshot.Input, path string) int {
		return cmp.Compare(in.Path, path)
	})
}
