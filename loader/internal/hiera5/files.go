package hiera5

import (
	"strings"

	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/recipe"
	"bindc/loader/internal/site"
)

// TakeAlone are the files beside which a path or glob finds nothing else in the requests they are for, taken from the
// location; nil if the entry has others. Where there is one file a merge is another one than where there are several.
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
		if entries := h.own(in, f); len(entries) > 0 {
			out = append(out, site.DataFile{Path: f.Path, Condition: c, Entries: entries, Options: f.Says.Options})
		}
	}
	return out
}

// Deal are the files of a location, dealt out to layers: of files that are effective together the later one is lower
// if they have a key in common. Where they have none the order does not matter.
func (h *Hierarchy) Deal(in *site.Inputs, l Location) [][]site.DataFile {
	var out [][]site.DataFile
	for _, condition := range l.conditions {
		depth := map[uint32]int{} // by key, below the last file that has it
		for _, f := range l.files[condition] {
			entries := h.own(in, f)
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
				Options: f.Says.Options})
		}
	}
	return out
}

// own are the entries of a file that count: of a module, those of keys that have its name in front. Its lookup_options
// have it behind.
func (h *Hierarchy) own(in *site.Inputs, f *site.File) []datafile.Entry {
	if h.Module == "" {
		return f.Says.Entries
	}
	keys, prefix := in.Reader.Pools.Keys.Texts(), h.Module+"::"
	var out []datafile.Entry
	for _, e := range f.Says.Entries {
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
