// Package recipe holds what a binding does when its value is not a constant: producers, multibindings, transformers
// (language.md, sections 5, 6 and 8). Package compile makes recipes, a snapshot stores their encoding, package runtime
// follows them.
package recipe

import (
	"slices"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/types"
	"bindc/internal/value"
)

// Kind says how the value comes about.
type Kind uint8

const (
	Constant      Kind = iota // Value, for a binding that is sensitive or has a transformer
	Expression                // Expr
	LookupOf                  // Targets[0]
	FirstFound                // the first of Targets that yields something
	HashLookup                // entry Value of the hash Targets[0] yields
	Custom                    // a producer registered by the embedding program: Name, with Value as arguments
	Abstract                  // an error: only abstract bindings are effective
	Multibind                 // the contributions to Name, put together by Options
	Contributions             // what one scope contributes to a multibinding: Parts
	Merged                    // the bindings of MergeKey, merged by the options Value
	AliasOf                   // what Targets[0] is; declines where nothing binds that
	Below                     // what the key Name is below this precedence; declines where that is nothing
	Erased                    // not found, whatever is below
	RenamedPart               // of contributions: those named Name at lower precedence come under the name of the part
	AliasedPart               // of contributions: those named Name come under the name of the part too
	kindCount
)

// Recipe is one computed value.
type Recipe struct {
	Kind        Kind
	Sensitive   bool
	Optional    bool         // declines where it yields undef, before Transformer
	Type        *types.Type  // asserted of the value, behind Transformer; nil: none
	Transformer *expr.Lambda // nil: none
	Value       value.Value
	Expr        *expr.Node
	Targets     []Target
	Name        string
	Options     *Options
	Parts       []Part
}

// Secret tells whether r is sensitive, or holds a contribution that is.
func (r *Recipe) Secret() bool {
	return r.Sensitive || slices.ContainsFunc(r.Parts, func(p Part) bool { return p.Recipe.Secret() })
}

// Placeless is r without the places in the text of its expressions.
func (r *Recipe) Placeless() *Recipe {
	out := *r
	out.Expr, out.Transformer = r.Expr.Placeless(), r.Transformer.Placeless()
	if r.Options != nil {
		own := *r.Options
		own.Combinator = own.Combinator.Placeless()
		out.Options = &own
	}
	out.Parts = slices.Clone(r.Parts)
	for i := range out.Parts {
		out.Parts[i].Recipe = out.Parts[i].Recipe.Placeless()
	}
	return &out
}

// Declines tells whether in some requests r may have no answer, so that what is below it in precedence has.
func (r *Recipe) Declines() bool { return r.Optional || r.Kind == AliasOf || r.Kind == Below }

// IsFinal tells whether no lookup looks behind r: it answers wherever it is effective, and nothing below it is asked
// for under another name.
func (r *Recipe) IsFinal() bool { return !r.Declines() && r.Kind != Erased }

// StandsAlone reports whether r can answer by itself. Other recipes merge values, or leave the answer to a lower
// binding or another name. Only a recipe that stands alone is merged.
func (r *Recipe) StandsAlone() bool { return r.Kind < Contributions }

// Renames tells whether r is about the names of other contributions, and none itself.
func (r *Recipe) Renames() bool { return r.Kind == RenamedPart || r.Kind == AliasedPart }

// LookupOptionsKey is the internal key that the lookup_options of Hiera 5 are filed under. Those of a module have its
// name behind it. Internal keys of Hiera 5 begin with two NUL bytes, which no id of a multibinding can: it has none.
const LookupOptionsKey = "\x00\x00lookup_options"

// IsInternal tells whether a key is one that nobody can ask for.
func IsInternal(key string) bool { return strings.HasPrefix(key, "\x00") }

// HierarchiesKey is the internal key of what can fail lookups of hierarchies of Hiera 5 whatever they find, as in
// Puppet. It is bound to a hash: 'paths' to a hash of modules, "" for the site and the global hierarchy, to lists of
// the numbers of the dimensions that are their paths; 'options' to a list of the modules whose lookup_options may be
// wrong, where DefaultsOf a module stands for its default_hierarchy; 'written' to the hierarchies as they are written.
const HierarchiesKey = "\x00\x00hierarchies"

// DefaultsOf names the default_hierarchy of a module.
func DefaultsOf(module string) string { return module + " default_hierarchy" }

// MergeKey is the internal key that what Hiera 5 binds key to is filed under, where that is merged or converted. Key
// itself has a recipe of kind Merged, with its lookup options as Value, or undef where these depend on the request. Its
// Name is that of the key's module where it stands for what default_hierarchy binds.
func MergeKey(key string) string { return "\x00\x00merge " + key }

// Target is a key that is looked up, and the type asserted of what is found, which may be nil.
type Target struct {
	Key  string
	Type *types.Type
}

// ContributionKey is the internal key that the contributions to a multibinding are filed under, and the Name of a
// Multibind.
func ContributionKey(id string) string { return "\x00" + id }

// IsContributionKey reports whether contributions to a multibinding are filed under key.
func IsContributionKey(key string) bool { return IsInternal(key) && !IsInternal(key[1:]) }

// Resolution is a conflict_resolution.
type Resolution uint8

// What becomes of contributions of one name: language.md, section 8, has them by the names in quotes.
const (
	Priority        Resolution = iota // "priority": the highest wins, and a second of its precedence is an error
	Ignore                            // "ignore": the first in order wins
	ErrorOnConflict                   // "error"
	AppendAll                         // "append": all, in an array
	Merge                             // "merge": hashes, of which the higher one's keys win
	Included                          // of classes: the names are listed whose first in order is Include
	resolutionCount
)

// What is contributed under the name of a class, see Included.
const (
	Include = "include"
	Exclude = "exclude"
)

// Options are the options of a multibinding. Flatten is the number of levels, -1 for all.
type Options struct {
	Array             bool
	Resolution        Resolution
	Flatten           int
	Uniq              bool
	PriorityOnNamed   bool
	PriorityOnUnnamed bool
	Element           *types.Type // asserted of each contribution; nil: Data

	// Combinator puts contributions together, if it is not nil: of an array it is called with what it made of those
	// before and the next one, of a hash with a name, what it made under it, and the next one. It decides alone: the
	// resolution is AppendAll, and of the others only Uniq may be set.
	Combinator *expr.Lambda
}

// Part is one contribution. Of several, the one with the lower Precedence counts more; those of one precedence are in
// order of Place.
type Part struct {
	Name       string
	Named      bool
	Precedence uint32
	Place      uint32
	Recipe     *Recipe
}
