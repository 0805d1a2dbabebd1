package loader

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
