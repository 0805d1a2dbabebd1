package hiera5

import (
	"strings"

	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/recipe"
	"bindc/loader/internal/site"
)

// TakeAlone removes and returns the files of l that are the only file under their condition. They need a separate
// layer, because Puppet merges a single file differently from several files. only means that l is the entry's only
// location; otherwise TakeAlone returns nil.
func (h *Hierarchy) TakeAlone(in *site.Inputs, l *Location, only bool) (out []site.DataFile) {
	if !only {
		return nil
	}
	conditions := l.conditions
	l.conditions = nil
	for _, c := range conditions {
		if len(l.files[c]) > 1 {
			l.conditions = append(l.conditions, c)
			continue
		}
		f := l.files[c][0]
		if entries := h.ownEntries(in, f); len(entries) > 0 {
			out = append(out, site.DataFile{Path: f.Path, Condition: c, Entries: entries, Options: f.Content.Options})
		}
	}
	return out
}

// Deal distributes the files of a location among layers. If two files that apply together share a key, the later file
// is in a lower layer.
func (h *Hierarchy) Deal(in *site.Inputs, l Location) [][]site.DataFile {
	var out [][]site.DataFile
	for _, condition := range l.conditions {
		depth := map[uint32]int{} // for each key, the first layer below all files that have it
		for _, f := range l.files[condition] {
			entries := h.ownEntries(in, f)
			if len(entries) == 0 {
				continue
			}
			at := 0
			for _, e := range entries {
				at = max(at, depth[e.Key])
			}
			for _, e := range entries {
				depth[e.Key] = at + 1
			}
			for at >= len(out) {
				out = append(out, nil)
			}
			out[at] = append(out[at], site.DataFile{Path: f.Path, Condition: condition, Entries: entries,
				Options: f.Content.Options})
		}
	}
	return out
}

// ownEntries returns the entries of a file. In a module, it drops keys without the module's prefix and renames
// lookup_options, so that they apply to this module only.
func (h *Hierarchy) ownEntries(in *site.Inputs, f *site.File) []datafile.Entry {
	if h.Module == "" {
		return f.Content.Entries
	}
	keys, prefix := in.Reader.Pools.Keys.Texts(), h.Module+"::"
	var out []datafile.Entry
	for _, e := range f.Content.Entries {
		name := keys[e.Key]
		switch {
		case name == recipe.LookupOptionsKey:
			e.Key = in.Reader.Pools.Keys.Number([]byte(name + " " + h.Module))
		case !strings.HasPrefix(strings.TrimLeft(name, `"'`), prefix):
			in.Diags.Add(diag.Diagnostic{Pos: diag.Pos{File: f.Path, Line: int(e.Line), Col: int(e.Col)},
				Severity: diag.Warning,
				Code:     "hiera_key",
				Message:  "'" + name + "' is not a key of this module; this value is never used",
				Hint:     "the keys of a module's data begin with '" + prefix + "'"})
			continue
		}
		out = append(out, e)
	}
	return out
}
