package lookup

import (
	"bindc/internal/recipe"
)

// Explanation explains the outcome of a lookup. It stays valid after the snapshot is closed.
type Explanation struct {
	Key             string
	Root            string // the bound key, if Key leads into its value
	Outcome         Outcome
	Options         *Candidate     // the lookup_options for the key, or for the pattern in Name
	Candidates      []Candidate    // all bindings of the key, in order of precedence
	Contributions   []Candidate    // contributions to the winning multibinding, in order of precedence
	Lookups         []*Explanation // lookups that the value needed
	Left, LeftParts int            // numbers of bindings and of contributions that ExplainBriefly omits

	Unexplained int        // lookups that the limit of 1000 left out of the whole explanation
	Locations   []Location // where Hiera 5 may find the key, in order; nil without hierarchies

	multibind *recipe.Recipe // the winning multibinding, if one wins
}

// Outcome is the result of a lookup or of one binding: a value, not found, or an error.
type Outcome struct {
	Value Value
	Found bool
	Err   error
}

// declined reports whether there is neither a value nor an error.
func (o Outcome) declined() bool { return !o.Found && o.Err == nil }

// Candidate is a binding of a key, or a contribution to a multibinding.
type Candidate struct {
	Layer   string
	When    []Term   // the condition of the binding
	At      string   // path:line:col, with a path relative to the site
	Name    string   // the contribution's name, if it has one
	Outcome Outcome  // outcome of the request if this candidate won
	State   string   // Wins, Hidden or NotEffective
	Why     string   // why the candidate does not win, or why its value comes from another key
	Unset   []string // unset variables, if only they prevent the condition from holding

	// The following are only set in Locations:
	Text      string      // source of the value, if it is a Hiera 5 string with interpolations
	Variables []Candidate // variables in Text: Name includes the keys; Outcome is found if the variable is set
}

// The states of a Candidate.
const (
	Wins         = "wins"
	Merged       = "merged"        // its value is part of a merged value
	Declined     = "declined"      // optional or an alias, and has no value; lower candidates are tried
	Hidden       = "hidden"        // another effective candidate has precedence
	Renames      = "renames"       // it renames other contributions
	NotEffective = "not effective" // its condition does not hold
)

// Term is a condition on a category, on a variable ($name), or on an expression in a path.
type Term struct{ Name, Value string }

// Location is a path or a glob of an entry of a Hiera 5 hierarchy, for one request and key. An
// entry without paths has a single Location without a Kind.
type Location struct {
	Part     string // part of the hierarchy: global, environment, module or default_hierarchy
	Module   string // only for module and default_hierarchy
	Config   string // path of the hiera.yaml, relative to the site
	Number   int    // index of the entry in its hierarchy
	Entry    string // name of the entry
	Kind     string // path, glob or mapped_paths
	Original string // source in the hiera.yaml
	Path     string // path for the request, relative to the site; "" if it is unknown
	Exists   bool   // the snapshot has data from this path
	Found    []Candidate
}
