package loader

import "bindc/loader/internal/site"

// Hierarchy is a hierarchy of Hiera 5 as it is written. Explanations name its locations, also those without data.
type Hierarchy struct {
	Part    HieraPart
	Module  string // "" for the global one and the site's
	Config  string // the file, as Inputs have it
	Entries []HierarchyEntry
}

// HierarchyEntry is an entry of a hierarchy. One that bindc does not read has no locations.
type HierarchyEntry struct {
	Name      string
	Locations []HierarchyLocation
}

// HierarchyLocation is a path or a glob.
type HierarchyLocation struct {
	Kind      string // path, glob or mapped_paths
	Text      string // as it is written
	Dir       string // the directory that is known
	Dimension int    // the one that yields the path below Dir; -1 if Path is it
	Path      string
}

// hierarchies returns the hierarchies of Hiera 5 in a plan, in the order in which lookups ask them.
func hierarchies(plan []plannedLayer, in *site.Inputs) (out []Hierarchy) {
	for part := HieraGlobal; part <= HieraDefaults; part++ {
		for _, pl := range plan {
			for _, p := range pl.contributions {
				if p.hiera5 == nil {
					continue
				}
				h := Hierarchy{Part: part, Module: p.hiera5.module, Config: in.Label(p.hiera5.doc.File)}
				switch {
				case p.part == part:
					h.Entries = written(p.hiera5.entries)
				case part == HieraDefaults:
					h.Entries = written(p.hiera5.defaults)
				}
				if len(h.Entries) > 0 {
					out = append(out, h)
				}
			}
		}
	}
	return out
}

func written(entries []hiera5Entry) []HierarchyEntry {
	var out []HierarchyEntry
	for _, e := range entries {
		w := HierarchyEntry{Name: e.name}
		for _, l := range e.locations {
			w.Locations = append(w.Locations, l.written...)
		}
		out = append(out, w)
	}
	return out
}

// writes returns a place as it is written. The dimension is that of node, which yields its path.
func (c hiera5Config) writes(kind string, p place, text string) []HierarchyLocation {
	l := HierarchyLocation{Kind: kind, Text: text, Dir: p.dirLabel, Dimension: -1}
	if path, constant := p.node.Constant(); constant {
		l.Path = path.Text()
	} else {
		l.Dimension = c.Whole(p.node, p.text)
	}
	return []HierarchyLocation{l}
}
