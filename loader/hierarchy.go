package loader

import (
	"bindc/loader/internal/hiera5"
	"bindc/loader/internal/site"
)

// Hierarchy is a hierarchy of Hiera 5 as written. Explanations name its locations, also those without data.
type Hierarchy struct {
	Part    HieraPart
	Module  string // "" for the global one and the site's
	Config  string // the file, by its name in Inputs
	Entries []HierarchyEntry
}

// The parts of a Hierarchy.
type (
	// HierarchyEntry is an entry of a hierarchy. One that bindc does not read has no locations.
	HierarchyEntry = hiera5.WrittenEntry
	// HierarchyLocation is a path or a glob.
	HierarchyLocation = hiera5.WrittenLocation
)

// hierarchies returns the hierarchies of Hiera 5 in a plan, in the order in which lookups ask them.
func hierarchies(plan []plannedLayer, in *site.Inputs) (out []Hierarchy) {
	for part := HieraGlobal; part <= HieraDefaults; part++ {
		for _, pl := range plan {
			for _, p := range pl.contributions {
				if p.hiera5 == nil {
					continue
				}
				h := Hierarchy{Part: part, Module: p.hiera5.Module, Config: in.Label(p.hiera5.Doc.File)}
				switch {
				case p.part == part:
					h.Entries = hiera5.Written(p.hiera5.Entries)
				case part == HieraDefaults:
					h.Entries = hiera5.Written(p.hiera5.Defaults)
				}
				if len(h.Entries) > 0 {
					out = append(out, h)
				}
			}
		}
	}
	return out
}
