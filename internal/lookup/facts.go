package lookup

import (
	"cmp"
	"maps"
	"strings"

	"bindc/internal/types"
	"bindc/internal/value"
)

// Facts are the variables of a node. They are immutable and safe for concurrent use.
type Facts struct {
	variables map[string]value.Value
	derived   map[string]bool // derivable variables that were not given
	agent     string          // the environment that the agent requests, or ""
	server    bool            // the variable server_facts was given
	qualified bool            // the name of some given variable begins with ::
	strict    bool            // unset variables are errors in Hiera 5 data
}

// FactsOptions has the fields of runtime.FactsOptions.
type FactsOptions struct {
	Node, Environment  string
	Trusted, Variables Value
	StrictVariables    bool
}

// NewFacts returns the facts in a hash. Every entry becomes a variable, and the variable facts has all entries.
// NewFacts also derives facts that modern Facter no longer sends (language.md, section 7). It never changes a given
// fact, except those that opts.Node sets. The result does not refer to a snapshot. The error is an *Error with the code
// facts, or a *DamageError if a given value is from a damaged snapshot.
func NewFacts(facts Value, opts FactsOptions) (*Facts, error) {
	all, err := hashOfFacts(facts, "the facts as a hash whose keys are fact names")
	if err != nil {
		return nil, err
	}
	trusted, err := hashOfFacts(opts.Trusted, "trusted facts as a hash")
	if err != nil {
		return nil, err
	}
	variables, err := hashOfFacts(opts.Variables, "variables as a hash whose keys are variable names")
	if err != nil {
		return nil, err
	}
	vars := make(map[string]value.Value, all.Len()+16)
	if _, nested := all.Get(value.FromString("facts")); nested {
		return nil, &Error{Code: CodeFacts,
			Message: "expected a hash of facts, found the entry 'facts': pass its value instead"}
	}
	if all.IsUndef() {
		all = value.FromPairs()
	}
	setAll(vars, all)
	setAll(vars, variables)
	delete(vars, "trusted") // a node's claims about itself are not trusted
	_, server := variables.Get(value.FromString("server_facts"))
	if opts.Node != "" {
		all = ofNode(all, opts.Node)
		vars["fqdn"], vars["clientcert"] = value.FromString(opts.Node), value.FromString(opts.Node)
	}
	vars["facts"] = all
	if trusted = trustedOf(trusted, opts.Node); !trusted.IsUndef() {
		vars["trusted"] = trusted
	}
	missing := missingNames(vars)
	deriveNames(vars, opts.Node == "" && vars["fqdn"].Text() != "" && vars["clientcert"].Text() != "")
	derive(vars)
	agent := cmp.Or(opts.Environment, vars["environment"].Text())
	setEnvironment(vars, opts)
	f := &Facts{variables: vars, derived: missing, agent: agent, server: server, qualified: hasQualified(variables),
		strict: opts.StrictVariables}
	f.setServerFacts()
	return f, nil
}

// hashOfFacts returns a copy of given, which must be a hash or undef. expected describes it for the error message.
func hashOfFacts(given Value, expected string) (value.Value, error) {
	v, err := given.own(nil)
	if err == nil && v.Kind() != value.Undef && v.Kind() != value.Hash {
		err = &Error{Code: CodeFacts, Message: "expected " + expected + ", found " + describe(v)}
	}
	return v, err
}

// In returns f in the given environment. It copies f if necessary.
func (f *Facts) In(environment string) *Facts {
	if f.variables["environment"].Text() == environment {
		return f
	}
	vars := maps.Clone(f.variables)
	vars["environment"] = value.FromString(environment)
	out := &Facts{vars, f.derived, f.agent, f.server, f.qualified, f.strict}
	out.setServerFacts()
	return out
}

// setServerFacts sets $server_facts to a hash with the environment, as Puppet's servers do, unless it was given.
func (f *Facts) setServerFacts() {
	if !f.server {
		f.variables["server_facts"] = value.FromPairs(
			value.Pair{Key: value.FromString("environment"), Value: f.variables["environment"]})
	}
}

// hasQualified reports whether some key of hash begins with ::.
func hasQualified(hash value.Value) bool {
	for k := range hash.Pairs() {
		if k.Kind() == value.String && strings.HasPrefix(k.Text(), "::") {
			return true
		}
	}
	return false
}

func setAll(vars map[string]value.Value, hash value.Value) {
	for k, v := range hash.Pairs() {
		if k.Kind() == value.String {
			vars[k.Text()] = v
		}
	}
}

// ofNode returns a copy of facts with fqdn and clientcert set to node, if facts has them.
func ofNode(facts value.Value, node string) value.Value {
	var b value.Builder
	for k, v := range facts.Pairs() {
		if name := k.Text(); name == "fqdn" || name == "clientcert" {
			v = value.FromString(node)
		}
		b.Set(k, v)
	}
	return b.Hash()
}

func setEnvironment(vars map[string]value.Value, opts FactsOptions) {
	if opts.Environment != "" {
		vars["environment"] = value.FromString(opts.Environment)
	} else if _, ok := vars["environment"]; !ok {
		vars["environment"] = value.FromString("production")
	}
}

// describe returns the kind of v for messages, and its text in quotes if it is a scalar.
func describe(v value.Value) string {
	switch v.Kind() {
	case value.Undef:
		return "undef"
	case value.Array:
		return "an array"
	case value.Hash:
		return "a hash"
	}
	return types.Infer(v).String() + " '" + string(value.AppendText(nil, v)) + "'"
}
