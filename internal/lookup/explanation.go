package lookup

import (
	"bindc/internal/recipe"
)

// Explanation says why a lookup has its outcome. It stays valid after the snapshot is closed.
type Explanation struct {
	Key           string
	Root          string // the key that is bound, where Key leads into its value
	Outcome       Outcome
	Options       *Candidate     // of lookup_options, what they say of the key or, as its Name, of a pattern
	Candidates    []Candidate    // all bindings of the key, in order of precedence
	Contributions []Candidate    // to the multibinding that wins, in order of precedence
	Lookups       []*Explanation // those that computing the value took
	Unexplained   int            // number of lookups left out of the whole explanation, which records 1000
	Locations     []Location     // where Hiera 5 may find the key, in order; nil in a snapshot without hierarchies

	multibind *recipe.Recipe // that wins
}

// Outcome is the result of a lookup or of one binding: a value, not found, or an error.
type Outcome struct {
	Value Value
	Found bool
	Err   error
}

// declined tells whether there is neither a value nor an error.
func (o Outcome) declined() bool { return !o.Found && o.Err == nil }

// Candidate is a binding of a key, or a contribution to a multibinding.
type Candidate struct {
	Layer   string
	When    []Term   // its condition
	At      string   // path:line:col of its source, relative to the site
	Name    string   // of a contribution that has one
	Outcome Outcome  // the outcome of the request if this candidate wins
	State   string   // Wins, Hidden or NotEffective
	Why     string   // why it does not win, or has its value from another key
	Unset   []string // variables that the request lacks, if its condition fails for no other reason

	// In Locations alone:
	Text      string      // the value with its interpolations, if it is a text of Hiera 5 that has some
	Variables []Candidate // that it interpolates: Name with its keys, and Outcome, found if the variable is set
}

// The states of a Candidate.
const (
	Wins         = "wins"
	Merged       = "merged"        // its value is part of a merged one
	Declined     = "declined"      // it is optional or an alias and has no value: lower candidates count
	Hidden       = "hidden"        // another effective one has precedence
	Renames      = "renames"       // it renames other contributions
	NotEffective = "not effective" // its condition does not hold
)

// Term is a condition on a category, on a variable ($name), or on an expression in a path.
type Term struct{ Name, Value string }

// Location is a path or a glob of an entry of a hierarchy of Hiera 5, for one request and key. An entry without any has
// one that has no Kind.
type Location struct {
	Part     string // of the hierarchy: global, environment, module or default_hierarchy
	Module   string // of the last two
	Config   string // the hiera.yaml, relative to the site
	Number   int    // of the entry in its hierarchy, from 0
	Entry    string // its name
	Kind     string // path, glob or mapped_paths
	Original string // as the hiera.yaml has it
	Path     string // for the request, relative to the site; "" if it cannot be told
	Exists   bool   // the snapshot has data of that path
	Found    []Candidate
}
