package compile

import (
	"bindc/internal/diag"
	"bindc/internal/lookupkey"
	"bindc/internal/merge"
)

// checkLookupOptions warns of lookup_options that fail every lookup, and of those that say something of no key: of a key
// only where one has nearly the same name, as classes have parameters that no data binds.
func (c *composer) checkLookupOptions(all []lookupOptions, keys []uint32) {
	var roots []string
	for _, key := range keys {
		parsed, _ := lookupkey.Parse(c.keys[key]) // what is no key of a lookup has no root
		roots = append(roots, parsed.Root)
	}
	for _, o := range all {
		c.warnOfOptions(o, "every lookup they are for is an error, as in Puppet", o.err)
		if o.level == nil {
			continue
		}
		for _, e := range o.level.Entries {
			c.warnOfOptions(o, "every lookup of a key this is for is an error, as in Puppet", e.Check())
			c.warnOfUnused(o, e, roots)
		}
	}
}

// warnOfOptions warns of each part of an error of package merge.
func (c *composer) warnOfOptions(o lookupOptions, so string, err error) {
	parts := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		parts = joined.Unwrap()
	}
	for _, part := range parts {
		if part != nil {
			c.report(diag.Diagnostic{Pos: o.at, Severity: diag.Warning, Code: "hiera_options",
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
	d := diag.Diagnostic{Pos: o.at, Severity: diag.Warning, Code: "hiera_options",
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
