package runtime

import "bindc/internal/lookup"

// Facts are the variables of one node. They do not change once they are made, do not refer to any snapshot, and may be
// used by several goroutines at once.
type Facts lookup.Facts

// FactsOptions add to the facts of a node. The zero value adds nothing. A variable "::role" is the one of top scope for
// ${::role}, and %{::role} in data of Hiera 5, where the caller's scope has another "role".
type FactsOptions struct {
	Node        string // the certname; sets fqdn, clientcert and trusted, but no extensions of that
	Environment string // default, in order: the node's in wrapped facts, the fact environment, production
	Trusted     Value  // a hash, the variable $trusted; undef: only what Node sets
	Variables   Value  // a hash: variables that are not facts, or take precedence over the fact of that name

	// StrictVariables makes it an error of the lookup if a value of Hiera 5 interpolates a variable that is not set,
	// as in Puppet 8. Options.StrictVariables does so too, and in expressions.
	StrictVariables bool
}

// NewFacts makes facts from a hash: every entry is a variable, and $facts has all entries. It derives the names that
// modern Facter no longer sends from those it does (language.md, section 7). It changes no given fact except for those
// that opts.Node sets. Package facts reads hashes from files. The error is an *Error with the code facts, or a
// *DamageError if a given value is from a damaged snapshot.
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
