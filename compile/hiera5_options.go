package compile

import (
	"slices"
	"strings"

	"bindc/internal/diag"
	"bindc/internal/lookupkey"
	"bindc/internal/merge"
	"bindc/internal/recipe"
	"bindc/internal/value"
)

// checkLookupOptions warns of lookup_options that fail every lookup, and of those that say something of no key: of a
// key only where one has nearly the same name, as classes have parameters that no data binds.
func (c *composer) checkLookupOptions(all []lookupOptions) {
	roots := c.roots()
	for _, o := range all {
		c.warnOfOptions(o, "", "every lookup they are for is an error, as in Puppet", o.err)
		if o.level == nil {
			continue
		}
		used := o.level.Used(roots, &c.effort.left)
		for _, e := range o.level.Entries {
			c.warnOfOptions(o, e.Name, "every lookup of a key this is for is an error, as in Puppet", e.Check())
			c.warnOfUnread(o, e)
			if !used[e] {
				c.warnOfUnused(o, e, roots)
			}
		}
	}
}

// roots are the roots of all keys that the site binds, in whichever way.
func (c *composer) roots() []string {
	seen := make([]bool, len(c.keys))
	var out []string
	for i := range c.scopes {
		for key := range c.members(&c.scopes[i]) {
			if !seen[key] && !recipe.IsInternal(c.keys[key]) {
				parsed, _ := lookupkey.Parse(c.keys[key]) // what is no key of a lookup has no root
				out = append(out, parsed.Root)
			}
			seen[key] = true
		}
	}
	return out
}

// warnOfNearOptions warns of a hash under a key that is nearly called lookup_options.
func (c *composer) warnOfNearOptions(key uint32, val uint32, at diag.Pos) {
	if diag.Misspelt(c.keys[key], []string{options}) == "" {
		return
	}
	if k := c.constant(val, at); !k.known || k.v.Kind() == value.Hash {
		c.report(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "hiera_options",
			Message: "'" + c.keys[key] + "' is a key as any other, and says nothing of how others are looked up",
			Hint:    "did you mean '" + options + "'?"})
	}
}

// options is the key in data that says how others are looked up.
const options = "lookup_options"

// place is where the options name a key or a pattern; where they name none of that text, they themselves are.
func (c *composer) place(o lookupOptions, name string) diag.Pos {
	at := o.at
	for _, e := range o.file.Options {
		if c.keys[e.Key] == name {
			at.Line, at.Col = int(e.Line), int(e.Col)
		}
	}
	return at
}

// warnOfOptions warns of each part of an error of package merge, which is about the entry name unless a part says so.
func (c *composer) warnOfOptions(o lookupOptions, name, so string, err error) {
	parts := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		parts = joined.Unwrap()
	}
	for _, part := range parts {
		if part != nil {
			d := diag.Diagnostic{Pos: c.place(o, name), Severity: diag.Warning, Code: "hiera_options",
				Message: part.Error() + "; " + so}
			if wrong, ok := part.(*merge.Error); ok && wrong.Entry != "" {
				d.Pos = c.place(o, wrong.Entry)
			} else if ok && wrong.Absent {
				d.Message = part.Error() + ", and Puppet converts to it; every lookup of a key this is for is an error here"
			}
			c.report(d)
		}
	}
}

// optionNames are what lookup_options can say of a key.
var optionNames = []string{"merge", "convert_to"}

// strategyNames are what many write beside the merge that it is about.
var strategyNames = []string{"strategy", "knockout_prefix", "merge_hash_arrays", "sort_merged_arrays"}

// warnOfUnread warns of what e says and no lookup reads, as in Puppet.
func (c *composer) warnOfUnread(o lookupOptions, e *merge.Entry) {
	d := diag.Diagnostic{Pos: c.place(o, e.Name), Severity: diag.Warning, Code: "hiera_options"}
	switch said := e.Value(); said.Kind() {
	case value.String:
		d.Message = "what lookup_options say of '" + e.Name + "' is a text, of which nothing comes: expected a Hash"
		if _, err := merge.Parse(said); err == nil {
			d.Hint = "write {merge: " + said.Text() + "}"
		}
	case value.Hash:
		var unread []string
		for k := range said.Pairs() {
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
		c.report(d)
	}
}

// refusePattern reports a pattern that takes too many steps to match. Without it the lookup_options of a key are
// unknown.
func (c *composer) refusePattern(o lookupOptions, err error) {
	at := c.place(o, "")
	if wrong, ok := err.(*merge.Error); ok {
		at = c.place(o, wrong.Entry)
	}
	if c.refused[at] {
		return
	}
	if c.refused == nil {
		c.refused = map[diag.Pos]bool{}
	}
	c.refused[at] = true
	c.report(diag.Diagnostic{Pos: at, Code: "hiera_options", Message: err.Error(),
		Hint: "simplify the pattern so that it has fewer ways to match the same text"})
}

// rootOf returns the key that a dotted key digs into.
func rootOf(key string) string {
	root, _, _ := strings.Cut(key, ".")
	return root
}

// warnOfUnused warns of an entry that is for none of the keys with these roots.
func (c *composer) warnOfUnused(o lookupOptions, e *merge.Entry, roots []string) {
	d := diag.Diagnostic{Pos: c.place(o, e.Name), Severity: diag.Warning, Code: "hiera_options",
		Message: "lookup_options have '" + e.Name + "', and nothing binds a key of that name"}
	switch {
	case slices.Contains(roots, rootOf(e.Name)):
		d.Message = "lookup_options for '" + e.Name + "' have no effect: Puppet uses those of '" + rootOf(e.Name) + "'"
		d.Hint = "set the options for '" + rootOf(e.Name) + "', the key without what it digs into"
	case !e.Pattern() && strings.ContainsAny(e.Name, `*+?^$()[]|\`):
		d.Hint = "a pattern begins with '^'"
	case !e.Pattern():
		near := c.diags.Misspelt(e.Name, roots)
		if near == "" {
			return
		}
		d.Hint = "did you mean '" + near + "'?"
	case o.module != "":
		return // what a module says of its keys may be for what sites bind
	default:
		d.Message = "lookup_options have the pattern '" + e.Name + "', and no key that is bound matches it"
	}
	c.report(d)
}
