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

// ForeignLookup is a lookup in a Hiera 5 level that only Puppet can answer, so that Puppet must read the level. An
// entry that was not compiled may bind the key, or the value of the key contains such a lookup. A string that only a
// hiera-eyaml plugin can decrypt also counts.
type ForeignLookup struct {
	Part   loader.HieraPart
	Config string // path of the hiera.yaml
	Entry  int    // index of the level in the hierarchy
	Key    string // the key looked up, "" if Method is set
	Method string // encryption method of a string in the level, unless it is PKCS7
	Pos    diag.Pos
}

// ForeignLookups returns one ForeignLookup for each level that has any.
func ForeignLookups(site *loader.Site) []ForeignLookup {
	f := foreign{site: site, puppets: foreignModules(site), needs: map[uint32][]string{},
		users: map[string][]string{}}
	if len(f.puppets) == 0 && !f.hasMethods() {
		return nil
	}
	f.bindKeys()
	f.eachHieraFile(f.find) // first record direct lookups, because they are the cause of the indirect ones
	f.eachHieraFile(f.spread)
	f.eachHieraFile(f.find)
	return f.found
}

type foreign struct {
	site    *loader.Site
	puppets map[string]bool     // see foreignModules
	bound   map[string]bool     // whether a snapshot can look up each bound key
	needs   map[uint32][]string // keys that a value looks up, by number of the value
	users   map[string][]string // keys whose values look up a key, by that key; omits keys that only Puppet can look up
	found   []ForeignLookup
}

// foreignModules returns the modules whose hierarchies have entries that were not compiled. "" stands for the
// environment's and the global hierarchy: their entries may bind any key.
func foreignModules(site *loader.Site) map[string]bool {
	out := map[string]bool{}
	for _, h := range site.Hierarchies {
		if h.NeedsPuppet() {
			out[h.Module] = true
		}
	}
	return out
}

// bindKeys records which bound keys a snapshot can look up. Puppet must look up a key that only modules with uncompiled
// entries bind.
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

// eachHieraFile calls visit for each data file of Hiera 5. at identifies the level of the file.
func (f *foreign) eachHieraFile(visit func(at ForeignLookup, file *loader.DataFile)) {
	for _, l := range f.site.Layers {
		if l.Hiera == loader.NoHiera {
			continue
		}
		for _, c := range l.Contributions {
			for i := range c.Files {
				visit(ForeignLookup{Part: l.Hiera, Config: c.Config, Entry: l.Entry}, &c.Files[i])
			}
		}
	}
}

// spread records the keys of a data file that only Puppet can look up.
func (f *foreign) spread(_ ForeignLookup, file *loader.DataFile) {
	for _, e := range file.Entries {
		key := f.site.Keys[e.Key]
		if f.method(e.Value) != "" {
			f.leave(key)
		}
		for _, needed := range f.lookups(e.Value) {
			if f.isPuppets(needed) {
				f.leave(key)
			} else {
				f.users[needed] = append(f.users[needed], key)
			}
		}
	}
}

// leave records that only Puppet can look up key and the keys whose values look it up, directly or indirectly.
func (f *foreign) leave(key string) {
	for todo := []string{key}; len(todo) > 0; {
		key, todo = todo[len(todo)-1], todo[:len(todo)-1]
		if f.bound[key] {
			f.bound[key] = false
			todo = append(todo, f.users[key]...)
		}
	}
}

// find records the first lookup in a data file that a snapshot cannot answer.
func (f *foreign) find(at ForeignLookup, file *loader.DataFile) {
	for i, e := range file.Entries {
		at.Method, at.Pos = f.method(e.Value), file.Pos(i)
		if at.Method == "" {
			keys := f.lookups(e.Value)
			j := slices.IndexFunc(keys, f.isPuppets)
			if j < 0 {
				continue
			}
			at.Key = keys[j]
		}
		f.note(at)
		return
	}
}

// note records l, unless it has already recorded a lookup of the same level.
func (f *foreign) note(l ForeignLookup) {
	if !slices.ContainsFunc(f.found, func(x ForeignLookup) bool {
		return x.Part == l.Part && x.Config == l.Config && x.Entry == l.Entry
	}) {
		f.found = append(f.found, l)
	}
}

func (f *foreign) isPuppets(key string) bool {
	compiled, bound := f.bound[key]
	if bound {
		return !compiled
	}
	return f.puppets[""] || f.puppets[lookupkey.Module(key)]
}

// lookups returns the roots of the keys that the value number val looks up. Roots with dots are quoted.
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

func (f *foreign) hasMethods() bool {
	for val := range f.site.Values {
		if f.method(uint32(val)) != "" {
			return true
		}
	}
	return false
}

// method returns the encryption method, other than PKCS7, of a string in the value number val. It returns "" if there
// is none.
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

// warnOfForeign warns about levels with lookups that a snapshot cannot answer. The loader warns about encrypted
// strings.
func warnOfForeign(e *pass.Env) {
	for _, l := range ForeignLookups(e.Site) {
		if l.Method != "" {
			continue
		}
		e.Report(diag.Diagnostic{Pos: l.Pos, Severity: diag.Warning, Code: "hiera_foreign",
			Message: "this looks up '" + l.Key + "', which only Puppet's own entries may bind: the snapshot does not " +
				"contain them",
			Hint: "let Puppet read this level: run 'bindc adopt', or 'bindq hiera-config --keep LEVEL'"})
	}
}
