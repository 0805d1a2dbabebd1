package lookup

import (
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

// Snapshot is an open snapshot.
type Snapshot struct {
	file       *snapshot.Snapshot
	dimensions []dimension
	slice      []snapshot.Term               // category values that a request must have; nil for no restriction
	recipes    []atomic.Pointer[recipeChunk] // decoded on first use
	values     *value.Source                 // the small values
	opts       Options
	rules      rules
	digs       bool // dig may look up dotted keys, see dig
	closed     atomic.Bool
	box        *seal.Box // opens sealed recipes; nil if they cannot be opened
	layers     sync.Map  // by key, the number of the layer that has its unconditional binding
	levels     sync.Map  // compiled lookup_options, by the reference or recipe that they were compiled from

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

// hierarchies is the decoded value of recipe.HierarchiesKey: the source of the hierarchies, and the paths and options
// whose errors make every Hiera 5 lookup fail.
type hierarchies struct {
	paths, options, written value.Value

	foreign map[string]bool // modules with entries that only Puppet reads
}

// Request is a view of a snapshot with the facts of one node. It is safe for concurrent use, except for Reset.
type Request struct {
	file    *snapshot.Snapshot
	snap    *Snapshot
	closed  *atomic.Bool // closed flag of the Snapshot or the Lease
	facts   *Facts
	numbers []uint32 // value number, by dimension
	has     []bool   // whether the request has a value, by dimension
	view    snapshot.View
	merges  merges
	rules   rules            // rules of the snapshot
	hiera   bool             // rules is hieraRules; the fast path tests hiera instead of calling rules
	failing map[string]error // by module, a path error that fails lookups of all the module's keys; "": of all keys
	mayFail bool             // an error in a path or in lookup_options may fail any lookup
	caller  *caller          // nil unless a Producer makes the lookups
	misses  *misses          // unset variables that lookups need; nil if they are not recorded
}

// rules is the part of a lookup that depends on whether the snapshot has Hiera 5 data. Opening a snapshot chooses the
// rules.
type rules interface {
	// isLast reports whether a key has no value if its own bindings have none.
	isLast(key string) bool
	// beyond looks up a key whose own bindings have no value.
	beyond(l *lookup, key string) (value.Value, bool, error)
	// merged looks up a key with the caller's merge strategy.
	merged(r *Request, key string, strategy *merge.Strategy) (value.Value, bool, error)
	// entries looks up a key in some entries of the hierarchy, see LookupEntriesSecret.
	entries(r *Request, root string, from, to int, strategy Value) (v value.Value, found, secret bool, err error)
	// root splits a key into the bound key and the path into its value.
	root(key string) (root string, parsed lookupkey.Key)
}

// lookup is the state of a lookup that has reached a computed value. chain lists the keys that are being computed.
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

	notesStructure bool // record whether the value is structured, see LookupEntries
	structured     bool // the last value was structured
}

// bounds holds the remaining limits of one call.
type bounds struct {
	lookups int
	total   expr.Total
}

// caller is a lookup that waits for a Producer. The mutex serializes the goroutines of the
// Producer.
type caller struct {
	sync.Mutex
	*lookup
}

// misses maps unset variables that lookups need, as written in the data, to the most similar set variable, or "".
type misses map[string]string
