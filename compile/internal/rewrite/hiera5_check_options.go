package rewrite

import (
	"cmp"
	"slices"
	"strings"

	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/diag"
	"bindc/internal/lookupkey"
	"bindc/internal/merge"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/internal/value"
)

type optionsChecker struct{ *pass.Env }

// checkLookupOptions warns about lookup_options that make lookups fail or have no effect.
func checkLookupOptions(e *pass.Env, t *place.Tables, scopes []place.Scope, options []lookupOptions) {
	c := optionsChecker{e}
	roots := rootsOf(t, scopes)
	bound := make(map[string]bool, len(roots))
	for _, root := range roots {
		bound[root] = true
	}
	for _, o := range options {
		c.warnOfOptions(o, "", failsWhere(o.module), o.err, value.Value{})
		if o.valid == nil {
			continue
		}
		c.warnOfErasing(o)
		used := o.valid.UsedPatterns(roots, &c.Effort.Left)
		for _, e := range o.valid.Entries {
			c.warnOfOptions(o, e.Name, "every lookup that uses this fails, as in Puppet", e.Check(), e.Value())
			c.warnOfUnread(o, e)
			if !used[e] && (e.Pattern() || !bound[e.Name]) {
				c.warnOfUnused(o, e, roots, bound)
			}
		}
	}
}

// failsWhere says which lookups invalid lookup_options of a module, or of the environment, fail.
func failsWhere(module string) string {
	if module != "" {
		return "every lookup of a key of this module fails where this file applies, as in Puppet"
	}
	return "every lookup fails where this file applies, as in Puppet"
}

// warnOfErasing warns about a module whose lookup_options are null, because null erases the lookup_options of the
// environment.
func (c *optionsChecker) warnOfErasing(o lookupOptions) {
	if o.valid.Erases() {
		c.Report(diag.Diagnostic{Pos: o.at, Severity: diag.Warning, Code: "hiera_options",
			Message: "lookup_options of the module '" + o.module +
				"' are null, so keys of the module have no lookup_options at " +
				"all, as in Puppet: those of the environment do not apply either",
			Hint: "remove the key, or write 'lookup_options: {}'"})
	}
}

// rootsOf returns the roots of all bound keys, except internal keys.
func rootsOf(t *place.Tables, scopes []place.Scope) []string {
	seen := make([]bool, len(t.Keys))
	var out []string
	for i := range scopes {
		for key := range scopes[i].Bound() {
			if !seen[key] && !recipe.IsInternal(t.Keys[key]) {
				parsed, _ := lookupkey.Parse(t.Keys[key]) // an invalid key has an empty root
				out = append(out, parsed.Root)
			}
			seen[key] = true
		}
	}
	return out
}

// warnOfOptions adds a warning for each error joined in err, which is from package merge. name is the entry with the
// error, unless the error names another entry. options is the value of the entry.
func (c *optionsChecker) warnOfOptions(o lookupOptions, name, consequence string, err error, options value.Value) {
	parts := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		parts = joined.Unwrap()
	}
	for _, part := range parts {
		if part == nil {
			continue
		}
		wrong, ok := part.(*merge.MergeError)
		if !ok {
			wrong = &merge.MergeError{Message: part.Error()}
		}
		d := diag.Diagnostic{Pos: o.position(cmp.Or(wrong.Entry, name)), Severity: diag.Warning,
			Code: "hiera_options"}
		if wrong.Class == merge.Convert {
			d.Fix = conversionFix(options)
		} else {
			d.Fix, d.Hint = strategyFix(options)
		}
		d.Message = strings.TrimSuffix(wrong.Message, "; "+d.Fix.Hint()) + "; " + consequence
		if wrong.Absent {
			d.Message = wrong.Message + "; Puppet supports this conversion, but every lookup that uses it fails in bindc"
		}
		c.Report(d)
	}
}

// strategyFix returns the correction of a misspelt merge strategy, or of a misspelt option of a strategy. If the option
// belongs to another strategy, it returns a hint.
func strategyFix(options value.Value) (fix diag.Fix, hint string) {
	strategy, _ := options.Get(value.FromString("merge"))
	if strategy.Kind() != value.Hash {
		return correctName(strategy, strategies), ""
	}
	name, _ := strategy.Get(value.FromString("strategy"))
	fix = correctName(name, strategies)
	for option := range strategy.Pairs() {
		if fix.IsNone() {
			fix = correctName(option, strategyNames)
		}
		if slices.Contains(strategyNames[1:], option.Text()) && name.Text() != "deep" {
			hint = "only the strategy 'deep' has options: use it, or remove '" + option.Text() + "'"
		}
	}
	if !fix.IsNone() {
		hint = ""
	}
	return fix, hint
}

