package lookup

import (
	"io/fs"
	"maps"
	"runtime"
	"slices"
)

// Reads returns the sorted paths of the variables that conditions and values read, such as os.family. Unlike Needs, it
// includes environment, and omits the sources of derived variables and the variables of categories without bindings.
// The error is a *DamageError, or fs.ErrClosed.
func (s *Snapshot) Reads() ([]string, error) {
	if s.closed.Load() {
		return nil, fs.ErrClosed
	}
	defer runtime.KeepAlive(s)
	sv, err := s.survey()
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(sv.paths)), nil
}

// SourcesOf returns the paths of the facts from which a missing variable is derived. The first of these facts that a
// node has determines the value.
func SourcesOf(variable string) []string {
	switch variable {
	case "fqdn":
		return []string{"networking.fqdn", "hostname", "clientcert"}
	case "hostname", "domain":
		return []string{"networking." + variable, "fqdn", "networking.fqdn", "clientcert"}
	case "clientcert":
		return []string{"fqdn", "networking.fqdn", "hostname"}
	case "kernel":
		return []string{"os.family"}
	case "virtual", "is_virtual":
		return []string{"virtual", "hypervisors"}
	}
	for _, l := range legacyFacts {
		if l.name == variable {
			return []string{l.path}
		}
	}
	return nil
}
