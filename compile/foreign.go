package compile

import (
	"slices"
	"strings"

	"bindc/compile/internal/pass"
	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/lookupkey"
	"bindc/internal/recipe"
	"bindc/loader"
)

// ForeignLookup is a lookup in a level of Hiera 5 that only Puppet can answer. Either nothing binds
// the key and a hierarchy that might have it has an uncompiled entry, or the value of the key has
// such a lookup. A snapshot finds nothing there, so Puppet must keep the level. The same holds for
// a level with a text that only a plugin of Puppet's hiera-eyaml decrypts.
type ForeignLookup struct {
	Part   loader.HieraPart
	Config string // path of the hierarchy's file
	Entry  int    // index of the entry, which is the level
	Key    string // the key looked up, "" if Method is set
	Method string // encryption method of a text in the level, other than PKCS7
	Pos    diag.Pos
}

// ForeignLookups returns the first such lookup of each level.
func ForeignLookups(site *loader.Site) []ForeignLookup {
	f := foreign{site: site, puppets: foreignModules(site), needs: map[uint32][]string{}}
	if len(f.puppets) == 0 && !f.hasMethods() {
		return nil
	}
	f.bindKeys()
	for f.spread() {
	}
	return f.found
}

// foreign finds the lookups that only Puppet can answer.
type foreign struct {
	site    *loader.Site
	puppets map[string]bool // modules with a hierarchy that has uncompiled entries; "" means all keys
	bound   map[string]bool // by bound key: false if one of its values needs Puppet
	needs   map[uint32][]string
	found   []ForeignLookup
}

// foreignModules returns the modules with uncompiled entries; "" is the hierarchy of the site, or
// the global one.
func foreignModules(site *loader.Site) map[string]bool {
	out := map[string]bool{}
	for _, h := range site.Hierarchies {
		if slices.ContainsFunc(h.Entries, func(e loader.HierarchyEntry) bool { return len(e.Locations) == 0 }) {
			out[h.Module] = true
		}
	}
	return out
}

// bindKeys records the keys that are bound and not hidden by Puppet's own entries. A key of a
// module with such entries counts only if the site binds it.
func (f *foreign) bindKeys() {
	f.bound = map[string]bool{}
	for _, l := range f.site.Layers {
		for _, c := range l.Contributions {
			for _, file := range c.Files {
				for _, e := range file.Entries {
					key := f.site.Keys[e.Key]
					f.bound[key] = f.bound[key] || l.Hiera < loader.HieraModule || !f.puppets[lookupkey.Module(key)]
				}
			}
			for _, b := range c.Bindings {
				f.bound[b.Key] = true
			}
		}
	}
}

// spread visits all values once, and reports whether it found another key that only Puppet can
// answer.
func (f *foreign) spread() (more bool) {
	for _, l := range f.site.Layers {
		if l.Hiera == loader.NoHiera {
			continue
		}
		for _, c := range l.Contributions {
			for i := range c.Files {
				more = f.file(ForeignLookup{Part: l.Hiera, Config: c.Config, Entry: l.Entry}, &c.Files[i]) || more
			}
		}
	}
	return more
}

// file visits the values of a file in the level that at names.
func (f *foreign) file(at ForeignLookup, file *loader.DataFile) (more bool) {
	for i, e := range file.Entries {
		keys := f.lookups(e.Value)
		j := slices.IndexFunc(keys, f.isPuppets)
		at.Key, at.Method, at.Pos = "", f.method(e.Value), file.Pos(i)
		switch {
		case at.Method != "":
		case j < 0:
			continue
		default:
			at.Key = keys[j]
		}
		f.note(at)
		if key := f.site.Keys[e.Key]; f.bound[key] {
			f.bound[key], more = false, true
		}
	}
	return more
}

// note records the first lookup of a level.
func (f *foreign) note(l ForeignLookup) {
	if !slices.ContainsFunc(f.found, func(x ForeignLookup) bool {
		return x.Part == l.Part && x.Config == l.Config && x.Entry == l.Entry
	}) {
		f.found = append(f.found, l)
	}
}

// isPuppets reports whether only Puppet knows the value of a key.
func (f *foreign) isPuppets(key string) bool {
	compiled, bound := f.bound[key]
	if bound {
		return !compiled
	}
	return f.puppets[""] || f.puppets[lookupkey.Module(key)]
}

// lookups returns the keys that a value looks up, by the names under which they are bound.
func (f *foreign) lookups(val uint32) []string {
	text := f.site.Values[val]
	if text[0] != recipe.CompiledRecipe {
		return nil
	}
	keys, ok := f.needs[val]
	if ok {
		return keys
	}
	if r, err := recipe.Decode(text[1:]); err == nil && r.Kind == recipe.Expression {
		expr.HieraKeys(r.Expr, func(key string) { keys = append(keys, key) })
	}
	f.needs[val] = keys
	return keys
}

// hasMethods reports whether some value has a text encrypted by another method than PKCS7.
func (f *foreign) hasMethods() bool {
	for val := range f.site.Values {
		if f.method(uint32(val)) != "" {
			return true
		}
	}
	return false
}

// method returns the encryption method of a text in a value that no lookup can decrypt, or "".
func (f *foreign) method(val uint32) string {
	text := f.site.Values[val]
	if len(text) == 0 || text[0] != recipe.CompiledRecipe || !strings.Contains(text, "ENC[") {
		return ""
	}
	r, err := recipe.Decode(text[1:])
	if err != nil || r.Kind != recipe.Expression {
		return ""
	}
	return r.Expr.SecretMethod()
}

// warnOfForeign warns about levels that a snapshot cannot answer. Encrypted texts get their own
// warnings when their files are read.
func warnOfForeign(e *pass.Env) {
	for _, l := range ForeignLookups(e.Site) {
		if l.Method != "" {
			continue
		}
		e.Report(diag.Diagnostic{Pos: l.Pos, Severity: diag.Warning, Code: "hiera_foreign",
			Message: "this looks up '" + l.Key + "', which only Puppet knows: a snapshot answers without Puppet's own entries",
			Hint:    "leave the level to Puppet: 'bindc adopt' does, and 'bindq hiera-config --keep LEVEL'"})
	}
}
