package hiera5

import (
	"slices"

	"bindc/internal/yaml"
	"bindc/loader/internal/site"
)

// AsksSnapshotOnly reports whether every entry of a version 5 hiera.yaml looks up keys in a snapshot, as in the output
// of 'bindq hiera-config'.
func AsksSnapshotOnly(doc site.Document) bool {
	_, list, ok := doc.Root.Lookup("hierarchy")
	if !ok || list.Kind != yaml.Sequence || len(list.Kids) == 0 {
		return false // without entries, Puppet uses a default hierarchy with data
	}
	_, defaults, _ := doc.Root.Lookup("defaults")
	return !slices.ContainsFunc(list.Kids, func(e yaml.Node) bool {
		from := &e
		if defaults != nil && len(presentKeys(from, backendKeys)) == 0 {
			from = defaults
		}
		return !asksSnapshot(from)
	})
}

func asksSnapshot(entry *yaml.Node) bool {
	for key, name := range snapshotFunctions {
		if _, function, ok := entry.Lookup(key); ok {
			text, _ := function.Text()
			return text == name
		}
	}
	return false
}
