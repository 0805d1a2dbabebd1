// Package recipe defines recipes, the values of bindings that are not constants: producers,
// multibindings and transformers (language.md, sections 5, 6 and 8). Package compile creates
// recipes, a snapshot stores their encoding, and internal/lookup evaluates them.
package recipe

import (
	"slices"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/types"
	"bindc/internal/value"
)

// Kind determines how a recipe computes its value.
type Kind uint8

const (
	Constant      Kind = iota // Value, for a binding that is sensitive or has a transformer
	Expression                // Expr
	LookupOf                  // Targets[0]
	FirstFound                // the first of Targets that has a value
	HashLookup                // the entry Value of the hash that Targets[0] has
	Custom                    // a producer that the embedding program registered: Name, with Value as arguments
	Abstract                  // an error: only abstract bindings are effective
	Multibind                 // the contributions to Name, combined by Options
	Contributions             // the contributions of one scope to a multibinding: Parts
	Merged                    // the bindings of MergeKey, merged by the options Value
	AliasOf                   // the value of Targets[0]; declines if nothing binds that
	Below                     // the value of the key Name below this precedence; declines if there is no value
	Erased                    // not found, whatever is bound below
	RenamedPart               // of contributions: those named Name at lower precedence get the name of the part
	AliasedPart               // of contributions: those named Name also get the name of the part
	kindCount
)

// Recipe is a computed value.
type Recipe struct {
	Kind        Kind
	Sensitive   bool
	Optional    bool         // declines if the value is undef before Transformer
	Type        *types.Type  // the value must have it after Transformer; may be nil
	Transformer *expr.Lambda // may be nil
	Value       value.Value
	Expr        *expr.Node
	Targets     []Target
	Name        string
	Options     *Options
	Parts       []Part
}

// Secret reports whether r, or a contribution in it, is sensitive.
func (r *Recipe) Secret() bool {
	return r.Sensitive || slices.ContainsFunc(r.Parts, func(p Part) bool { return p.Recipe.Secret() })
}

// Placeless returns r without the offsets in its expressions.
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

// Declines reports whether r may have no value in some requests, so that lookups continue below it.
func (r *Recipe) Declines() bool { return r.Optional || r.Kind == AliasOf || r.Kind == Below }

// IsFinal reports whether no lookup continues below r: it always has a value, and bindings below it
// are not found under another name.
func (r *Recipe) IsFinal() bool { return !r.Declines() && r.Kind != Erased }

// StandsAlone reports whether r computes a value by itself. Other recipes merge values, or leave the
// value to a lower binding or another name. They cannot be merged themselves.
func (r *Recipe) StandsAlone() bool { return r.Kind < Contributions }

// Renames reports whether r changes the names of other contributions instead of contributing.
func (r *Recipe) Renames() bool { return r.Kind == RenamedPart || r.Kind == AliasedPart }

// LookupOptionsKey is the internal key under which the lookup_options of Hiera 5 are filed. For
// those of a module, the module's name is appended. Internal keys of Hiera 5 begin with two NUL
// bytes, which the id of a multibinding cannot contain.
const LookupOptionsKey = "\x00\x00lookup_options"

// IsInternal reports whether key is internal, so that it cannot be looked up.
func IsInternal(key string) bool { return strings.HasPrefix(key, "\x00") }

// HierarchiesKey is the internal key of everything that can make all lookups of a Hiera 5 hierarchy
// fail, as in Puppet. It is bound to a hash. 'paths' maps each module ("" for the site and the
// global hierarchy) to the numbers of the dimensions that are its paths. 'options' lists the
// modules whose lookup_options may have errors, where DefaultsOf(module) is the module's
// default_hierarchy. 'written' is the source of the hierarchies.
const HierarchiesKey = "\x00\x00hierarchies"

// DefaultsOf names the default_hierarchy of a module.
func DefaultsOf(module string) string { return module + " default_hierarchy" }

// MergeKey is the internal key under which the values of a Hiera 5 key are filed if they are merged
// or converted. The key itself has a recipe of kind Merged, whose Value is its lookup options, or
// undef if these depend on the request. For values from default_hierarchy, the recipe's Name is the
// module of the key.
func MergeKey(key string) string { return "\x00\x00merge " + key }

// Target is a key to look up, and the type that its value must have. The type may be nil.
type Target struct {
	Key  string
	Type *types.Type
}

// ContributionKey is the internal key under which contributions to a multibinding are filed. It is
// the Name of a Multibind.
func ContributionKey(id string) string { return "\x00" + id }

// IsContributionKey reports whether key is the internal key of contributions to a multibinding.
func IsContributionKey(key string) bool { return IsInternal(key) && !IsInternal(key[1:]) }

// Resolution is the option conflict_resolution.
type Resolution uint8

// The resolutions determine what happens to several contributions with one name. The names in
// quotes come from language.md, section 8.
const (
	Priority        Resolution = iota // "priority": the highest wins; a second one of its precedence is an error
	Ignore                            // "ignore": the first in order wins
	ErrorOnConflict                   // "error"
	AppendAll                         // "append": all, in an array
	Merge                             // "merge": hashes are merged, and the higher one's keys win
	Included                          // of classes: collects the names whose first contribution is Include
	resolutionCount
)

// The values contributed under the name of a class, see Included.
const (
	Include = "include"
	Exclude = "exclude"
)

// Options is the options of a multibinding. Flatten is the number of levels, -1 for all.
type Options struct {
	Array             bool
	Resolution        Resolution
	Flatten           int
	Uniq              bool
	PriorityOnNamed   bool
	PriorityOnUnnamed bool
	Element           *types.Type // type of each contribution; nil: Data

	// Combinator, if not nil, combines contributions. For an array it is called with the result so
	// far and the next contribution; for a hash with a name, the result under that name, and the
	// next contribution. With a combinator the resolution must be AppendAll, and of the other
	// options only Uniq may be set.
	Combinator *expr.Lambda
}

// Part is one contribution. A lower Precedence wins. Parts of equal precedence are in order of
// Place.
type Part struct {
	Name       string
	Named      bool
	Precedence uint32
	Place      uint32
	Recipe     *Recipe
}
