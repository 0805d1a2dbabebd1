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
	slice      []snapshot.Term               // the requests it is for; nil: all
	recipes    []atomic.Pointer[recipeChunk] // decoded when first needed
	values     *value.Source                 // the small ones
	opts       Options
	rules      rules
	closed     atomic.Bool
	box        *seal.Box // opens what is sealed; nil: nothing can be
	layers     sync.Map  // by key, the number of the layer that has its unconditional binding
	levels     sync.Map  // compiled lookup options, by the reference or recipe that they were compiled from

	hierarchies atomic.Pointer[hierarchies] // read when first needed
}

// recipeChunk is some of the recipes, so that opening a snapshot of many costs nothing.
type recipeChunk [256]atomic.Pointer[recipe.Recipe]

// Options are those of runtime.Options that lookups need.
type Options struct {
	StrictVariables bool
	Producers       map[string]Producer
	Decrypt         func(text string) (string, error)
	Unseal          func(sealed []byte) (key []byte, err error)
}

// Producer makes a value for a request, as runtime.Producer does.
type Producer func(r *Request, args Value) (Value, error)

// hierarchies has what can fail all lookups of hierarchies of Hiera 5, see recipe.HierarchiesKey.
type hierarchies struct {
	paths, options, written value.Value

	foreign map[string]bool // modules with entries that only Puppet reads
}

// Request is one node's place in the categories. It is not changed once made, but by Reset, and may be used by several
// goroutines.
type Request struct {
	file     *snapshot.Snapshot
	snap     *Snapshot
	closed   *atomic.Bool // of the snapshot, or of the Lease
	facts    *Facts
	numbers  []uint32 // per dimension, the number of its value
	has      []bool   // per dimension
	scopes   snapshot.Scopes
	merges   merges
	rules    rules            // those of the snapshot
	hiera    bool             // rules are hieraRules; the fast path reads it in place of calling them
	failing  map[string]error // by module, of paths that cannot be told: all lookups of its keys fail; of "", of all
	mayFail  bool             // an error may fail a lookup whatever it finds
	indirect bool             // a lookup cannot begin with Find: mayFail, or a Producer asks
	caller   *caller          // nil: no Producer asks
	misses   *misses          // records the variables that lookups ask for and do not find; nil: not recorded
}

// rules are the part of a lookup that depends on whether the snapshot has data of Hiera 5. They are
// chosen when a snapshot is opened.
type rules interface {
	// isLast reports whether a key has no answer if its own bindings have none.
	isLast(key string) bool
	// beyond answers a key whose own bindings have no answer.
	beyond(l *lookup, key string) (value.Value, bool, error)
	// merged answers a key by the merge strategy of a caller.
	merged(r *Request, key string, strategy *merge.Strategy) (value.Value, bool, error)
	// entries answers a key from some entries of the hierarchy, as LookupEntriesSecret describes.
	entries(r *Request, root string, from, to int, strategy Value) (v value.Value, found, secret bool, err error)
	// root splits a key into the one that is bound and the path into its value.
	root(key string) (root string, parsed lookupkey.Key)
}

// lookup is a call of Lookup that has reached a computed value. chain has the keys that it is computing.
type lookup struct {
	*bounds   // shared with all lookups that this one causes
	own       bounds
	r         *Request
	chain     []string
	sensitive bool      // something sensitive was found on the way
	veiled    bool      // and may be inside of what is being found, see value.Value.Unveiled
	marked    bool      // a structured binding, not only eyaml, made it sensitive: see LookupEntries
	hidden    bool      // messages must not show what was found, though it is not marked sensitive
	record    *recorder // nil: nothing is recorded

	notesStructure bool // record whether the value found is structured: see LookupEntries
	structured     bool // the last value found is structured
}

// bounds counts what one call may still use.
type bounds struct {
	lookups int
	total   expr.Total
}

// caller is a lookup that waits for a Producer. The lock serializes the goroutines of the Producer.
type caller struct {
	sync.Mutex
	*lookup
}

// misses maps the variables that lookups have asked for and that are not set, as people write them, to the ones that
// were probably meant, or to "".
type misses map[string]string
