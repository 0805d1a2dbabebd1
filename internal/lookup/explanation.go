package lookup

import (
	"bindc/internal/recipe"
)

// Explanation explains the outcome of a lookup. It stays valid after the snapshot is closed.
type Explanation struct {
	Key             string
	Root            string // for a dotted Key, the bound key whose value it digs into
	Outcome         Outcome
	Options         *Candidate     // the lookup_options that apply; Name is the matching key or pattern
	Candidates      []Candidate    // all bindings of the key, in order of precedence
	Contributions   []Candidate    // contributions to the winning multibinding, in order of precedence
	Lookups         []*Explanation // nested lookups that the value needed
	Left, LeftParts int            // numbers of bindings and of contributions that ExplainBriefly omits

	Unexplained int        // number of lookups omitted because of the limit of 1000
	Locations   []Location // where Hiera 5 searches for the key, in order; nil without Hiera 5 data

	multibind *recipe.Recipe // recipe of the winning binding, if it is a multibinding
}

// Outcome is the result of a lookup or of one binding: a value, not found, or an error.
type Outcome struct {
	Value Value
	Found bool
	Err   error
}

// declined reports whether o has neither a value nor an error.
func (o Outcome) declined() bool { return !o.Found && o.Err == nil }

// Candidate is a binding of a key, or a contribution to a multibinding.
type Candidate struct {
	Layer   string
	When    []Term
	At      string   // path:line:col, with a path relative to the site
	Name    string   // the contribution's name, if it has one
	Outcome Outcome  // the result of the lookup if this candidate won
	State   string   // Wins, Merged, Declined, Hidden, Renames or NotEffective
	Why     string   // why the candidate does not win, or why its value comes from another key
	Unset   []string // unset variables, if the condition fails only because of them

	// The following are only set in Locations:
	Text      string      // source of the value, if it is a Hiera 5 string with interpolations
	Variables []Candidate // variables in Text; Name includes keys, and Outcome.Found means that the variable is set
}

// The states of a Candidate.
const (
	Wins         = "wins"
	Merged       = "merged"        // its value is part of a merged value
	Declined     = "declined"      // it has no value, so lower candidates are tried
	Hidden       = "hidden"        // another effective candidate has precedence
	Renames      = "renames"       // it renames other contributions
	NotEffective = "not effective" // its condition does not hold
)

// Term is a condition that a category, a variable (written $name) or a path has a value.
type Term struct{ Name, Value string }

// Location is one path or glob in an entry of a Hiera 5 hierarchy, for one request and key. An entry without paths has
// one Location, whose Kind is "".
type Location struct {
	Part     string // part of the hierarchy: global, environment, module or default_hierarchy
	Module   string // module that the hierarchy belongs to, or ""
	Config   string // path of the hiera.yaml, relative to the site
	Number   int    // index of the entry in its hierarchy
	Entry    string
	Kind     string // path, glob or mapped_paths
	Original string // the path or glob as written in hiera.yaml
	Path     string // path for the request, relative to the site; "" if it is unknown
	Exists   bool   // the snapshot has data from this path
	Found    []Candidate
}
