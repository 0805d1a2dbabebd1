package check

import (
	"maps"
	"slices"
	"strings"

	"bindc/compile/internal/index"
	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/lookupkey"
	"bindc/internal/recipe"
	"bindc/loader"
)

// checkHieraLookups warns about interpolated lookups in Hiera 5 data that never succeed. Puppet inserts an empty string
// for an unbound key, and fails if a key looks itself up.
func checkHieraLookups(e *pass.Env, s *index.Ordered, l *index.Levels) {
	h := hieraLookups{Env: e, names: s.Names, values: s.Values, scopes: s.Scopes, keys: map[uint32][]string{},
		whole: map[string]string{}, unbound: map[string]use{}}
	certain, depends := hieraNeeds{}, l.Conditional()
	for i := range s.Scopes {
		sc := &s.Scopes[i]
		if !e.IsHiera(sc.Layer) {
			continue
		}
		part := e.Site.Layers[sc.Layer].Hiera
		for _, m := range sc.Members {
			for i, entry := range m.File.Entries {
				keys := h.of(entry.Value)
				if len(keys) == 0 {
					continue
				}
				at := m.File.Pos(i)
				h.lookUp(keys, at, part)
				n := s.InNames[entry.Key]
				if _, merged := s.Merges.ByKey[entry.Key]; sc.Rank == l.Defaults[n].Rank && !depends[n] && !merged {
					certain[s.Names[n]] = hieraNeed{keys, at}
				}
			}
		}
	}
	h.warnOfUnbound()
	certain.findLoops(s.Names, func(at diag.Pos, message string) {
		e.Report(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "loop",
			Message: message + "; every lookup of it fails, as in Puppet"})
	})
}

// hieraLookups finds the keys that values look up in interpolations.
type hieraLookups struct {
	*pass.Env
	names   index.Names
	values  []string // see place.Tables
	scopes  []place.Scope
	keys    map[uint32][]string // results of the method of, by value number
	counts  map[string]int      // number of values that look up a key; set by places
	whole   map[string]string   // the key that values look up, by its root; if they differ, the root
	unbound map[string]use      // keys that nothing binds or resembles; see lookUp
}

// of returns the roots of the keys that the value number val looks up. Roots with dots are quoted.
func (h *hieraLookups) of(val uint32) []string {
	text := h.values[val]
	if text[0] != recipe.CompiledRecipe {
		return nil
	}
	if keys, ok := h.keys[val]; ok {
		return keys
	}
	var keys []string
	if r, err := recipe.Decode(text[1:]); err == nil && r.Kind == recipe.Expression {
		expr.HieraLookups(r.Expr, func(root, key string) {
			keys = append(keys, root)
			if whole, seen := h.whole[root]; !seen {
				h.whole[root] = key
			} else if whole != key {
				h.whole[root] = root
			}
		})
	}
	h.keys[val] = keys
	return keys
}

// lookUp warns about keys that nothing binds, if a similar key is bound, and counts the other unbound keys. A value at
// the given position, in the given part of the hierarchy, looks up these keys. Modules may look up keys that only some
// sites bind, so the other unbound keys are not counted there.
func (h *hieraLookups) lookUp(keys []string, at diag.Pos, part loader.HieraPart) {
	for _, key := range keys {
		if _, bound := h.names.Find(key); bound {
			continue
		}
		if meant := h.Diags.CorrectTypo(key, h.names); !meant.IsNone() {
			d := diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "key_unbound",
				Message: "this looks up " + h.written(key) + ", which nothing binds"}
			h.Unbound(&d, meant, h.places(key)-h.places(meant.New))
			h.Report(d)
		} else if part < loader.HieraModule && !h.mayBind(key) {
			u := h.unbound[key]
			if u.places++; u.places == 1 || at.Compare(u.first) < 0 {
				u.first = at
			}
			h.unbound[key] = u
		}
	}
}

// use says where values look up a key.
type use struct {
	first  diag.Pos
	places int
}

