package hiera5

// WrittenEntry is an entry of a hierarchy. One that bindc does not read has no locations.
type WrittenEntry struct {
	Name      string
	Locations []WrittenLocation
}

// WrittenLocation is a path or a glob.
type WrittenLocation struct {
	Kind      string // path, glob or mapped_paths
	Text      string // as written
	Dir       string // the known directory
	Dimension int    // the dimension that yields the path below Dir; -1 if Path is the path
	Path      string
}

// Written returns the entries as written.
func Written(entries []Entry) []WrittenEntry {
	var out []WrittenEntry
	for _, e := range entries {
		w := WrittenEntry{Name: e.Name}
		for _, l := range e.Locations {
			w.Locations = append(w.Locations, l.written...)
		}
		out = append(out, w)
	}
	return out
}

// writes returns a location as written. node yields its path.
func (c config) writes(kind string, p location, text string) []WrittenLocation {
	l := WrittenLocation{Kind: kind, Text: text, Dir: p.dirLabel, Dimension: -1}
	if path, constant := p.node.Constant(); constant {
		l.Path = path.Text()
	} else {
		l.Dimension = c.Whole(p.node, p.text)
	}
	return []WrittenLocation{l}
}
