package runtime

import "bindc/internal/lookup"

// Facts are the variables of a node. They are immutable, do not refer to a snapshot, and are safe for concurrent use.
type Facts lookup.Facts

// FactsOptions adds to the facts of a node. The zero value adds nothing. If the caller's scope has a variable "role"
// that differs from the variable "role" of the top scope, pass the latter as "::role". It is used for ${::role} and, in
// Hiera 5 data, for %{::role}.
type FactsOptions struct {
	Node        string // certname; sets fqdn, clientcert and $trusted, without extensions
	Environment string // default: the node's environment in wrapped facts, the fact environment, or production
	Trusted     Value  // the hash $trusted; if undef, only Node sets $trusted
	Variables   Value  // hash of other variables, which take precedence over facts of the same name

	// StrictVariables makes lookups fail if a Hiera 5 value interpolates a variable that is not set, as in Puppet 8.
	// Options.StrictVariables does the same, and also applies to expressions.
	StrictVariables bool
}

// NewFacts returns the facts in a hash. Every entry becomes a variable, and the variable facts has all entries.
// NewFacts also derives facts that modern Facter no longer sends (language.md, section 7). It never changes a given
// fact, except those that opts.Node sets. The error is an *Error with the code facts, or a *DamageError if a given
// value is from a damaged snapshot. To read facts from files, use package facts.
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
