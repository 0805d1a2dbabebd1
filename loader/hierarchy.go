package loader

import (
	"slices"

	"bindc/loader/internal/hiera5"
	"bindc/loader/internal/site"
)

// Hierarchy is a Hiera 5 hierarchy as written in its hiera.yaml. Explanations list all its locations, even those
// without data.
type Hierarchy struct {
	Part    HieraPart
	Module  string // "" for the global hierarchy and the site's
	Config  string // name of the hiera.yaml in Inputs
	Entries []HierarchyEntry
}

// NeedsPuppet reports whether an entry of h is left to Puppet. It may bind keys that the site does not contain.
func (h *Hierarchy) NeedsPuppet() bool {
	return slices.ContainsFunc(h.Entries, func(e HierarchyEntry) bool { return len(e.Locations) == 0 })
}

// Aliases that export types of loader/internal/hiera5.
type (
	// HierarchyEntry is an entry in a hierarchy. An entry that is left to Puppet has no locations.
	HierarchyEntry = hiera5.WrittenEntry
	// HierarchyLocation is a path or a glob in an entry.
	HierarchyLocation = hiera5.WrittenLocation
)

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
