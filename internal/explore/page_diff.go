package explore

import (
	"cmp"
	"slices"
	"strconv"
	"sync"
	"time"

	"bindc/diag"
	"bindc/internal/report"
	"bindc/internal/report/affected"
	"bindc/internal/report/decision"
)

// difference is the result of comparing two versions, in the form that 'bindq diff' prints.
type difference struct {
	ready  chan struct{} // closed when the other fields are set
	report *report.Diff
	err    error
}

func newDifference() *difference { return &difference{ready: make(chan struct{})} }

// differences maps the ID of an older version to the changes since that version.
type differences struct {
	mu    sync.Mutex
	known map[string]*difference
}

// changesFrom returns the changes from old to d and starts computing them if necessary. Wait for ready before reading
// the other fields.
func (d *Data) changesFrom(old *Data) *difference {
	if old == d.old {
		return d.diff
	}
	d.diffs.mu.Lock()
	defer d.diffs.mu.Unlock()
	x := d.diffs.known[old.ID]
	if x == nil {
		if d.diffs.known == nil {
			d.diffs.known = map[string]*difference{}
		}
		x = newDifference()
		d.diffs.known[old.ID] = x
		go x.take(old, d)
	}
	return x
}

// take compares old with d and closes x.ready.
func (x *difference) take(old, d *Data) {
	defer close(x.ready)
	x.err = d.read(func() error { return old.read(func() error { return x.compare(old, d) }) })
}

func (x *difference) compare(old, d *Data) error {
	before, err := decision.NewTables(old.file, true, nil)
	if err != nil {
		return err
	}
	after, err := decision.NewTables(d.file, true, nil)
	if err != nil {
		return err
	}
	found, err := decision.Diff(before, after, func() {})
	if err != nil {
		return err
	}
	style := d.style(report.JSON)
	if x.report, err = style.Diff(old.file, d.file, found); err != nil || len(d.nodes) == 0 {
		return err
	}
	c := affected.Comparison{Old: old.snap, New: d.snap, OldPath: old.Name, NewPath: d.Name, Nodes: d.nodes,
		Style: style, Done: func() {}}
	x.report.Nodes, _ = c.Groups(found) // errors for single nodes are shown in the list of nodes
	x.report.Fleet = len(d.nodes)
	return nil
}

// version is a choice in the list of versions to compare with.
type version struct {
	ID, Name string
	Selected bool
}

// others returns the versions to compare with: the one given at startup and those that the server still keeps.
func (v *view) others() (out []*Data) {
	if v.d.old != nil {
		out = append(out, v.d.old)
	}
	for _, d := range v.kept {
		if d.ID != v.d.ID && (v.d.old == nil || d.ID != v.d.old.ID) {
			out = append(out, d)
		}
	}
	return out
}

// versions returns the choices to compare with.
func (v *view) versions(selected *Data) (out []version) {
	for _, d := range v.others() {
		out = append(out, version{d.ID, d.label(), d == selected})
	}
	return out
}

// label returns the text for d in the list of versions.
func (d *Data) label() string {
	if d.Since.IsZero() {
		return d.Name
	}
	return d.Name + " at " + d.Since.Format(time.TimeOnly)
}

// oldVersion returns the version that the query selects. By default, that is the version given at startup, or the
// newest other version.
func (v *view) oldVersion() (*Data, error) {
	id := v.Get("old")
	if id == "" && v.d.old != nil {
		return v.d.old, nil
	}
	for i := len(v.kept) - 1; i >= 0; i-- {
		if d := v.kept[i]; d.ID == id || id == "" && d.ID != v.d.ID {
			return d, nil
		}
	}
	if v.d.old != nil && v.d.old.ID == id {
		return v.d.old, nil
	}
	if id != "" {
		text := "The version " + diag.Visible(id) + " is gone; the last " + strconv.Itoa(keptVersions) + " are kept"
		return nil, notFound(text, "", link{"Changes", v.With("/d")})
	}
	return nil, notFound("No other version was given to compare with", "bindc explore --old OLD names one; "+
		"with a site, changes since the start are shown after the first one")
}

type diffContent struct {
	Old, New string
	Start    string // when the version given at startup was first shown, or ""
	Versions []version
	Summary  string
	Causes   []report.Cause
	Keys     []diffKey
	Total    int
	Next     string
	Groups   []diffGroup
	Left     int // number of groups omitted
}

