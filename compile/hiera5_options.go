package compile

import (
	"strings"

	"bindc/internal/diag"
	"bindc/internal/merge"
	"bindc/internal/recipe"
	"bindc/loader"
)

// lookupOptions is the lookup_options of one file.
type lookupOptions struct {
	layer, condition int
	file             *loader.DataFile
	at               diag.Pos     // of the key lookup_options
	err              error        // of merge.Compile
	module           string       // the module whose keys they are for; "": all keys
	level            *merge.Level // nil if they depend on the request, or have an error
	secret           bool         // level is nil, and they may make something sensitive
}

// findLookupOptions returns the lookup_options of the site, in the order of the scopes: highest first.
func findLookupOptions(e *env, t *tables, scopes []scope) (out []lookupOptions) {
	for i := range scopes {
		s := &scopes[i]
		if !e.isHiera(s.layer) {
			continue
		}
		for _, file := range s.members {
			for i, entry := range file.file.Entries {
				if isLookupOptions(t.keys[entry.Key]) {
					out = append(out, optionsOf(t, s, file.file, i))
				}
			}
		}
	}
	return out
}

// optionsOf returns entry i of a file, which is lookup_options.
func optionsOf(t *tables, s *scope, f *loader.DataFile, i int) lookupOptions {
	key, val := t.keys[f.Entries[i].Key], f.Entries[i].Value
	o := lookupOptions{layer: s.layer, condition: s.condition, file: f, at: f.Pos(i),
		module: strings.TrimPrefix(strings.TrimPrefix(key, recipe.LookupOptionsKey), " ")}
	if v, ok := t.constant(val); ok {
		if o.level, o.err = merge.Compile(v, o.module); o.err != nil {
			o.level = nil // every lookup that they are for fails
		}
	}
	o.secret = o.level == nil && strings.Contains(t.values[val], "convert_to")
	return o
}

// position returns the position of an entry of the options, or that of the options if they have no such entry.
func (o *lookupOptions) position(t *tables, name string) diag.Pos {
	at := o.at
	for _, e := range o.file.Options {
		if t.keys[e.Key] == name {
			at.Line, at.Col = int(e.Line), int(e.Col)
		}
	}
	return at
}
