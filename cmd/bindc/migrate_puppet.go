package main

import (
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"bindc/compile"
	"bindc/diag"
	"bindc/internal/migrate"
	"bindc/loader"
)

// printForPuppet prints what the user has to do before Puppet can use the new snapshot.
func printForPuppet(w io.Writer, site *loader.Site, out string, files []migrate.File) error {
	remains := slices.ContainsFunc(files, func(f migrate.File) bool { return f.Path == "hiera5/hiera.yaml" })
	if levels, foreign := puppetsLevels(site); foreign && remains {
		command := "bindq hiera-config -s FILE --from " + quotedForShell(filepath.Join(out, "hiera5/hiera.yaml"))
		for _, level := range levels {
			command += " --keep " + quotedForShell(level)
		}
		_, err := fmt.Fprintf(w, "puppet: %s prints the hiera.yaml for Puppet\n", diag.Visible(command))
		if err != nil {
			return err
		}
	}
	// Puppet still reads the hiera.yaml of a module whose data moved, and would merge that data with the snapshot's.
	moved := movedModules(files)
	if len(moved) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "modules: %s moved; before Puppet uses the new snapshot, delete the "+
		"hiera.yaml of each: %s\n",
		diag.Count(len(moved), "module"), diag.Visible(strings.Join(moved, ", ")))
	return err
}

// puppetsLevels returns the names of the hiera.yaml levels that bindc compiles but only Puppet can look up. foreign
// reports whether Puppet looks up any level of hiera.yaml.
func puppetsLevels(site *loader.Site) (levels []string, foreign bool) {
	i := slices.IndexFunc(site.Hierarchies, func(h loader.Hierarchy) bool { return h.Part == loader.HieraEnvironment })
	if i < 0 {
		return nil, false
	}
	entries := site.Hierarchies[i].Entries
	for _, l := range compile.ForeignLookups(site) {
		if l.Part == loader.HieraEnvironment {
			levels = append(levels, entries[l.Entry].Name)
		}
	}
	foreign = len(levels) > 0 ||
		slices.ContainsFunc(entries, func(e loader.HierarchyEntry) bool { return len(e.Locations) == 0 })
	return levels, foreign
}

// movedModules returns the sorted directories of the modules whose data has moved completely.
func movedModules(files []migrate.File) []string {
	moved := map[string]bool{}
	for _, f := range files {
		dir, name := path.Split(f.Path)
		if path.Base(dir) == "bindings" {
			dir, name = path.Split(path.Clean(dir))
		}
		if dir = path.Clean(dir); dir != "." && (name == "hiera2.yaml" || name == "bindings") {
			moved[dir] = true
		}
	}
	for _, f := range files {
		if path.Base(f.Path) == "hiera.yaml" {
			delete(moved, path.Dir(f.Path))
		}
	}
	return slices.Sorted(maps.Keys(moved))
}
