package hiera5

// WrittenEntry is the source form of an entry in a hierarchy. An entry that is left to Puppet has no locations.
type WrittenEntry struct {
	Name      string
	Locations []WrittenLocation
}

// WrittenLocation is the source form of a path, a glob or mapped_paths in an entry.
type WrittenLocation struct {
	Kind      string // path, glob or mapped_paths
	Text      string
	Dir       string // the directory, which is the same for every request
	Dimension int    // dimension whose value is the path below Dir, or -1 if Path is constant
	Path      string
	Empty     bool // no file matches
}

func Written(entries []Entry) []WrittenEntry {
	var out []WrittenEntry
	for _, e := range entries {
		w := WrittenEntry{Name: e.Name}
		for _, l := range e.Locations {
			for _, written := range l.written {
				written.Empty = len(l.conditions) == 0
				w.Locations = append(w.Locations, written)
			}
		}
		out = append(out, w)
	}
	return out
}

func (c config) writtenForm(kind string, p location, text string) []WrittenLocation {
	l := WrittenLocation{Kind: kind, Text: text, Dir: p.dirLabel, Dimension: -1}
	if path, constant := p.node.Constant(); constant {
		l.Path = path.Text()
	} else {
		l.Dimension = c.Whole(p.node, p.text)
	}
	return []WrittenLocation{l}
}
