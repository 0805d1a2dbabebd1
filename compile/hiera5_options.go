package compile

import (
	"slices"
	"strings"

	"bindc/internal/diag"
	"bindc/internal/lookupkey"
	"bindc/internal/merge"
	"bindc/internal/recipe"
	"bindc/internal/value"
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

// findLookupOptions finds the lookup_options of the site, in the order of the scopes: highest first.
func (m *merger) findLookupOptions() {
	for i := range m.scopes {
		s := &m.scopes[i]
		if !m.isHiera(s.layer) {
			continue
		}
		for _, file := range s.members {
			for i, e := range file.file.Entries {
				if isLookupOptions(m.keys[e.Key]) {
					m.options = append(m.options, m.optionsOf(s, file.file, i))
				}
			}
		}
	}
}

// optionsOf returns entry i of a file, which is lookup_options.
func (m *merger) optionsOf(s *scope, f *loader.DataFile, i int) lookupOptions {
	key, val := m.keys[f.Entries[i].Key], f.Entries[i].Value
	o := lookupOptions{layer: s.layer, condition: s.condition, file: f, at: f.Pos(i),
		module: strings.TrimPrefix(strings.TrimPrefix(key, recipe.LookupOptionsKey), " ")}
	if v, ok := m.constant(val); ok {
		if o.level, o.err = merge.Compile(v, o.module); o.err != nil {
			o.level = nil // every lookup that they are for fails
		}
	}
	o.secret = o.level == nil && strings.Contains(m.values[val], "convert_to")
	return o
}

// checkLookupOptions warns about lookup_options that make every lookup fail, and about entries for no key. Classes have
// parameters that no data binds, so an entry for a single key is only reported if a bound key has nearly the same name.
func (m *merger) checkLookupOptions() {
	roots := m.roots()
	for _, o := range m.options {
		m.warnOfOptions(o, "", "every lookup they are for is an error, as in Puppet", o.err)
		if o.level == nil {
			continue
		}
		used := o.level.Used(roots, &m.effort.left)
		for _, e := range o.level.Entries {
			m.warnOfOptions(o, e.Name, "every lookup of a key this is for is an error, as in Puppet", e.Check())
			m.warnOfUnread(o, e)
			if !used[e] {
				m.warnOfUnused(o, e, roots)
			}
		}
	}
}

// roots returns the root of every key that the site binds.
func (m *merger) roots() []string {
	seen := make([]bool, len(m.keys))
	var out []string
	for i := range m.scopes {
		for key := range m.scopes[i].bound() {
			if !seen[key] && !recipe.IsInternal(m.keys[key]) {
				parsed, _ := lookupkey.Parse(m.keys[key]) // the root of an invalid key is empty
				out = append(out, parsed.Root)
			}
			seen[key] = true
		}
	}
	return out
}

// position returns the position of an entry of the options, or that of the options if they have no such entry.
func (m *merger) position(o lookupOptions, name string) diag.Pos {
	at := o.at
	for _, e := range o.file.Options {
		if m.keys[e.Key] == name {
			at.Line, at.Col = int(e.Line), int(e.Col)
		}
	}
	return at
}

// warnOfOptions warns about each part of an error of package merge. A part is about the entry with the given name unless
// it names another one.
func (m *merger) warnOfOptions(o lookupOptions, name, consequence string, err error) {
	parts := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		parts = joined.Unwrap()
	}
	for _, part := range parts {
		if part != nil {
			d := diag.Diagnostic{Pos: m.position(o, name), Severity: diag.Warning, Code: "hiera_options",
				Message: part.Error() + "; " + consequence}
			if wrong, ok := part.(*merge.Error); ok && wrong.Entry != "" {
				d.Pos = m.position(o, wrong.Entry)
			} else if ok && wrong.Absent {
				d.Message = part.Error() + ", and Puppet converts to it; every lookup of a key this is for is an error here"
			}
			m.report(d)
		}
	}
}

// optionNames are the options that a key can have.
var optionNames = []string{"merge", "convert_to"}

// strategyNames are options of a merge that are often written beside it.
var strategyNames = []string{"strategy", "knockout_prefix", "merge_hash_arrays", "sort_merged_arrays"}

// warnOfUnread warns about parts of an entry that no lookup reads. Puppet ignores them too.
func (m *merger) warnOfUnread(o lookupOptions, e *merge.Entry) {
	d := diag.Diagnostic{Pos: m.position(o, e.Name), Severity: diag.Warning, Code: "hiera_options"}
	switch options := e.Value(); options.Kind() {
	case value.String:
		d.Message = "what lookup_options say of '" + e.Name + "' is a text, of which nothing comes: expected a Hash"
		if _, err := merge.Parse(options); err == nil {
			d.Hint = "write {merge: " + options.Text() + "}"
		}
	case value.Hash:
		var unread []string
		for k := range options.Pairs() {
			if name := k.Text(); !slices.Contains(optionNames, name) {
				unread = append(unread, name)
			}
		}
		if len(unread) == 0 {
			return
		}
		d.Message = "lookup_options say " + diag.Quoted(unread) + " of '" + e.Name + "', which nobody reads; expected " +
			diag.Quoted(optionNames)
		d.Hint = diag.DidYouMean(unread[0], optionNames)
		if slices.Contains(strategyNames, unread[0]) {
			d.Hint = "what is about a merge stands in it: merge: {strategy: …, " + unread[0] + ": …}"
		}
	}
	if d.Message != "" && e.Check() == nil {
		m.report(d)
	}
}

// refusePattern reports a pattern that takes too many steps to match. Without it the lookup_options of a key are
// unknown.
func (m *merger) refusePattern(o lookupOptions, err error) {
	at := m.position(o, "")
	if wrong, ok := err.(*merge.Error); ok {
		at = m.position(o, wrong.Entry)
	}
	if m.refused[at] {
		return
	}
	m.refused[at] = true
	m.report(diag.Diagnostic{Pos: at, Code: "hiera_options", Message: err.Error(),
		Hint: "simplify the pattern so that it has fewer ways to match the same text"})
}

// rootOf returns the key that a dotted key digs into.
func rootOf(key string) string {
	root, _, _ := strings.Cut(key, ".")
	return root
}

// warnOfUnused warns about an entry that is for none of the keys with these roots.
func (m *merger) warnOfUnused(o lookupOptions, e *merge.Entry, roots []string) {
	d := diag.Diagnostic{Pos: m.position(o, e.Name), Severity: diag.Warning, Code: "hiera_options",
		Message: "lookup_options have '" + e.Name + "', and nothing binds a key of that name"}
	switch {
	case slices.Contains(roots, rootOf(e.Name)):
		d.Message = "lookup_options for '" + e.Name + "' have no effect: Puppet uses those of '" + rootOf(e.Name) + "'"
		d.Hint = "set the options for '" + rootOf(e.Name) + "', the key without what it digs into"
	case !e.Pattern() && strings.ContainsAny(e.Name, `*+?^$()[]|\`):
		d.Hint = "a pattern begins with '^'"
	case !e.Pattern():
		near := m.diags.Misspelt(e.Name, roots)
		if near == "" {
			return
		}
		d.Hint = "did you mean '" + near + "'?"
	case o.module != "":
		return // sites may bind the keys of the module
	default:
		d.Message = "lookup_options have the pattern '" + e.Name + "', and no key that is bound matches it"
	}
	m.report(d)
}
