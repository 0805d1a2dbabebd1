package rewrite

import (
	"strings"

	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/diag"
	"bindc/internal/merge"
	"bindc/internal/recipe"
	"bindc/loader"
)

// lookupOptions describes the lookup_options in one file.
type lookupOptions struct {
	layer, condition int
	at               diag.Pos            // position of the key lookup_options
	entries          map[string]diag.Pos // positions of the entries, by name
	err              error               // error of merge.Compile
	module           string              // the module whose keys they are for; "": all keys
	level            *merge.Level        // nil if the options depend on the request or have an error
	valid            *merge.Level        // the entries without an error; nil if the options depend on the request
	secret           bool                // the options may make a value sensitive; only if level is nil
}

// IsLookupOptions reports whether key is lookup_options, of the environment or of a module. Lookups use all effective
// bindings of this key, not only the highest.
func IsLookupOptions(key string) bool { return strings.HasPrefix(key, recipe.LookupOptionsKey) }

// findLookupOptions returns all lookup_options of the site in the order of scopes, so higher layers come first.
func findLookupOptions(e *pass.Env, t *place.Tables, scopes []place.Scope) (out []lookupOptions) {
	for i := range scopes {
		s := &scopes[i]
		if !e.IsHiera(s.Layer) {
			continue
		}
		for _, file := range s.Members {
			for i, entry := range file.File.Entries {
				if IsLookupOptions(t.Keys[entry.Key]) {
					out = append(out, optionsOf(t, s, file.File, i))
				}
			}
		}
	}
	return out
}

func optionsOf(t *place.Tables, s *place.Scope, f *loader.DataFile, i int) lookupOptions {
	key, val := t.Keys[f.Entries[i].Key], f.Entries[i].Value
	o := lookupOptions{layer: s.Layer, condition: s.Condition, at: f.Pos(i),
		entries: make(map[string]diag.Pos, len(f.Options)),
		module:  strings.TrimPrefix(strings.TrimPrefix(key, recipe.LookupOptionsKey), " ")}
	for _, e := range f.Options {
		o.entries[t.Keys[e.Key]] = diag.Pos{File: o.at.File, Line: int(e.Line), Col: int(e.Col)}
	}
	if v, ok := t.Constant(val); ok {
		o.valid, o.err = merge.Compile(v, o.module)
		if o.err == nil { // otherwise, every lookup that uses the options fails
			o.level = o.valid
		}
	}
	o.secret = o.level == nil && strings.Contains(t.Values[val], "convert_to")
	return o
}

// position returns the position of the entry called name, or of the lookup_options if there is no such entry.
func (o *lookupOptions) position(name string) diag.Pos {
	if at, ok := o.entries[name]; ok {
		return at
	}
	return o.at
}
