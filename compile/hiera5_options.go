package compile

import (
	"bindc/internal/diag"
	"bindc/internal/lookupkey"
	"bindc/internal/merge"
)

// checkLookupOptions warns of lookup_options that fail every lookup, and of those that say something of no key: of a
// key only where one has nearly the same name, as classes have parameters that no data binds.
func (c *composer) checkLookupOptions(all []lookupOptions, keys []uint32) {
	var roots []string
	for _, key := range keys {
		parsed, _ := lookupkey.Parse(c.keys[key]) // what is no key of a lookup has no root
		roots = append(roots, parsed.Root)
	}
	for _, o := range all {
		c.warnOfOptions(o, "", "every lookup they are for is an error, as in Puppet", o.err)
		if o.level == nil {
			continue
		}
		for _, e := range o.level.Entries {
			c.warnOfOptions(o, e.Name, "every lookup of a key this is for is an error, as in Puppet", e.Check())
			c.warnOfUnused(o, e, roots)
		}
	}
}

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
			at := c.place(o, name)
			if wrong, ok := part.(*merge.Error); ok && wrong.Entry != "" {
				at = c.place(o, wrong.Entry)
			}
			c.report(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "hiera_options",
				Message: part.Error() + "; " + so})
		}
	}
}

// warnOfUnused warns of an entry that is for none of the keys with these roots.
func (c *composer) warnOfUnused(o lookupOptions, e *merge.Entry, roots []string) {
	for _, root := range roots {
		if e.Matches(root) {
			return
		}
	}
	d := diag.Diagnostic{Pos: c.place(o, e.Name), Severity: diag.Warning, Code: "hiera_options",
		Message: "lookup_options have '" + e.Name + "', and nothing binds a key of that name"}
	switch {
	case !e.Pattern():
		if d.Hint = c.diags.DidYouMean(e.Name, roots); d.Hint == "" {
			return
		}
	case o.module != "":
		return // what a module says of its keys may be for what sites bind
	default:
		d.Message = "lookup_options have the pattern '" + e.Name + "', and no key that is bound matches it"
	}
	c.report(d)
}
