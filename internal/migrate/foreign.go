package migrate

import (
	"math"
	"slices"

	"bindc/compile"
	"bindc/internal/lookupkey"
	"bindc/loader"
)

// noEntry is foreignEntry.entry for a hierarchy without such an entry. It is greater than the
// number of any entry.
const noEntry = math.MaxInt

// foreignEntry is the first entry of a hierarchy that bindc cannot evaluate completely. Either only
// Puppet can read the entry, such as a vault, or the entry has a value that only Puppet knows.
type foreignEntry struct {
	entry int
	name  string
}

func (m *migration) firstForeign(h *hierarchy) foreignEntry {
	first := foreignEntry{entry: noEntry}
	for _, written := range m.site.Hierarchies {
		if written.Part != h.part() || written.Module != h.module {
			continue
		}
		if i := slices.IndexFunc(written.Entries, isForeign); i >= 0 {
			first.entry = i
		}
		for _, l := range compile.ForeignLookups(m.site) {
			if l.Config == h.config && l.Part == h.part() {
				first.entry = min(first.entry, l.Entry)
			}
		}
		if first.entry < len(written.Entries) {
			first.name = written.Entries[first.entry].Name
		}
	}
	return first
}

func isForeign(e loader.HierarchyEntry) bool { return len(e.Locations) == 0 }

// part returns which part of the site the hierarchy configures.
func (h *hierarchy) part() loader.HieraPart {
	switch {
	case h.global:
		return loader.HieraGlobal
	case h.module != "":
		return loader.HieraModule
	}
	return loader.HieraEnvironment
}

// decideForeign keeps a key in Hiera 5 if its value depends on an entry that only Puppet can read.
// If it moved, it would take precedence over that entry, and merges would leave out the entry.
func (m *migration) decideForeign() {
	first := map[*hierarchy]foreignEntry{}
	for _, h := range m.hierarchies {
		first[h] = m.firstForeign(h)
	}
	for _, key := range m.keys {
		for _, b := range m.bound[key] {
			switch p := first[b.level.hierarchy]; {
			case b.level.part == loader.HieraDefaults || b.level.entry < p.entry:
			case b.level.entry == p.entry:
				m.stayForeign(b, "the level '%s' has a value that only Puppet knows", p.name)
			default:
				m.stayForeign(b, "the level '%s', which only Puppet can read, has precedence over its level", p.name)
			}
		}
		strategy := m.merged[key].strategy
		if strategy != "" && strategy != "first" && m.isForeign(key) {
			m.stayForeign(m.bound[key][0], "Puppet merges it with an entry that only Puppet can read")
		}
	}
	for more := true; more; {
		more = false
		for _, key := range m.keys {
			more = !m.foreign[key] && m.looksUpForeign(key) || more
		}
	}
}

// isForeign reports whether key may be bound by an entry that only Puppet can read.
func (m *migration) isForeign(key string) bool {
	return slices.ContainsFunc(m.site.Hierarchies, func(h loader.Hierarchy) bool {
		return (h.Module == "" || h.Module == lookupkey.Module(key)) && slices.ContainsFunc(h.Entries, isForeign)
	})
}

// looksUpForeign keeps key in Hiera 5 if it looks up a key that depends on an entry that only
// Puppet can read. It reports whether that is the case.
func (m *migration) looksUpForeign(key string) bool {
	for _, b := range m.bound[key] {
		for text := range texts(b.value) {
			for _, used := range keysLookedUpBy(text) {
				if m.foreign[used] || len(m.bound[used]) == 0 && m.isForeign(used) {
					m.stayForeign(b, "it looks up '%s', which only Puppet knows", used)
					return true
				}
			}
		}
	}
	return false
}

// stayForeign keeps a key in Hiera 5 and records that an entry that only Puppet can read is the
// reason.
func (m *migration) stayForeign(b *binding, format string, args ...any) {
	m.foreign[b.key] = true
	m.stay(b, format, args...)
}
