package loader

import (
	"slices"

	"bindc/diag"
	"bindc/loader/internal/hiera5"
	"bindc/loader/internal/site"
)

// hiera5Layers converts the Hiera 5 hierarchies of a layer to one layer per path, ordered by part and then by entry.
// Modules share these layers, because each key belongs to at most one module. It returns nil if the layer has no Hiera
// 5 hierarchy.
func hiera5Layers(pl plannedLayer, in *site.Inputs) []Layer {
	if !slices.ContainsFunc(pl.contributions, func(p planned) bool { return p.hiera5 != nil }) {
		return nil
	}
	out := []Layer{}
	for part := HieraGlobal; part <= HieraDefaults; part++ {
		s := hiera5Stack{Inputs: in, part: part}
		for _, p := range pl.contributions {
			switch {
			case p.hiera5 == nil:
				in.Diags.Errorf(diag.Pos{File: in.Dir}, "layer",
					"the layer '%s' has both %s and a hierarchy of Hiera 5: "+
						"expected the hierarchy in a separate layer", pl.name, p.uri)
				return out
			case p.part == part:
				s.add(p, p.hiera5.Entries)
			case part == HieraDefaults: // only modules have a default hierarchy
				s.add(p, p.hiera5.Defaults)
			}
		}
		for _, entry := range s.entries {
			out = append(out, entry...)
		}
	}
	if len(out) == 0 { // keep a layer: the rules of Hiera 5 for keys apply even without data
		return []Layer{{Name: pl.name, Hiera: HieraEnvironment}}
	}
	return out
}

// hiera5Paths returns, by module, the dimensions that represent paths in Hiera 5 hierarchies.
func hiera5Paths(plan []plannedLayer) map[string][]int {
	out := map[string][]int{}
	for _, pl := range plan {
		for _, p := range pl.contributions {
			if p.hiera5 != nil && len(p.hiera5.Paths) > 0 {
				out[p.hiera5.Module] = append(out[p.hiera5.Module], p.hiera5.Paths...)
			}
		}
	}
	return out
}

// hiera5Stack collects the layers of one part of Hiera 5, grouped by hierarchy entry.
type hiera5Stack struct {
	*site.Inputs
	part    HieraPart
	entries [][]Layer
}

// partNames lists Puppet's names for the parts of Hiera 5. The name of a layer consists of its part and its entry. If
// modules with different entries share a layer, its name is the part alone.
var partNames = [...]string{HieraGlobal: "global", HieraEnvironment: "environment", HieraModule: "module",
	HieraDefaults: "default_hierarchy"}

func (s *hiera5Stack) add(p planned, entries []hiera5.Entry) {
	only := len(entries) == 1
	for i, e := range entries {
		if i == len(s.entries) {
			s.entries = append(s.entries, nil)
		}
		at, name := 0, partNames[s.part]+": "+e.Name
		for _, l := range e.Locations {
			alone := p.hiera5.TakeAlone(s.Inputs, &l, len(e.Locations) == 1)
			for n, files := range slices.Concat([][]DataFile{alone}, p.hiera5.Deal(s.Inputs, l)) {
				if n == 0 && alone == nil {
					continue
				}
				like := Layer{Name: name, Hiera: s.part, Entry: i, OnlyEntry: only, OnlyPath: l.Only || n == 0}
				at = s.next(i, at, like)
				layer := &s.entries[i][at]
				if layer.Name != name {
					layer.Name = partNames[s.part]
				}
				layer.Contributions = append(layer.Contributions, Contribution{URI: p.uri, Config: p.hiera5.Doc.File,
					Files: files})
				at++
			}
		}
	}
}

// next returns the index of the entry's first layer, from index at on, that has the same flags as like. Such a layer
// comes from another module. If there is none, next appends like.
func (s *hiera5Stack) next(entry, at int, like Layer) int {
	for ; at < len(s.entries[entry]); at++ {
		if l := s.entries[entry][at]; l.OnlyPath == like.OnlyPath && l.OnlyEntry == like.OnlyEntry {
			return at
		}
	}
	s.entries[entry] = append(s.entries[entry], like)
	return at
}
