package lookup

import (
	"strings"
	"sync"
	"sync/atomic"

	"bindc/internal/expr"
	"bindc/internal/lookupkey"
	"bindc/internal/merge"
	"bindc/internal/recipe"
	"bindc/internal/secret/seal"
	"bindc/internal/value"
	"bindc/snapshot"
)

// Snapshot is an open snapshot, with caches that all its requests share.
type Snapshot struct {
	file       *snapshot.Snapshot
	dimensions []dimension
	slice      []snapshot.Term               // category values that every request must have; nil for no restriction
	recipes    []atomic.Pointer[recipeChunk] // decoded on first use
	values     *value.Source                 // owner of all values; decodes the small ones
	opts       Options
	rules      rules
	digs       bool // whether Request.dig may look up dotted keys
	closed     atomic.Bool
	box        *seal.Box // opens sealed recipes; nil if they cannot be opened
	layers     sync.Map  // caches, by key, the layer of the unconditional binding
	levels     sync.Map  // caches compiled lookup_options, by levelID or by the recipe they come from

	hierarchies atomic.Pointer[hierarchies] // read on first use
}

// recipeChunk caches some of the recipes. Chunks are allocated on first use, so that opening a snapshot is cheap.
type recipeChunk [256]atomic.Pointer[recipe.Recipe]

// Options holds the fields of runtime.Options that lookups need.
type Options struct {
	StrictVariables bool
	Producers       map[string]Producer
	Decrypt         func(text string) (string, error)
	Unseal          func(sealed []byte) (key []byte, err error)
}

// Producer computes a value for a request, like runtime.Producer.
type Producer func(r *Request, args Value) (Value, error)

// hierarchies is the decoded value of recipe.HierarchiesKey: the source of the hierarchies, and the paths and
// lookup_options whose errors fail lookups.
type hierarchies struct {
	paths, options, written value.Value

	foreign map[string]bool // modules with entries that only Puppet reads
}

// Request is a view of a snapshot with the facts of one node. It is safe for concurrent use, except for Reset.
type Request struct {
	file    *snapshot.Snapshot
	snap    *Snapshot
	closed  *atomic.Bool // set when the Snapshot or the Lease is closed
	facts   *Facts
	numbers []uint32 // value number, by dimension
	has     []bool   // whether the request has a value, by dimension
	view    snapshot.View
	merges  merges
	rules   rules
	hiera   bool             // whether rules is hieraRules; the fast path does not call rules
	failing map[string]error // by module, an error that fails all lookups of its keys; "" for all modules
	mayFail bool             // whether an error in a path or in lookup_options may fail lookups
	caller  *caller          // nil unless a Producer makes the lookups
	misses  map[Miss]bool    // what lookups need and do not find; nil if it is not recorded
}

// rules has the steps of a lookup that depend on whether the snapshot has Hiera 5 data.
type rules interface {
	// isLast reports whether nothing else is tried if key itself has no value.
	isLast(key string) bool
	// beyond looks up a key that itself has no value.
	beyond(l *lookup, key string) (value.Value, bool, error)
	merged(r *Request, key string, strategy *merge.Strategy) (value.Value, bool, error)
	// entries implements LookupEntriesSecret.
	entries(r *Request, root string, from, to int, strategy Value) (v value.Value, found, secret bool, err error)
	// root splits a dotted key into the bound key and the path to dig in its value.
	root(key string) (root string, parsed lookupkey.Key)
}

// lookup is the state of a lookup that needs more than a constant. chain lists the keys that are being computed,
// outermost first.
type lookup struct {
	*bounds   // shared with all nested lookups
	own       bounds
	r         *Request
	chain     []string
	sensitive bool      // a sensitive value was found
	veiled    bool      // the result may have sensitive parts, see value.Value.Unveiled
	marked    bool      // a structured binding, not only decryption, made the value sensitive, see LookupEntries
	hidden    bool      // messages must not quote values, although the result is not sensitive
	record    *recorder // nil if nothing is recorded

	notesStructure bool // whether to set structured; for LookupEntries
	structured     bool // whether the last value came from a structured binding
}

// bounds is what is left of the limits of one call.
type bounds struct {
	lookups int
	total   expr.Total
}

// caller is a lookup that waits for a Producer to return. The mutex serializes lookups by several goroutines of the
// Producer.
type caller struct {
	sync.Mutex
	*lookup
}

// Miss is something that lookups need and do not find.
type Miss struct {
	// Name is a variable as $role or $facts['role'], or a key that an interpolation of Hiera 5 looks up, as 'key'. It
	// does not name anything that may be part of sensitive data.
	Name  string
	IsKey bool
	Near  string // the most similar set variable, or ""
}

// Compare compares the names of m and other.
func (m Miss) Compare(other Miss) int { return strings.Compare(m.Name, other.Name) }