type diffKey struct {
	report.Key
	Rows        []diffRow
	ReachesNone bool // no node is affected
}

// diffRow is a changed value, with the condition to which it belongs.
type diffRow struct {
	report.Change
	Before, After   shownValue
	OldPlace, Place place
	IsPart          bool // the row is a contribution to a multibinding
	IsSame          bool // only a key that the value looks up has changed
}

type diffGroup struct {
	Number  int
	Nodes   []string // names of the first nodes; Count counts all of them
	Count   int
	Changes []effectRow
	Total   int
}

// These constants limit the page of changes.
const (
	diffKeys    = 100
	diffGroups  = 30
	groupNodes  = 50
	groupKeys   = 20
	diffPerKeys = 20
)

func (v *view) diffPage() (any, error) {
	v.Title, v.Section = "Changes", "d"
	old, err := v.oldVersion()
	if err != nil {
		return nil, err
	}
	c := &diffContent{Old: old.label(), New: v.d.label(), Versions: v.versions(old)}
	if old == v.d.old && !old.Since.IsZero() {
		c.Start = old.Since.Format(time.TimeOnly)
	}
	v.unstable = v.unstable || len(v.kept) > 1
	diff := v.d.changesFrom(old)
	ready, err := v.wait(diff.ready)
	if err == nil && ready {
		err = diff.err
	}
	if err != nil || !ready {
		return c, err
	}
	all := diff.report
	if v.asJSON {
		return all, nil
	}
	c.Summary, c.Causes, c.Total = all.Summary(), all.Causes, len(all.Keys)
	from := min(v.number("from"), len(all.Keys))
	to := min(from+diffKeys, len(all.Keys))
	unreached := all.Unreached()
	keys := slices.Clone(all.Keys)
	slices.SortStableFunc(keys, func(a, b report.Key) int { // keys that change on no node come last
		switch {
		case unreached[a.Key] == unreached[b.Key]:
			return 0
		case unreached[b.Key]:
			return -1
		}
		return 1
	})
	for _, k := range keys[from:to] {
		shown := v.diffKey(k)
		shown.ReachesNone = len(v.d.nodes) > 0 && unreached[k.Key]
		c.Keys = append(c.Keys, shown)
	}
	if to < len(all.Keys) {
		c.Next = v.With("/d", "old", v.Get("old"), "from", to)
	}
	if from == 0 {
		c.Groups, c.Left = diffGroupsOf(all.Nodes)
	}
	return c, nil
}

// diffKey formats a changed key, with at most diffPerKeys changes of each kind.
func (v *view) diffKey(k report.Key) diffKey {
	out := diffKey{Key: k}
	add := func(changes []report.Change, isPart bool) {
		for _, c := range changes[:min(len(changes), diffPerKeys)] {
			row := diffRow{Change: c, Before: shown(c.Old), After: shown(c.New), IsPart: isPart}
			row.When, row.Except = v.asOnNodes(c.When), slices.Clone(c.Except)
			for i := range row.Except {
				row.Except[i] = v.asOnNodes(row.Except[i])
			}
			row.IsSame = len(c.Through) > 0 && row.Before == row.After && !row.After.Cut
			if c.OldAt != "" {
				row.OldPlace = place{Text: short(c.OldAt, 500)}
			}
			if c.NewAt != "" {
				row.Place = v.place(c.NewAt)
			}
			out.Rows = append(out.Rows, row)
		}
	}
	add(k.Changes, false)
	add(k.Contributions, true)
	return out
}

// diffGroupsOf returns the largest groups of nodes. left is the number of groups omitted.
func diffGroupsOf(all []report.Group) (out []diffGroup, left int) {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b report.Group) int { return cmp.Compare(len(b.Nodes), len(a.Nodes)) })
	for _, g := range all[:min(len(all), diffGroups)] {
		x := diffGroup{Number: len(out) + 1, Nodes: g.Nodes[:min(len(g.Nodes), groupNodes)], Count: len(g.Nodes),
			Total: len(g.Changes)}
		for _, k := range g.Changes[:min(len(g.Changes), groupKeys)] {
			x.Changes = append(x.Changes, effectRow{Key: k.Key, Old: shown(k.Old), New: shown(k.New)})
		}
		out = append(out, x)
	}
	return out, len(all) - len(out)
}
