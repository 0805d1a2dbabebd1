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
	Constant      Kind = iota // Value; only for bindings that are sensitive or have a transformer
	Expression                // the result of Expr
	LookupOf                  // the value of the key Targets[0]
	FirstFound                // the value of the first key in Targets that has one
	HashLookup                // the entry Value in the hash bound to the key Targets[0]
	Custom                    // the result of calling the embedding program's producer Name with the arguments in Value
	Abstract                  // an error: nothing overrides the abstract binding
	Multibind                 // the contributions to Name, combined by Options
	Contributions             // Parts, the contributions of one scope to a multibinding
	Merged                    // the values bound to MergeKey, merged according to the options in Value
	AliasOf                   // the value of the key Targets[0]; declines if that key is not bound
	Below                     // the value that Name has in lower bindings; declines if there is none
	Erased                    // no value, even if a lower binding has one
	RenamedPart               // in Parts: contributions called Name at lower precedence take the part's name instead
	AliasedPart               // in Parts: contributions called Name count under the part's name, too
	kindCount
)

// Recipe describes how to compute the value of a binding.
type Recipe struct {
	Kind        Kind
	Sensitive   bool
	Optional    bool         // declines if the value before Transformer is undef
	Type        *types.Type  // the type that the value must have after Transformer; may be nil
	Transformer *expr.Lambda // changes the value; may be nil
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

// Placeless returns a copy of r whose expressions have no source offsets.
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

// Declines reports whether r may have no value in some requests, so that lookups continue with lower bindings.
func (r *Recipe) Declines() bool { return r.Optional || r.Kind == AliasOf || r.Kind == Below }

// IsFinal reports whether every lookup that reaches r ends there. It returns false if r may decline. It also returns
// false for Erased, because a lookup of the new name continues below.
func (r *Recipe) IsFinal() bool { return !r.Declines() && r.Kind != Erased }

// StandsAlone reports whether r computes a value without other bindings of its key. All other recipes merge values, or
// take them from a lower binding or another name. Such recipes cannot be part of a merge.
func (r *Recipe) StandsAlone() bool { return r.Kind < Contributions }

// Renames reports whether r renames other contributions and contributes nothing itself.
func (r *Recipe) Renames() bool { return r.Kind == RenamedPart || r.Kind == AliasedPart }

// LookupOptionsKey is the internal key of Hiera 5 lookup_options. For a module, the module's name is appended to the
// key. Internal Hiera 5 keys begin with two NUL bytes, which no multibinding id contains.
const LookupOptionsKey = "\x00\x00lookup_options"

// IsInternal reports whether key is internal. Internal keys cannot be looked up from outside.
func IsInternal(key string) bool { return strings.HasPrefix(key, "\x00") }

// HierarchiesKey is the internal key of data that can make all lookups in a Hiera 5 hierarchy fail, as in Puppet. Its
// value is a hash. 'paths' maps each module ("" for the site and the global hierarchy) to the dimension numbers of its
// paths. 'options' lists the modules whose lookup_options may have errors, and DefaultsOf(module) for a module's
// default_hierarchy. 'written' is the source of the hierarchies.
const HierarchiesKey = "\x00\x00hierarchies"

// DefaultsOf returns the name of a module's default_hierarchy in HierarchiesKey.
func DefaultsOf(module string) string { return module + " default_hierarchy" }

// PoliciesID is the id in PoliciesKey. It is reserved, so no multibinding has it.
const PoliciesID = "/policies"

// PoliciesKey is the internal key of the policies that were proven for all requests (package proof/record). It has one
// contribution per policy, with the policy's name and the SHA-256 of the policy file. No multibinding collects them, so
// lookups, and programs that do not know the key, ignore it.
const PoliciesKey = "\x00" + PoliciesID

// MergeKey returns the internal key for the values of a Hiera 5 key, if they are merged or converted. The Hiera 5 key
// itself has a recipe of kind Merged. The recipe's Value is the lookup_options, or undef if they depend on the
// request. The recipe's Name is the module if the values come from default_hierarchy.
func MergeKey(key string) string { return "\x00\x00merge " + key }

// Target is a key to look up, and the type that its value must have. The type may be nil.
type Target struct {
	Key  string
	Type *types.Type
}

// ContributionKey returns the internal key of the contributions to the multibinding id. A Multibind recipe has this
// key as its Name.
func ContributionKey(id string) string { return "\x00" + id }

// IsContributionKey reports whether key is the internal key of contributions to a multibinding.
func IsContributionKey(key string) bool { return IsInternal(key) && !IsInternal(key[1:]) }

// Resolution is the option conflict_resolution of a multibinding.
type Resolution uint8

// The resolutions specify what happens if several contributions have the same name. Names in quotes are from
// language.md, section 8.
const (
	Priority        Resolution = iota // "priority": the highest precedence wins; equal precedence is an error
	Ignore                            // "ignore": the first one wins
	ErrorOnConflict                   // "error": a second contribution is an error
	AppendAll                         // "append": the value is an array of all contributions
	Merge                             // "merge": merges hashes; keys of higher contributions win
	Included                          // collects the names whose highest contribution is Include; for classes
	resolutionCount
)

// Values of a contribution to a multibinding with the resolution Included. The contribution has the name of a class.
const (
	Include = "include"
	Exclude = "exclude"
)

// Options holds the options of a multibinding. Flatten is a number of levels, or -1 for all.
type Options struct {
	Array             bool
	Resolution        Resolution
	Flatten           int
	Uniq              bool
	PriorityOnNamed   bool
	PriorityOnUnnamed bool
	Element           *types.Type // type of each contribution; nil: Data

	// Combinator, if not nil, combines contributions. In an array, its arguments are the result so far and the next
	// contribution. In a hash, the arguments are the name, the result under that name, and the next contribution. A
	// Combinator requires the Resolution AppendAll. The only other option that may be set is Uniq.
	Combinator *expr.Lambda
}

// Part is one contribution. A lower Precedence wins; parts of equal precedence are sorted by Place.
type Part struct {
	Name       string
	Named      bool
	Precedence uint32
	Place      uint32
	Recipe     *Recipe
}
