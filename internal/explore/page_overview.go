package explore

import (
	"slices"
	"strconv"
	"strings"
)

type overviewContent struct {
	Warnings     string
	Summary      string // summary of the changes since the older version, or ""
	Dead         []fileRow
	DeadAll      int // number of files that reach no node; Dead lists the first of them
	Unread       int // how many of these bindc never reads
	DeadBindings int // number of bindings that reach no node
	Cells        []cell
	Levels       []levelName
	Areas        []area
	More         int // number of areas that the table omits
}

// levelName is an entry in the treemap's legend.
type levelName struct {
	Name  string
	Color int
}

// Number returns the level's number in the legend, counted from 1.
func (l levelName) Number() int { return l.Color + 1 }

type overviewTwin struct {
	Version string     `json:"version"`
	Digest  string     `json:"digest"`
	Keys    int        `json:"keys"`
	Nodes   int        `json:"nodes"`
	Files   int        `json:"files"`
	Dead    []fileRow  `json:"dead"`
	Areas   []areaTwin `json:"areas"`
}

type areaTwin struct {
	Module string  `json:"module"`
	Level  string  `json:"level"`
	Size   float64 `json:"size"`
}

// These constants limit the overview.
const (
	shownAreas  = 60
	shownDead   = 20
	shownLevels = 5 // number of levels without a colour that the legend names
)

// overview shows totals of the site, a treemap, and the files that reach no node.
func (v *view) overview() (any, error) {
	v.Title = "Overview"
	c := &overviewContent{Warnings: v.d.warnings}
	ready, err := v.wait(v.d.tally.ready)
	if err == nil && ready {
		err = v.d.tally.err
	}
	if err != nil {
		return nil, err
	}
	var dead []fileRow
	if ready && len(v.d.nodes) > 0 {
		for i, t := range v.d.tally.files {
			f := fileRow{Path: v.d.inputs[i].Path, Bindings: len(t.bindings), Reaching: t.reaching}
			if f.IsDead() {
				dead = append(dead, f)
			}
			c.DeadBindings += f.Dead()
		}
	}
	for _, f := range v.d.unread {
		dead = append(dead, fileRow{Path: f.Path, Unread: f.Reason})
	}
	if v.asJSON {
		t := overviewTwin{v.d.ID, v.d.digest(), len(v.d.keys), len(v.d.nodes), len(v.d.inputs),
			append([]fileRow{}, dead...), []areaTwin{}}
		for _, a := range v.d.tally.areas {
			t.Areas = append(t.Areas, areaTwin(a))
		}
		return t, nil
	}
	if v.d.old != nil && isClosed(v.d.diff.ready) && v.d.diff.err == nil {
		c.Summary = v.d.diff.report.Summary()
	} else if v.d.old != nil {
		v.unstable = true
	}
	c.Dead, c.DeadAll, c.Unread = dead[:min(len(dead), shownDead)], len(dead), len(v.d.unread)
	if ready {
		c.addAreas(v.d.tally.areas)
	}
	return c, nil
}

// addAreas sets the fields for the treemap, its legend and the table of areas.
func (c *overviewContent) addAreas(areas []area) {
	sizes := map[string]float64{}
	var names []string
	for _, a := range areas {
		if sizes[a.Level] == 0 {
			names = append(names, a.Level)
		}
		sizes[a.Level] += a.Size
	}
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case sizes[a] > sizes[b]:
			return -1
		case sizes[a] < sizes[b]:
			return 1
		}
		return 0
	})
	for i, name := range names[:min(len(names), levelColors)] {
		c.Levels = append(c.Levels, levelName{name, i})
	}
	if len(names) > levelColors {
		others := names[levelColors-1:]
		c.Levels[levelColors-1].Name = otherLevels + ": " + strings.Join(others[:min(len(others), shownLevels)], ", ")
		if n := len(others) - shownLevels; n > 0 {
			c.Levels[levelColors-1].Name += " and " + strconv.Itoa(n) + " more"
		}
	}
	c.Cells = treemap(areas, names)
	c.Areas, c.More = areas[:min(len(areas), shownAreas)], max(0, len(areas)-shownAreas)
}

// problemsPage shows the diagnostics of the last build.
func (v *view) problemsPage() (any, error) {
	v.Title, v.unstable, v.Twin = "Diagnostics", true, ""
	return &overviewContent{Warnings: v.d.warnings}, nil
}
