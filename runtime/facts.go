package runtime

import "bindc/internal/lookup"

// Facts has the variables of a node. It never changes, does not refer to a snapshot, and may be
// used by several goroutines.
type Facts lookup.Facts

// FactsOptions adds to the facts of a node. The zero value adds nothing. A variable "::role" is the
// one of the top scope, for ${::role}, and for %{::role} in data of Hiera 5, where the scope of the
// caller has another "role".
type FactsOptions struct {
	Node        string // the certname; sets fqdn, clientcert and trusted without extensions
	Environment string // default: the node's environment in wrapped facts, then the fact environment, then production
	Trusted     Value  // a hash, the variable $trusted; undef: only the entries that Node sets
	Variables   Value  // a hash of variables that are not facts, or take precedence over the fact of that name

	// StrictVariables makes lookups fail if a value of Hiera 5 interpolates a variable that is not
	// set, as in Puppet 8. Options.StrictVariables does the same, and also applies to expressions.
	StrictVariables bool
}

// NewFacts returns facts made from a hash: every entry is a variable, and $facts has all entries.
// It derives the facts that modern Facter no longer sends (language.md, section 7). It never
// changes a given fact, except those that opts.Node sets. Package facts reads hashes from files.
// The error is an *Error with the code facts, or a *DamageError if a given value is from a damaged
// snapshot.
func NewFacts(facts Value, opts FactsOptions) (*Facts, error) {
	f, err := lookup.NewFacts(lookup.Value(facts), lookup.FactsOptions{
		Node:            opts.Node,
		Environment:     opts.Environment,
		Trusted:         lookup.Value(opts.Trusted),
		Variables:       lookup.Value(opts.Variables),
		StrictVariables: opts.StrictVariables,
	})
	return (*Facts)(f), err
}