// warnOfUnbound warns about the unbound keys that lookUp counted, once for each key. If a path of the hierarchy has no
// file, which may be only on Puppet's servers, it is a single note.
func (h *hieraLookups) warnOfUnbound() {
	keys := slices.Sorted(maps.Keys(h.unbound))
	if path := h.pathWithoutFile(); path != "" && len(keys) > 0 {
		h.noteUnbound(keys, path)
		return
	}
	for _, key := range keys {
		u := h.unbound[key]
		message := "this looks up " + h.written(key) + ", which nothing binds; it gets an empty string"
		if u.places > 1 {
			message = "this and " + diag.Count(u.places-1, "other value") + " look up " + h.written(key) +
				", which nothing binds; they get an empty string"
		}
		d := diag.Diagnostic{Pos: u.first, Severity: diag.Warning, Code: "key_unbound", Message: message,
			Hint: "bind it, or remove the lookup; if its data is only on Puppet's servers, build there"}
		if whole := h.whole[key]; whole != key && h.isBound(whole) {
			d.Hint = "'" + whole + "' is bound: quote a key with dots, as in lookup(\"'" + whole + "'\")"
		}
		h.Report(d)
	}
}

// shownKeys limits how many unbound keys a note shows.
const shownKeys = 3

// noteUnbound notes that values look up keys that nothing binds here, and that path has no file.
func (h *hieraLookups) noteUnbound(keys []string, path string) {
	first := h.unbound[keys[0]].first
	for _, key := range keys {
		if at := h.unbound[key].first; at.Compare(first) < 0 {
			first = at
		}
	}
	message := "nothing binds " + diag.Quoted(keys) + "; values look it up, first here, and get an empty string"
	switch more := len(keys) - shownKeys; {
	case more > 0:
		message = "nothing binds '" + strings.Join(keys[:shownKeys], "', '") + "' and " + diag.Count(more, "other") +
			"; values look them up, first here, and get empty strings"
	case len(keys) > 1:
		message = "nothing binds " + diag.Quoted(keys) + "; values look them up, first here, and get empty strings"
	}
	h.Report(diag.Diagnostic{Pos: first, Severity: diag.Info, Code: "key_unbound", Message: message,
		Hint: "the path '" + path + "' has no file here: if it is only on Puppet's servers, build there"})
}

// pathWithoutFile returns the text of a path of the environment's or the global hierarchy that no file matches, or "".
func (h *hieraLookups) pathWithoutFile() string {
	for _, hierarchy := range h.Site.Hierarchies {
		for _, entry := range hierarchy.Entries {
			for _, location := range entry.Locations {
				if location.Empty && hierarchy.Module == "" {
					return location.Text
				}
			}
		}
	}
	return ""
}

// written returns the text of a key for a message, with the whole key if that leads into its value.
func (h *hieraLookups) written(key string) string {
	if whole := h.whole[key]; whole != key {
		return "'" + key + "', the first part of '" + whole + "'"
	}
	return "'" + key + "'"
}

// isBound reports whether the data binds key as it is, with its dots.
func (h *hieraLookups) isBound(key string) bool {
	quoted, ok := lookupkey.Quoted(key)
	_, bound := h.names.Find(quoted)
	return ok && bound
}

// mayBind reports whether Puppet may find key in a hierarchy entry that is not in the snapshot.
func (h *hieraLookups) mayBind(key string) bool {
	return slices.ContainsFunc(h.Site.Hierarchies, func(hierarchy loader.Hierarchy) bool {
		return (hierarchy.Module == "" || hierarchy.Module == lookupkey.Module(key)) && hierarchy.NeedsPuppet()
	})
}

func (h *hieraLookups) places(key string) int {
	if h.counts == nil {
		h.counts = map[string]int{}
		for i := range h.scopes {
			for _, val := range h.scopes[i].Bound() {
				for _, k := range h.of(val) {
					h.counts[k]++
				}
			}
		}
	}
	return h.counts[key]
}
