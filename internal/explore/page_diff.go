package explore

import (
	"cmp"
	"slices"

	"bindc/internal/report"
	"bindc/internal/report/affected"
	"bindc/internal/report/decision"
)

// difference has the changes from the old version, as bindq diff prints them.
type difference struct {
	ready  chan struct{} // closed when the rest is set
	report *report.Diff
	err    error
}

func newDifference() *difference { return &difference{ready: make(chan struct{})} }

// take compares the old version with d, for all keys and then for all nodes.
func (x *difference) take(d *Data) {
	defer close(x.ready)
	x.err = d.read(func() error { return d.old.read(func() error { return x.compare(d) }) })
}

func (x *difference) compare(d *Data) error {
	before, err := decision.NewTables(d.old.file, true, nil)
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
	if x.report, err = style.Diff(d.old.file, d.file, found); err != nil || len(d.nodes) == 0 {
		return err
	}
	c := affected.Comparison{Old: d.old.snap, New: d.snap, OldPath: d.old.Name, NewPath: d.Name, Nodes: d.nodes,
		Style: style, Done: func() {}}
	x.report.Nodes, _ = c.Groups(found) // the list of nodes shows their errors
	x.report.Fleet = len(d.nodes)
	return nil
}

// diffContent is the data of the page of changes.
type diffContent struct {
	Old     string
	Summary string
	Causes  []report.Cause
	Keys    []diffKey
	Total   int
	Next    string
	Groups  []diffGroup
	Left    int // groups that are not shown
}

// diffKey is a key with its changes.
type diffKey struct {
	report.Key
	Rows        []diffRow
	ReachesNone bool // it changes for no node of the fleet
}

// diffRow is a change under a condition.
type diffRow struct {
	report.Change
	Before, After   shownValue
	OldPlace, Place place
	IsPart          bool // of a contribution
}

// diffGroup is a group of nodes with equal changes.
type diffGroup struct {
	Number  int
	Nodes   []string // the first ones
	Count   int
	Changes []effectRow
	Total   int
}

// Limits of a page of changes.
const (
	diffKeys    = 100
	diffGroups  = 30
	groupNodes  = 50
	groupKeys   = 20
	diffPerKeys = 20
)

// diffPage shows the changes from the old version.
func (v *view) diffPage() (any, error) {
	if v.d.old == nil {
		return nil, notFound("No other version was given to compare with", "bindc explore --old OLD names one; "+
			"with a site, changes since the start are shown after the first one")
	}
	v.Title, v.Section = "Changes", "d"
	ready, err := v.wait(v.d.diff.ready)
	if err == nil && ready {
		err = v.d.diff.err
	}
	if err != nil || !ready {
		return &diffContent{Old: v.d.old.Name}, err
	}
	all := v.d.diff.report
	if v.asJSON {
		return all, nil
	}
	c := &diffContent{Old: v.d.old.Name, Summary: all.Summary(), Causes: all.Causes, Total: len(all.Keys)}
	from := min(v.number("from"), len(all.Keys))
	to := min(from+diffKeys, len(all.Keys))
	unreached := all.Unreached()
	for _, k := range all.Keys[from:to] {
		shown := v.diffKey(k)
		shown.ReachesNone = len(v.d.nodes) > 0 && unreached[k.Key]
		c.Keys = append(c.Keys, shown)
	}
	if to < len(all.Keys) {
		c.Next = v.With("/d", "from", to)
	}
	if from == 0 {
		c.Groups, c.Left = diffGroupsOf(all.Nodes)
	}
	return c, nil
}

// diffKey returns a key with its first changes.
func (v *view) diffKey(k report.Key) diffKey {
	out := diffKey{Key: k}
	add := func(changes []report.Change, isPart bool) {
		for _, c := range changes[:min(len(changes), diffPerKeys)] {
			row := diffRow{Change: c, Before: shown(c.Old), After: shown(c.New), IsPart: isPart}
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

// diffGroupsOf returns the largest groups of nodes.
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
