package migrate

import (
	"math"
	"slices"

	"bindc/compile"
	"bindc/internal/lookupkey"
	"bindc/loader"
)

// none is the number of the first entry of Puppet's in a hierarchy that has none.
const none = math.MaxInt

// puppets is the first entry of a hierarchy that Puppet reads itself: one that is not compiled, such as a vault, or a
// level with a value that only Puppet knows.
type puppets struct {
	entry int // its number
	name  string
}

func (m *migration) firstOfPuppets(h *hierarchy) puppets {
	first := puppets{entry: none}
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

// part is which part of a site asks a hierarchy.
func (h *hierarchy) part() loader.HieraPart {
	switch {
	case h.global:
		return loader.HieraGlobal
	case h.module != "":
		return loader.HieraModule
	}
	return loader.HieraEnvironment
}

// decideForeign lets keys stay whose values depend on an entry that only Puppet reads. What has moved has precedence
// over all entries, and bindq merges it, and looks up from it, without Puppet's.
func (m *migration) decideForeign() {
	first := map[*hierarchy]puppets{}
	for _, h := range m.hierarchies {
		first[h] = m.firstOfPuppets(h)
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
			m.stayForeign(m.bound[key][0], "Puppet merges it with an entry that only Puppet reads")
		}
	}
	for more := true; more; {
		more = false
		for _, key := range m.keys {
			more = !m.foreign[key] && m.looksUpForeign(key) || more
		}
	}
}

// isForeign reports whether an entry that only Puppet reads may have a key.
func (m *migration) isForeign(key string) bool {
	return slices.ContainsFunc(m.site.Hierarchies, func(h loader.Hierarchy) bool {
		return (h.Module == "" || h.Module == lookupkey.Module(key)) && slices.ContainsFunc(h.Entries, isForeign)
	})
}

// looksUpForeign lets a key stay that looks up one that depends on what only Puppet reads, and reports whether it does.
func (m *migration) looksUpForeign(key string) bool {
	for _, b := range m.bound[key] {
		for text := range texts(b.value) {
			for _, used := range asked(text) {
				if m.foreign[used] || len(m.bound[used]) == 0 && m.isForeign(used) {
					m.stayForeign(b, "it looks up '%s', which only Puppet knows", used)
					return true
				}
			}
		}
	}
	return false
}

// stayForeign notes that a key stays because it depends on what only Puppet reads.
func (m *migration) stayForeign(b *binding, format string, args ...any) {
	m.foreign[b.key] = true
	m.stay(b, format, args...)
}