func conversionFix(options value.Value) diag.Fix {
	to, _ := options.Get(value.FromString("convert_to"))
	if to.Kind() == value.Array && to.Len() > 0 {
		to = to.Slice()[0]
	}
	if to.Kind() != value.String {
		return diag.Fix{}
	}
	if _, err := types.Parse(to.Text()); !types.FixOf(err).IsNone() {
		return types.FixOf(err)
	}
	return correctName(to, conversions)
}

// conversions lists the types that convert_to names most often.
var conversions = []string{"Array", "Boolean", "Float", "Integer", "Numeric", "Sensitive", "String", "Timespan",
	"Timestamp"}

// correctName returns the correction of a misspelt name. It returns no fix if names contains the name, or has none
// that resembles it.
func correctName(name value.Value, names []string) diag.Fix {
	if name.Kind() != value.String || slices.Contains(names, name.Text()) {
		return diag.Fix{}
	}
	return diag.Correct(name.Text(), names)
}

var strategies = []string{"first", "unique", "hash", "deep"}

// optionNames lists the options of an entry that Puppet reads.
var optionNames = []string{"merge", "convert_to"}

// strategyNames lists options inside merge that are often misplaced next to merge.
var strategyNames = []string{"strategy", "knockout_prefix", "merge_hash_arrays", "sort_merged_arrays"}

// warnOfUnread warns about options of an entry that have no effect, as in Puppet.
func (c *optionsChecker) warnOfUnread(o lookupOptions, e *merge.Entry) {
	d := diag.Diagnostic{Pos: o.position(e.Name), Severity: diag.Warning, Code: "hiera_options"}
	switch options := e.Value(); options.Kind() {
	case value.String:
		d.Message = "the lookup_options of '" + e.Name + "' have no effect because they are a String; expected a Hash"
		if _, err := merge.Parse(options); err == nil {
			d.Hint = "write {merge: " + options.Text() + "}"
			d.Fix = diag.Fix{Old: options.Text(), New: "{merge: " + options.Text() + "}", Syntax: true}
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
		d.Message = "unknown lookup_options " + diag.Quoted(unread) + " of '" + e.Name + "'; expected " +
			diag.Quoted(optionNames)
		d.Fix = diag.Correct(unread[0], optionNames)
		if slices.Contains(strategyNames, unread[0]) {
			d.Fix = diag.Fix{}
			d.Hint = "write merge options inside 'merge': merge: {strategy: …, " + unread[0] + ": …}"
			if unread[0] == "strategy" {
				d.Fix, d.Hint = misplacedStrategy(options)
			}
		}
	}
	if d.Message != "" && e.Check() == nil {
		c.Report(d)
	}
}

// misplacedStrategy returns the correction of a strategy that is next to 'merge' instead of inside it.
func misplacedStrategy(options value.Value) (fix diag.Fix, hint string) {
	name, _ := options.Get(value.FromString("strategy"))
	if options.Len() == 1 && slices.Contains(strategies, name.Text()) {
		return diag.Fix{Old: "strategy", New: "merge"}, "write 'merge: " + name.Text() + "'"
	}
	return diag.Fix{}, "write merge options inside 'merge': merge: {strategy: …}"
}

func rootOf(key string) string {
	root, _, _ := strings.Cut(key, ".")
	return root
}

// warnOfUnused warns about an entry of lookup_options that applies to no bound key. roots and bound both contain the
// roots of the bound keys. An entry for an unbound key is allowed if no bound key resembles it, because class
// parameters need not be bound.
func (c *optionsChecker) warnOfUnused(o lookupOptions, e *merge.Entry, roots []string, bound map[string]bool) {
	d := diag.Diagnostic{Pos: o.position(e.Name), Severity: diag.Warning, Code: "hiera_options",
		Message: "lookup_options contain '" + e.Name + "', but no binding has this key"}
	switch {
	case bound[rootOf(e.Name)]:
		d.Message = "lookup_options for '" + e.Name + "' have no effect: Puppet uses those of '" + rootOf(e.Name) + "'"
		d.Hint = "set the options for '" + rootOf(e.Name) + "', the key without its subkeys"
	case !e.Pattern() && strings.ContainsAny(e.Name, `*+?^$()[]|\`):
		d.Hint = "a pattern begins with '^'"
	case !e.Pattern():
		meant := c.Diags.CorrectTypo(e.Name, roots)
		if meant.IsNone() {
			return
		}
		c.Unbound(&d, meant, 1)
	case o.module != "":
		return // other sites that use the module may bind such keys
	default:
		d.Message = "lookup_options contain the pattern '" + e.Name + "', but no bound key matches it"
	}
	c.Report(d)
}
